package tabletest_test

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/dynamo"
	"github.com/rethread/rethread/shared/store/table/memory"
	"github.com/rethread/rethread/shared/store/table/tabletest"
)

const (
	operationsEach  = 40
	operationsLeast = 3000
	mostPrinted     = 700 // bytes of a request
)

// pair is two engines that get the same requests.
type pair struct {
	memory, dynamo table.Engine
	fed            *changes       // from the memory engine's feed
	compared       map[string]int // operations by kind and outcome
}

// TestEnginesAgree is why the memory engine can be trusted: random operations return
// equal answers, errors and units on it and on DynamoDB Local, and its feed reports
// the changes of the table's stream.
func TestEnginesAgree(t *testing.T) {
	began, worlds, name, fed := time.Now(), 0, dynamotest.Streamed(t), newChanges()
	p := &pair{
		memory:   memory.New(tabletest.Schema(), memory.Feed(fed.note)),
		dynamo:   dynamo.New(dynamotest.Client(t), name, tabletest.Schema()),
		compared: map[string]int{}, fed: fed,
	}
	run := rand.Text()[:8]
	property.Check(t, func(r *rapid.T) {
		worlds++
		g := &generator{
			T: r, world: fmt.Sprintf("%s-%d-", run, worlds),
			tokens: map[string][]table.Write{}, next: map[table.Index]table.Position{},
		}
		for range operationsEach {
			p.operation(g)
		}
		p.everything(g)
	})
	total := 0
	for _, n := range p.compared {
		total += n
	}
	t.Logf("compared %d operations in %s: %v", total, time.Since(began).Round(time.Millisecond), p.compared)
	if total < operationsLeast {
		t.Errorf("only %d operations were compared, of at least %d", total, operationsLeast)
	}
	p.agreeOnStream(t, name)
}

func (p *pair) operation(g *generator) {
	switch g.below(12) {
	case 0, 1, 2, 3:
		p.write(g)
	case 4, 5, 6:
		p.transact(g)
	case 7:
		p.get(g)
	case 8, 9, 10:
		p.query(g)
	default:
		p.batch(g)
	}
}

func (p *pair) write(g *generator) {
	w := g.write(g.rarely())
	before := p.half(g, w)
	u, err := p.memory.Write(g.Context(), w)
	v, also := p.dynamo.Write(g.Context(), w)
	if errors.Is(also, table.ErrUndecided) {
		v, also = p.decide(g, w, u, err)
	}
	if (before || p.half(g, w)) && v.Write > u.Write {
		u = v
	}
	p.agree(g, "write", w, err, also, u, v)
}

// decide finds out what a write has done in DynamoDB whose answer was lost on the way.
// A write that memory refused can be repeated, since it changes nothing; of another,
// the stored item tells.
func (p *pair) decide(g *generator, w table.Write, inMemory table.Units, err error) (table.Units, error) {
	if err != nil {
		return p.dynamo.Write(g.Context(), w)
	}
	item, _, err := p.memory.Get(g.Context(), w.Key, table.Reading{Consistent: true})
	other, _, also := p.dynamo.Get(g.Context(), w.Key, table.Reading{Consistent: true})
	g.same("an undecided write", w, item, other)
	return inMemory, errors.Join(err, also)
}

// half reports whether a write has an item with only one of the index's keys:
// DynamoDB Local charges such items as if they entered and left the index.
func (p *pair) half(g *generator, writes ...table.Write) bool {
	return slices.ContainsFunc(writes, func(w table.Write) bool {
		item, _, _ := p.memory.Get(g.Context(), w.Key, table.Reading{Consistent: true})
		return (item["GPK"] == nil) != (item["GSK"] == nil)
	})
}

func (p *pair) transact(g *generator) {
	tx := g.transaction()
	before := p.half(g, tx.Writes...)
	u, err := p.memory.Transact(g.Context(), tx)
	v, also := p.dynamo.Transact(g.Context(), tx)
	if errors.Is(also, table.ErrUndecided) {
		v, also = p.dynamo.Transact(g.Context(), tx) // its token makes that a repeat
	}
	if err == nil {
		// DynamoDB Local adds up only the distinct costs of a transaction's writes,
		// and reports a repeat as a write.
		if u.Read == 0 && v.Write > u.Write && !before && !p.half(g, tx.Writes...) {
			g.Fatalf("transaction %s costs %v, not up to %v", brief(tx), v, u)
		}
		u = v
	}
	p.agree(g, "transaction", tx, err, also, u, v)
}

func (p *pair) get(g *generator) {
	k, r := g.key(), g.reading()
	item, u, err := p.memory.Get(g.Context(), k, r)
	other, v, also := p.dynamo.Get(g.Context(), k, r)
	p.agree(g, "get", k, err, also, u, v)
	g.same("get", k, item, other)
}

func (p *pair) query(g *generator) {
	q := g.query()
	if q.After != nil && atBound(q, q.After) {
		q.After = nil // DynamoDB Local refuses a position that AWS itself returns
	}
	page, err := p.memory.Query(g.Context(), q)
	other, also := p.dynamo.Query(g.Context(), q)
	p.agree(g, "query", q, err, also, page.Units, other.Units)
	if page.Next != nil && other.Next == nil && atBound(q, page.Next) {
		page.Next = nil // DynamoDB Local detects that there are no more items
	}
	g.same("query", q, page, other)
	if page.Next != nil {
		g.next[q.Index] = page.Next
	}
}

// atBound reports whether a position is the last that a query can find.
func atBound(q table.Query, at table.Position) bool {
	_, sort := tabletest.Schema().KeyMembers(q.Index)
	last := q.To
	if q.Descending {
		last = q.From
	}
	return table.Text(at, sort) == last
}

func (p *pair) batch(g *generator) {
	if g.below(2) == 1 {
		var writes []table.Write
		for range g.below(5) {
			w := g.write(false)
			if !g.rarely() {
				w.If = nil
			}
			if w.Kind != table.UpdateKind || g.rarely() {
				writes = append(writes, w)
			}
		}
		before, none := p.half(g, writes...), p.deletesOfNothing(g, writes)
		u, err := p.memory.BatchWrite(g.Context(), writes)
		v, also := p.dynamo.BatchWrite(g.Context(), writes)
		if errors.Is(also, table.ErrUndecided) {
			v, also = p.dynamo.BatchWrite(g.Context(), writes) // puts and deletes alone
		}
		if err == nil {
			u.Write += none // DynamoDB Local charges missing items double in batches
		}
		if (before || p.half(g, writes...)) && v.Write > u.Write {
			u = v
		}
		p.agree(g, "batch write", writes, err, also, u, v)
		return
	}
	keys := make([]table.Key, g.below(5))
	for i := range keys {
		keys[i] = g.key()
	}
	r := g.reading()
	items, u, err := p.memory.BatchGet(g.Context(), keys, r)
	others, v, also := p.dynamo.BatchGet(g.Context(), keys, r)
	if r.Members != nil && v.Read <= u.Read {
		u = v // DynamoDB Local leaves out missing keys, which cannot be recognised in the answer
	}
	p.agree(g, "batch get", keys, err, also, u, v)
	g.same("batch get", keys, byKey(items), byKey(others))
}

func (p *pair) deletesOfNothing(g *generator, writes []table.Write) float64 {
	n := 0.0
	for _, w := range writes {
		item, _, _ := p.memory.Get(g.Context(), w.Key, table.Reading{Consistent: true})
		if w.Kind == table.DeleteKind && item == nil {
			n++
		}
	}
	return n
}

// byKey sorts items; a batch returns them in no order.
func byKey(items []table.Item) []table.Item {
	slices.SortFunc(items, func(a, b table.Item) int {
		return cmp.Or(strings.Compare(table.Text(a, table.PK), table.Text(b, table.PK)), strings.Compare(table.Text(a, table.SK), table.Text(b, table.SK)))
	})
	return items
}

// everything compares the stored items at the end.
func (p *pair) everything(g *generator) {
	for _, partition := range []string{"1", "2"} {
		for _, sk := range []string{"a", "b", "c", "d"} {
			k := table.Key{PK: g.world + partition, SK: sk}
			item, _, err := p.memory.Get(g.Context(), k, table.Reading{Consistent: true})
			other, _, also := p.dynamo.Get(g.Context(), k, table.Reading{Consistent: true})
			p.agree(g, "get", k, err, also, table.Units{}, table.Units{})
			g.same("what is stored", k, item, other)
		}
	}
}

// agree checks that two outcomes are the same.
func (p *pair) agree(g *generator, kind string, what any, inMemory, inDynamo error, u, v table.Units) {
	is, other := class(inMemory), class(inDynamo)
	if useless(inMemory) && useless(inDynamo) {
		other = is // a write may be both too large and invalid
	}
	if errors.Is(inMemory, table.ErrConditionFailed) && errors.Is(inDynamo, table.ErrTooLarge) {
		other, u = is, v // DynamoDB Local checks the size of some updates before their conditions
	}
	if is != other {
		g.Fatalf("%s %s: %q (%v), in DynamoDB %q (%v)", kind, brief(what), is, inMemory, other, inDynamo)
	}
	if u != v {
		g.Fatalf("%s %s (%s) costs %v, in DynamoDB %v", kind, brief(what), is, u, v)
	}
	var failed, also *table.ConditionError
	if errors.As(inMemory, &failed) && errors.As(inDynamo, &also) {
		g.same(kind, what, failed.Failures, also.Failures)
	}
	p.compared[kind+": "+is]++
}

func (g *generator) same(kind string, what, inMemory, inDynamo any) {
	if diff := gocmp.Diff(inMemory, inDynamo, tabletest.Same()); diff != "" {
		g.Fatalf("%s %s: -memory +DynamoDB\n%s", kind, brief(what), diff)
	}
}

func useless(err error) bool {
	return errors.Is(err, table.ErrTooLarge) || errors.Is(err, table.ErrInvalid)
}

func brief(what any) string {
	s, err := json.Marshal(what)
	if err != nil {
		return err.Error()
	}
	return string(s[:min(len(s), mostPrinted)])
}

// class returns the contract's error that err wraps.
func class(err error) string {
	if err == nil {
		return "done"
	}
	found := ""
	for _, kind := range []error{
		table.ErrConditionFailed, table.ErrConflict, table.ErrThrottled, table.ErrUndecided, table.ErrTooLarge, table.ErrInvalid,
	} {
		if errors.Is(err, kind) {
			found += kind.Error() + ";"
		}
	}
	return found
}
