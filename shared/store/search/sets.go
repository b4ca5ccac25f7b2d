package search

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/domain/search"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	// wordSetBytes limits a stored set, and wordSetDecoded what it decodes to.
	wordSetBytes, wordSetDecoded = 300 << 10, 8 << 20
	// wordSetShare is how many times larger a range is, in bytes of events, than its
	// set may be: otherwise reading the set would spare little.
	wordSetShare = 4
	// wordSetTime is how long a reader waits at most for a set that it writes.
	wordSetTime = 2 * time.Second
	// wordSetsRead is how many sets of a log are read at first.
	wordSetsRead = 8
)

// wordSet is the words of all events of a range of a log, and perhaps others. Its key
// is the range's first position. It grows with the log, until the range is large.
type wordSet struct {
	PK    string `dynamodbav:"PK"`
	SK    string `dynamodbav:"SK"`
	To    int64  `dynamodbav:"t"`
	Bytes int64  `dynamodbav:"z"` // of the range's events
	Words []byte `dynamodbav:"w"`

	from   int64
	broken bool // its words cannot be read
}

// The attribute of wordSet.To.
const wordSetTo = "t"

// words returns the set's words if it covers a position.
func (w *wordSet) words(ctx context.Context, s *Store, position int64) (search.Set, bool) {
	if w.broken || w.To < position {
		return nil, false
	}
	words, err := w.decode(s)
	if err != nil {
		s.LeftOut(ctx, table.NewKey(w.PK, w.SK), err)
		w.broken = true
	}
	return words, err == nil
}

// begin returns where the part of the log begins that ends at a position and that the
// set covers entirely, or not at all. A broken set covers nothing.
func (w *wordSet) begin(position int64) int64 {
	if w.To < position && !w.broken {
		return w.To + 1
	}
	return w.from
}

func (w *wordSet) decode(s *Store) (search.Set, error) {
	encoded, err := s.content.DecodeBytes(w.Words, wordSetDecoded)
	if err != nil {
		return nil, err
	}
	words, err := search.DecodeSet(encoded)
	if err != nil {
		err = errors.Join(table.ErrUnreadable, err)
	}
	return words, err
}

// wordSets reads the sets of a log, the last one first, as far as they are needed. A
// set that a replica lacks costs reading the log.
type wordSets struct {
	r     *sessionSearch
	log   string
	query table.Query
	read  []*wordSet
	more  bool
}

// setsOf returns the sets of a range's log.
func (r *sessionSearch) setsOf(shown session.Range) *wordSets {
	if sets := r.sets[shown.Log]; sets != nil {
		return sets
	}
	sets := &wordSets{r: r, log: shown.Log, more: true}
	sets.query = records.Range(keys.LogPK(shown.Log), keys.PrefixWordSet, keys.WordSetKey(shown.Log, shown.To).SK, false)
	sets.query.Descending, sets.query.Limit = true, wordSetsRead
	r.sets[shown.Log] = sets
	return sets
}

// covering returns the last set that begins at or before a position; nil for none.
func (l *wordSets) covering(ctx context.Context, position int64) (*wordSet, error) {
	for {
		for _, set := range l.read {
			if set.from <= position {
				return set, nil
			}
		}
		if !l.more {
			return nil, nil
		}
		if err := l.readMore(ctx); err != nil {
			return nil, err
		}
	}
}

func (l *wordSets) readMore(ctx context.Context) error {
	page, err := l.r.s.DB.Query(ctx, l.query)
	if err != nil {
		return fmt.Errorf("query sets of words: %w", err)
	}
	l.query.After, l.more = page.Next, page.Next != nil
	l.query.Limit *= 4
	l.read = l.read[:0] // the position only falls
	for _, item := range page.Items {
		set := &wordSet{}
		if err := table.Decode(item, set); err != nil {
			l.r.s.LeftOut(ctx, records.KeyOf(item), err)
			set.PK, set.SK, set.broken = table.Text(item, table.PK), table.Text(item, table.SK), true
		}
		if set.from, err = strconv.ParseInt(strings.TrimPrefix(set.SK, keys.PrefixWordSet), 10, 64); err != nil {
			l.r.s.LeftOut(ctx, records.KeyOf(item), err)
			continue
		}
		l.r.spend(int64(len(set.Words)))
		l.read = append(l.read, set)
	}
	return nil
}

// restart begins to collect words anew, up to a position.
func (g *gap) restart(last int64) {
	g.words, g.bytes, g.last, g.lowest = search.NewWords(), 0, last, last+1
}

// collect adds the words of the event before those that were collected.
func (g *gap) collect(ctx context.Context, e session.Event, text string) {
	if g.known {
		return
	}
	g.words.Add(text)
	g.lowest = g.position(e)
	if g.bytes += int64(e.Size()); g.bytes >= g.r.s.rules.WholeRange {
		g.store(ctx)
		g.restart(g.lowest - 1)
	}
}

// store stores the words that were collected if that pays: together with those of the
// set before them if that one still grows. If it fails, the next search reads the log
// again.
func (g *gap) store(ctx context.Context) {
	if g.known || g.last < g.lowest {
		return
	}
	rules := g.r.s.rules
	set := &wordSet{from: g.lowest, To: g.last, Bytes: g.bytes}
	if b := g.before; b != nil && !b.broken && b.To+1 == g.lowest && b.Bytes < rules.WholeRange {
		words, err := b.decode(g.r.s)
		if err != nil || g.bytes < max(rules.LeastRange, b.Bytes/2) {
			return
		}
		g.words.AddSet(words)
		set.from, set.Bytes = b.from, b.Bytes+g.bytes
	}
	if g.bytes < rules.LeastRange {
		return
	}
	if err := g.put(ctx, set); err != nil && !errors.Is(err, table.ErrConditionFailed) {
		g.r.s.Log.WarnContext(ctx, "words of a range not stored", "log", g.shown.Log, "from", set.from, "error", err)
	}
}

// put stores a set, unless a larger one is stored.
func (g *gap) put(ctx context.Context, set *wordSet) error {
	encoded, err := g.r.s.content.EncodeBytes(g.words.Set().Encode())
	if err != nil || len(encoded) > wordSetBytes || int64(len(encoded))*wordSetShare > set.Bytes {
		return err
	}
	k := keys.WordSetKey(g.shown.Log, set.from)
	set.PK, set.SK, set.Words = k.PK, k.SK, encoded
	ctx, cancel := context.WithTimeout(ctx, wordSetTime)
	defer cancel()
	if b := g.before; b != nil && b.broken && b.from == set.from {
		return g.r.s.DB.Put(ctx, set)
	}
	return g.r.s.DB.Put(ctx, set, table.Or(table.ItemNotExists(), table.Less(table.Path{wordSetTo}, set.To)))
}
