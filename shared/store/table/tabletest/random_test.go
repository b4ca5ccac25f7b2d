package tabletest_test

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/tabletest"
)

// generator generates the requests for two engines. There are few keys and members,
// so that requests hit the same items.
type generator struct {
	*rapid.T
	world  string // the prefix of all its partitions and tokens
	tokens map[string][]table.Write
	next   map[table.Index]table.Position // where the last page ended
}

func (g *generator) below(n int) int         { return rapid.IntRange(0, n-1).Draw(g.T, "n") }
func (g *generator) rarely() bool            { return g.below(25) == 1 }
func (g *generator) one(of ...string) string { return of[g.below(len(of))] }

func (g *generator) key() table.Key {
	if g.rarely() {
		return table.Key{PK: g.one("", g.world+"1", strings.Repeat("k", 2049)), SK: g.one("", strings.Repeat("k", 1025))}
	}
	return table.Key{PK: g.world + g.one("1", "2"), SK: g.one("a", "b", "c", "d")}
}

func (g *generator) member() string {
	return g.one("n", "n", "s", "l", "m", "m", "ss", "name", "x", "GPK", "GSK")
}

func (g *generator) path() table.Path {
	name := g.member()
	if name == "m" && g.below(4) > 0 {
		p := table.Path{"m", g.one("n", "s", "ss", "m", "a.b")}
		if p[1] == "m" {
			p = append(p, g.one("n", "s"))
		}
		return p
	}
	if g.rarely() {
		return table.Path{name, g.one("k", "")}
	}
	return table.Path{name}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// number generates a number in DynamoDB's notation: DynamoDB Local does not
// normalise numbers within lists and maps.
func (g *generator) number() types.AttributeValue {
	return &types.AttributeValueMemberN{Value: g.one("0", "1", "2", "-3", "1.5", "10", "50", "100", "-0.01", "123456.789", "99999999999999999999999999999999999999")}
}

func (g *generator) text() string {
	switch {
	case g.rarely():
		return strings.Repeat("x", rapid.IntRange(150<<10, 401<<10).Draw(g.T, "bytes"))
	case g.below(6) == 1:
		return strings.Repeat("é", rapid.IntRange(200, 2000).Draw(g.T, "letters"))
	}
	return g.one("", "a", "b", "abc", "é")
}

// value generates a value for a member, mostly of the type that the member has.
func (g *generator) value(name string, k table.Key, depth int) types.AttributeValue {
	if g.below(8) == 1 {
		name = g.one("n", "s", "l", "m", "ss", "bool", "bytes")
	}
	switch name {
	case "GPK":
		return text(g.world + "g")
	case "GSK": // entries of an index with equal keys have no order
		return text(g.one("1", "2", "3") + k.PK + k.SK)
	case "n":
		return g.number()
	case "l", "m":
		if depth < 2 {
			return g.holder(name, k, depth)
		}
	case "ss":
		return g.set()
	case "bool":
		return &types.AttributeValueMemberBOOL{Value: g.below(2) == 1}
	case "bytes":
		return &types.AttributeValueMemberB{Value: []byte(g.text())}
	}
	return text(g.text())
}

func (g *generator) set() types.AttributeValue {
	switch g.below(6) {
	case 0:
		return &types.AttributeValueMemberNS{Value: []string{"1", g.one("2", "3")}}
	case 1:
		return &types.AttributeValueMemberBS{Value: [][]byte{[]byte("a"), []byte(g.one("b", "c"))}}
	}
	return &types.AttributeValueMemberSS{Value: g.strings()}
}

func (g *generator) strings() []string {
	if g.rarely() {
		return []string{g.one("a", "b"), "b"}
	}
	return [][]string{{"a"}, {"b"}, {"b", "a"}, {"c", "a", "b"}}[g.below(4)]
}

func (g *generator) holder(name string, k table.Key, depth int) types.AttributeValue {
	if name == "l" {
		list := make([]types.AttributeValue, g.below(3))
		for i := range list {
			list[i] = g.value(g.one("n", "s", "m"), k, depth+1)
		}
		return &types.AttributeValueMemberL{Value: list}
	}
	members := table.Item{}
	for range g.below(4) {
		inner := g.one("n", "s", "ss", "m", "a.b")
		members[inner] = g.value(inner, k, depth+1)
	}
	return &types.AttributeValueMemberM{Value: members}
}

func (g *generator) item(k table.Key) table.Item {
	item := table.Item{table.PK: text(k.PK), table.SK: text(k.SK)}
	for range g.below(6) {
		name := g.member()
		item[name] = g.value(name, k, 0)
	}
	return item
}

func (g *generator) condition(k table.Key, depth int) table.Condition {
	p := g.path()
	last := p[len(p)-1]
	kinds := 11
	if depth == 2 {
		kinds = 8
	}
	switch g.below(kinds) {
	case 0:
		return table.ItemExists()
	case 1:
		return table.ItemNotExists()
	case 2:
		return table.Exists(p)
	case 3:
		return table.NotExists(p)
	case 4, 5:
		return table.Comparison{Path: p, Op: table.Operator(1 + g.below(6)), Value: g.value(last, k, 1)}
	case 6:
		return table.Comparison{Path: p, Size: true, Op: table.Operator(1 + g.below(6)), Value: g.below(4)}
	case 7:
		return table.Contains(p, g.value(g.one("s", "n", "ss"), k, 1))
	case 8:
		return table.Not(g.condition(k, depth+1))
	case 9:
		return table.And(g.condition(k, depth+1), g.condition(k, depth+1))
	}
	return table.Or(g.conditions(k, depth+1)...)
}

func (g *generator) conditions(k table.Key, depth int) []table.Condition {
	all := make([]table.Condition, g.below(3))
	for i := range all {
		all[i] = g.condition(k, depth)
	}
	return all
}

func (g *generator) change(k table.Key) table.Change {
	p := g.path()
	last := p[len(p)-1]
	switch g.below(8) {
	case 0, 1:
		return table.Set(p, g.value(last, k, 0))
	case 2:
		return table.SetIfAbsent(p, g.value(last, k, 0))
	case 3:
		return table.Add(p, int64(g.below(9)-4))
	case 4:
		return table.Append(p, g.value("n", k, 1), g.value("s", k, 1))
	case 5:
		return table.AddToSet(table.Path{g.one("ss", "ss", "n")}, g.strings()...)
	case 6:
		return table.RemoveFromSet(table.Path{g.one("ss", "ss", "x")}, g.strings()...)
	}
	return table.Remove(p)
}

func (g *generator) write(checks bool) table.Write {
	k := g.key()
	var conditions []table.Condition
	if g.below(2) == 1 {
		conditions = append(conditions, g.condition(k, 0))
	}
	switch g.below(8) {
	case 0, 1, 2:
		return table.Put(g.item(k), conditions...)
	case 3:
		return table.Delete(k, conditions...)
	case 4:
		if checks {
			return table.Check(k, g.condition(k, 0))
		}
	}
	changes := make([]table.Change, 1+g.below(3))
	for i := range changes {
		changes[i] = g.change(k)
	}
	return table.Update(k, changes, conditions...)
}

func (g *generator) transaction() table.Transaction {
	var t table.Transaction
	if g.below(2) == 1 {
		t.Token = g.world + g.one("t1", "t2")
		if before, ok := g.tokens[t.Token]; ok && g.below(4) > 0 {
			t.Writes = before
			return t
		}
	}
	seen := map[table.Key]bool{}
	for range 1 + g.below(5) {
		if w := g.write(true); !seen[w.Key] || g.rarely() {
			t.Writes = append(t.Writes, w)
			seen[w.Key] = true
		}
	}
	if t.Token != "" {
		g.tokens[t.Token] = t.Writes
	}
	return t
}

func (g *generator) reading() table.Reading {
	r := table.Reading{Consistent: g.below(2) == 1}
	if g.below(4) == 1 {
		r.Members = []string{g.member(), table.PK, table.SK}
	}
	return r
}

func (g *generator) query() table.Query {
	q := table.Query{Partition: g.world + g.one("1", "2", "3"), Descending: g.below(2) == 1, Limit: g.below(4), Reading: g.reading()}
	bounds := []string{"", "", "a", "b", "bx", "c"}
	if g.below(3) == 1 {
		q.Index, q.Partition, q.Consistent = tabletest.Index, g.world+"g", g.rarely()
		bounds = []string{"", "", "1", "2", "3"}
	}
	q.From, q.To = g.one(bounds...), g.one(bounds...)
	if g.below(2) == 1 {
		q.After = g.next[q.Index]
	}
	return q
}
