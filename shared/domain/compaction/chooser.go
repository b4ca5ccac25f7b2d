package compaction

import (
	"cmp"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
)

// Entry is an entry of a log, as it was read by a session.
type Entry[T any] struct {
	First, Last int64 // its positions
	Size        int64 // in bytes, as it is stored in the log
	Shown       bool  // the session shows at least one of the positions
	Fits        bool  // it may be in a compacted range: it never changes and is not split
	Of          T     // what the store keeps of it
}

// Range is a range of a log that is to be compacted. Its entries are those that are
// shown, in order.
type Range[T any] struct {
	Log      string
	From, To int64
	Entries  []Entry[T]
	// Rebuilt says that there is a compacted range with the same positions, which
	// lacks some of the entries.
	Rebuilt bool
	// Unfit says that one of its entries does not fit: the compacted range that lacks
	// it is of no use.
	Unfit bool

	shown, hidden int64 // bytes
}

// Chooser chooses ranges among the entries that a page reads, in the order of the
// session's timeline. A nil Chooser chooses none. It is not safe for concurrent use.
type Chooser[T any] struct {
	rules Rules
	own   string // log of the session
	open  int64  // where the timeline's open range begins, 0 for none

	log        string // of the latest entry
	at         int64  // its last position
	current    Range[T]
	rebuilding *Range[T]
	chosen     []Range[T]
}

// New returns a Chooser for a page of a session with its own log, which shows
// what an outline says; nil if nothing can be compacted.
func New[T any](rules Rules, own string, shown session.Outline) *Chooser[T] {
	if rules.Bytes == 0 || len(shown) < 2 {
		return nil
	}
	c := &Chooser[T]{rules: rules, own: own}
	if last := shown[len(shown)-1]; last.Level == 0 && last.Open() {
		c.open = last.From
	}
	return c
}

// Last returns the last position of a span that may be compacted; 0 for none. In the
// session's own log that is Rules.Behind positions before the latest rewind.
func (c *Chooser[T]) Last(sp Span) int64 {
	if c == nil || len(sp.Shown) < 2 {
		return 0
	}
	last := sp.To
	if before := c.open - 1 - c.rules.Behind; sp.Log == c.own && c.open > 0 && (last == 0 || last > before) {
		last = before
	}
	return max(last, 0)
}

// Search decides whether a page with room for some more events looks for compacted
// ranges of a span: it does if enough positions are hidden. No compacted range ends
// after last.
func (c *Chooser[T]) Search(sp Span, room int) (last int64, ok bool) {
	last = c.Last(sp)
	return last, last > 0 && room >= c.rules.Page && sp.worth(last)
}

// Add takes an entry of a span into account. An entry that an earlier span also
// contains counts once.
func (c *Chooser[T]) Add(sp Span, e Entry[T]) {
	last := c.Last(sp)
	switch {
	case last == 0:
		return
	case c.rebuilding != nil:
		c.rebuilding.fill(e)
		return
	case c.log == sp.Log && e.First <= c.at:
		return
	case c.log != sp.Log || e.First != c.at+1:
		c.Cut()
	}
	c.log, c.at = sp.Log, e.Last
	if e.Last > last || !e.Fits {
		c.Cut()
		return
	}
	c.current.take(sp.Log, e)
	if c.current.shown >= int64(c.rules.Bytes) {
		c.Cut()
	}
}

// take appends an entry to a range.
func (r *Range[T]) take(log string, e Entry[T]) {
	if r.Log == "" {
		r.Log, r.From = log, e.First
	}
	if r.To = e.Last; !e.Shown {
		r.hidden += e.Size
		return
	}
	r.Entries, r.shown = append(r.Entries, e), r.shown+e.Size
}

// Cut ends the current range: the next entry does not belong to it. The range is chosen
// if enough is hidden and it has at least half of Rules.Bytes; a shorter one becomes
// part of the chosen range right before it, if there is one.
func (c *Chooser[T]) Cut() {
	if c == nil {
		return
	}
	r, n := c.current, len(c.chosen)-1
	c.current = Range[T]{}
	switch {
	case !worth(r.hidden, r.shown) || c.enough() && r.shown >= int64(c.rules.Bytes)/2:
	case r.shown >= int64(c.rules.Bytes)/2:
		c.chosen = append(c.chosen, r)
	case n >= 0 && !c.chosen[n].Rebuilt && c.chosen[n].Log == r.Log && c.chosen[n].To == r.From-1:
		before := &c.chosen[n]
		before.To, before.Entries = r.To, append(before.Entries, r.Entries...)
	}
}

// enough reports whether the page has chosen as many ranges as it may.
func (c *Chooser[T]) enough() bool { return c.rules.Max > 0 && len(c.chosen) >= c.rules.Max }

// Rebuild begins to collect the entries that a compacted range lacks: those that are
// added until EndRebuild. What the range had stays, so that sessions with other
// timelines do not lose it.
func (c *Chooser[T]) Rebuild(log string, from, to int64, had []Entry[T]) {
	if c == nil {
		return
	}
	c.Cut()
	c.rebuilding = &Range[T]{Log: log, From: from, To: to, Rebuilt: true, Entries: slices.Clone(had)}
}

// EndRebuild ends the collection; whole says whether all of the range was read.
func (c *Chooser[T]) EndRebuild(whole bool) {
	if c == nil {
		return
	}
	if whole && !c.enough() {
		c.chosen = append(c.chosen, *c.rebuilding)
	}
	c.log, c.at, c.rebuilding = c.rebuilding.Log, c.rebuilding.To, nil
}

// fill inserts an entry that is shown and that the range lacks.
func (r *Range[T]) fill(e Entry[T]) {
	i, found := slices.BinarySearchFunc(r.Entries, e.First, func(had Entry[T], first int64) int {
		return cmp.Compare(had.First, first)
	})
	switch {
	case found || !e.Shown:
	case !e.Fits:
		r.Unfit = true
	default:
		r.Entries = slices.Insert(r.Entries, i, e)
	}
}

// Ranges returns the ranges that were chosen, in the order in which they were read.
func (c *Chooser[T]) Ranges() []Range[T] {
	if c == nil {
		return nil
	}
	c.Cut()
	return c.chosen
}
