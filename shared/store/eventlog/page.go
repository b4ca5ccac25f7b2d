package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// ErrRewound says that the log contains a rewind that is missing in the header:
// both must be read again.
var ErrRewound = fmt.Errorf("the session was rewound while it was read: %w", retry.ErrAgain)

// Page collects events up to its limits.
type Page struct {
	Show     func(session.Range, session.Event) session.Event // as the session's readers see an event
	Head     *Head                                            // of the session's log, nil if it was not read
	View     session.View
	Limit    int
	MaxBytes int // bytes, 0 for session.PageBytes
	Events   []session.Event
	Bytes    int
	Full     bool // there is at least one more event

	Compactor *Compactor
}

// take adds an event of a span to the page, unless it is hidden or the page is
// full.
func (p *Page) take(sp *Span, rec *Record, e session.Event) error {
	r, shown := sp.rangeOf(e.Seq)
	if !shown || p.Full {
		return nil
	}
	if p.View == session.Effective {
		if rec.IsRewind() {
			return ErrRewound // the header's timeline leaves out the markers that it includes
		}
		if e.TaskID != "" || rec.Hidden {
			return nil
		}
	}
	size := e.Size()
	if len(p.Events) == p.Limit || (len(p.Events) > 0 && p.Bytes+size > cmp.Or(p.MaxBytes, session.PageBytes)) {
		p.Full = true
		return nil
	}
	p.Bytes += size
	p.Events = append(p.Events, p.Show(r, e))
	return nil
}

// Result returns the page as a caller gets it.
func (p *Page) Result(epoch int64) session.EventPage {
	out := session.EventPage{Events: p.Events, Epoch: epoch}
	if p.Full {
		out.Next = &session.Resume{Seq: p.Events[len(p.Events)-1].Seq, Epoch: epoch}
	}
	return out
}

// Span is a part of one log that is read at once: ranges with so few hidden
// positions between them that reading these costs less than another request, which
// is rounded up to 4 KB.
type Span struct {
	Ranges session.Timeline
	Log    string
	From   int64
	To     int64 // 0: the head of the log
}

// bridge is how many hidden positions are read over.
const bridge = 6

// SpansOf returns the spans of a timeline, in its order.
func SpansOf(ranges session.Timeline) []Span {
	var out []Span
	for _, r := range ranges {
		if n := len(out) - 1; n >= 0 && out[n].Log == r.Log && r.From > out[n].To && r.From-out[n].To <= bridge+1 {
			out[n].Ranges, out[n].To = append(out[n].Ranges, r), r.To
			continue
		}
		out = append(out, Span{Ranges: session.Timeline{r}, Log: r.Log, From: r.From, To: r.To})
	}
	return out
}

func (sp *Span) open() bool { return sp.To == 0 }

// rangeOf returns the range of the span that contains a position.
func (sp *Span) rangeOf(position int64) (session.Range, bool) {
	for _, r := range sp.Ranges {
		if r.Holds(position) {
			return r, true
		}
	}
	return session.Range{}, false
}

// showsAny reports whether a span shows any position of a range.
func (sp *Span) showsAny(from, to int64) bool {
	for _, r := range sp.Ranges {
		if r.From <= to && (r.Open() || r.To >= from) {
			return true
		}
	}
	return false
}

// readEntries adds the events of a span in ascending order, from the log.
func (s *Store) readEntries(ctx context.Context, sp Span, p *Page) error {
	next := sp.From
	take := func(rec *Record) error {
		if err := s.fillShown(ctx, &sp, rec); err != nil {
			return err
		}
		for _, e := range rec.Events {
			if e.Seq < next {
				continue
			}
			if err := p.take(&sp, rec, e); err != nil {
				return err
			}
		}
		p.see(&sp, rec)
		next = max(next, rec.Last()+1)
		return nil
	}
	fill := func(end int64) error { // reads what a replica left out
		for next < end && !p.Full {
			rec, err := s.ShownEntryCovering(ctx, sp.Log, next)
			if err == nil {
				err = take(rec)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	latest := p.latest(&sp)
	if latest == nil || sp.From < latest.First {
		q := EntryQuery(sp.Log, sp.From, sp.To, false)
		if latest != nil {
			q.To = keys.EntrySK(latest.First - 1)
		}
		most := func() int { return p.most(&sp, next, false) }
		err := s.queryRecords(ctx, q, most, func(rec *Record) (bool, error) {
			if err := fill(rec.First); err != nil {
				return false, err
			}
			return !p.Full, take(rec)
		})
		if err != nil || p.Full {
			return err
		}
	}
	if latest != nil {
		if err := fill(latest.First); err != nil || p.Full || latest.Last() < next {
			return err
		}
		return take(latest)
	}
	end, err := s.endOf(ctx, &sp, p)
	if err != nil {
		return err
	}
	return fill(end)
}

// latest returns the latest entry of a span's log, nil if it is not known or may have
// changed since it was read.
func (p *Page) latest(sp *Span) *Record {
	if !sp.open() || p.Head == nil || p.Head.Latest == nil || p.Head.Latest.WithoutBody || p.Head.Latest.InProgress() {
		return nil
	}
	return p.Head.Latest
}

// endOf returns the position after the last one of a span.
func (s *Store) endOf(ctx context.Context, sp *Span, p *Page) (int64, error) {
	switch {
	case !sp.open():
		return sp.To + 1, nil
	case p.Head != nil:
		return p.Head.Next, nil
	}
	newest, err := s.EntryAt(ctx, sp.Log, 0)
	if err != nil || newest == nil {
		return 0, err
	}
	return newest.Last() + 1, nil
}

// fillShown is fill if a span shows the record: a fork skips an item in progress
// that belongs to its source.
func (s *Store) fillShown(ctx context.Context, sp *Span, rec *Record) error {
	if rec.blank() || !sp.showsAny(rec.First, rec.Last()) {
		return nil
	}
	err := s.fill(ctx, rec)
	if errors.Is(err, table.ErrUnreadable) {
		s.LeftOut(ctx, table.NewKey(rec.PK, rec.SK), err)
		err = nil // it is shown as it began
	}
	return err
}

// most returns how many entries of a span, from a position on or back from it, the
// rest of the page can need: one more than its events, to find out whether there is
// a next page, and the hidden ones between them.
func (p *Page) most(sp *Span, from int64, down bool) int {
	wanted := int64(p.Limit - len(p.Events) + 1)
	n := wanted
	for i := range sp.Ranges {
		j := i
		if down {
			j = len(sp.Ranges) - 1 - i
		}
		r := sp.Ranges[j]
		if r.Open() {
			if down {
				continue
			}
			break
		}
		shown, gap := r.To-max(from, r.From)+1, int64(0)
		if down {
			shown = min(from, r.To) - r.From + 1
		}
		if shown <= 0 {
			continue
		}
		if shown >= wanted {
			break
		}
		wanted -= shown
		switch {
		case down && j > 0:
			gap = r.From - sp.Ranges[j-1].To - 1
		case !down && j+1 < len(sp.Ranges):
			gap = sp.Ranges[j+1].From - r.To - 1
		}
		n += gap
	}
	return int(n)
}

// ReadDown adds the events of a span in descending order.
func (s *Store) ReadDown(ctx context.Context, sp Span, p *Page) error {
	next := sp.To
	take := func(rec *Record) error {
		if err := s.fillShown(ctx, &sp, rec); err != nil {
			return err
		}
		for _, e := range slices.Backward(rec.Events) {
			if e.Seq > next {
				continue
			}
			if err := p.take(&sp, rec, e); err != nil {
				return err
			}
		}
		next = min(next, rec.First-1)
		return nil
	}
	fill := func(end int64) error { // reads what a replica left out
		for next > end && !p.Full {
			rec, err := s.ShownEntryCovering(ctx, sp.Log, next)
			if err == nil {
				err = take(rec)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if sp.open() {
		newest, err := s.EntryAt(ctx, sp.Log, 0)
		if err != nil || newest == nil {
			return err
		}
		next = newest.Last()
		if err := take(newest); err != nil {
			return err
		}
	}
	for next >= sp.From && !p.Full {
		// The limit is in positions, not entries: one entry can cover a hundred.
		// fill finds an entry that begins before them.
		from := max(sp.From, next-int64(p.most(&sp, next, true))+1)
		q := EntryQuery(sp.Log, from, next, false)
		q.Descending = true
		all := func() int { return 0 }
		err := s.queryRecords(ctx, q, all, func(rec *Record) (bool, error) {
			if err := fill(rec.Last()); err != nil {
				return false, err
			}
			return !p.Full, take(rec)
		})
		if err == nil {
			err = fill(from - 1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
