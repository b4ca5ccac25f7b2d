package eventlog

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/domain/compaction"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// ReadUp adds the events of a span in ascending order: from compacted ranges if there are
// any, and from the log.
func (s *Store) ReadUp(ctx context.Context, sp Span, p *Page) error {
	compacted := s.compactedRangesOf(&sp, p)
	next := sp.From
	for !p.Full {
		c, err := compacted.next(ctx, next)
		if err != nil {
			return err
		}
		if c == nil {
			return s.readLog(ctx, sp, next, sp.To, p)
		}
		if next < c.From {
			if err := s.readLog(ctx, sp, next, c.From-1, p); err != nil || p.Full {
				return err
			}
			next = c.From
		}
		if compaction.Covers(c.entries, sp.Ranges, next, c.to) {
			err = p.takeCompacted(&sp, c, next)
		} else {
			err = s.readIncomplete(ctx, sp, next, c, p)
		}
		if err != nil {
			return err
		}
		next = c.to + 1
	}
	return nil
}

// readLog adds the events of a part of a span from the log itself.
func (s *Store) readLog(ctx context.Context, sp Span, from, to int64, p *Page) error {
	if to > 0 && (from > to || !sp.showsAny(from, to)) { // 0 is the head
		return nil
	}
	sp.From, sp.To = from, to
	return s.readEntries(ctx, sp, p)
}

// readIncomplete adds the events of a compacted range that lacks some of them, and rebuilds
// the range.
func (s *Store) readIncomplete(ctx context.Context, sp Span, from int64, c *compactedRange, p *Page) error {
	p.Compactor.Rebuild(sp.Log, c.From, c.to, c.entries)
	if err := s.readLog(ctx, sp, from, c.to, p); err != nil {
		return err
	}
	p.Compactor.EndRebuild(!p.Full)
	return nil
}

// takeCompacted adds the events of a compacted range from a position on.
func (p *Page) takeCompacted(sp *Span, c *compactedRange, from int64) error {
	p.Compactor.Cut()
	for _, entry := range c.entries {
		for _, e := range entry.Of.Events {
			if e.Seq < from {
				continue
			}
			if err := p.take(sp, entry.Of, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// compactedRanges are those of a span, read as far as a page needs them.
type compactedRanges struct {
	s    *Store
	sp   *Span
	p    *Page
	end  int64 // none ends after it
	more bool

	queue       []*compactedRange
	seen        int // compacted ranges that were read, and the events in them
	seenEntries int
}

// compactedRangesOf returns the compacted ranges of a span; none if too little of it is
// hidden.
func (s *Store) compactedRangesOf(sp *Span, p *Page) *compactedRanges {
	end, more := p.Compactor.Search(sp.toCompact(), p.Limit-len(p.Events))
	return &compactedRanges{s: s, sp: sp, p: p, end: end, more: more}
}

// next returns the first compacted range that ends at or after a position; nil for none.
func (l *compactedRanges) next(ctx context.Context, at int64) (*compactedRange, error) {
	for {
		for len(l.queue) > 0 {
			c := l.queue[0]
			l.queue = l.queue[1:]
			if c.to >= at {
				return c, nil
			}
		}
		if limit := l.wanted(); !l.more || limit == 0 || at > l.end {
			return nil, nil
		} else if err := l.read(ctx, at, limit); err != nil {
			return nil, err
		}
	}
}

// wanted returns how many more compacted ranges the page needs.
func (l *compactedRanges) wanted() int {
	return compaction.Wanted(l.p.Limit-len(l.p.Events), l.seen, l.seenEntries)
}

// read reads on with eventual consistency, at half price: a compacted range that a replica
// lacks is not needed.
func (l *compactedRanges) read(ctx context.Context, from int64, limit int) error {
	q := records.Range(keys.LogPK(l.sp.Log), keys.CompactedSK(from), keys.CompactedSK(l.end), false)
	q.Limit = limit
	page, err := l.s.DB.Query(ctx, q)
	if err != nil {
		return fmt.Errorf("query compacted ranges: %w", err)
	}
	l.more = page.Next != nil
	for _, item := range page.Items {
		c, err := l.s.decodeCompactedRange(item)
		if err != nil { // the log has it all
			l.s.Log.WarnContext(ctx, "compacted range not readable", "error", err)
			continue
		}
		l.queue = append(l.queue, c)
		l.seen, l.seenEntries = l.seen+1, l.seenEntries+len(c.entries)
	}
	return nil
}

// toCompact returns the span as compaction considers it.
func (sp *Span) toCompact() compaction.Span {
	return compaction.Span{Log: sp.Log, Shown: sp.Ranges, From: sp.From, To: sp.To}
}

// see passes a record of a span that was read to the compactor, if the page has room for
// it.
func (p *Page) see(sp *Span, rec *Record) {
	if !p.Full && p.Compactor != nil {
		p.Compactor.Add(sp.toCompact(), rec.compactionEntry(sp.showsAny(rec.First, rec.Last())))
	}
}

// Compactor chooses the ranges to compact among the records that a page reads.
type Compactor = compaction.Chooser[*Record]

// compactedRange is what a range of a log showed when it was written. Its key is the last
// position of the range.
type compactedRange struct {
	PK   string `dynamodbav:"PK"`
	SK   string `dynamodbav:"SK"`
	From int64  `dynamodbav:"f"`
	records.Body

	to      int64
	entries []compaction.Entry[*Record]
}

// compactedEntry is an entry of the log without what only rewinds need.
type compactedEntry struct {
	Position int64             `json:"p"`
	Count    int64             `json:"n,omitempty"`
	Time     int64             `json:"t"`
	Task     string            `json:"k,omitempty"`
	Events   []json.RawMessage `json:"e"`
	// As in RunMarks.
	Status session.EventStatus `json:"s,omitempty"`
	Deltas int64               `json:"d,omitempty"`
	Hidden bool                `json:"h,omitempty"`
}

// compactable reports whether an entry may be in a compacted range. One that continues in
// chunks would not fit, and an item in progress still changes.
func (r *Record) compactable() bool { return r.Blob == "" && !r.InProgress() && r.Unreadable == nil }

// compactionEntry returns a record as compaction considers it.
func (r *Record) compactionEntry(shown bool) compaction.Entry[*Record] {
	return compaction.Entry[*Record]{
		First: r.First, Last: r.Last(), Size: r.Size(), Shown: shown, Fits: r.compactable(), Of: r,
	}
}

// newCompactedRange returns the compacted range of a range of a log; nil if it does not
// fit into an item.
func (s *Store) newCompactedRange(of compaction.Range[*Record]) (*compactedRange, error) {
	entries := make([]compactedEntry, 0, len(of.Entries))
	for _, chosen := range of.Entries {
		r := chosen.Of
		e := compactedEntry{
			Position: r.First, Count: r.Count, Time: r.When, Status: r.Status, Deltas: r.Deltas, Hidden: r.Hidden,
		}
		for _, event := range r.Events {
			e.Task = event.TaskID
			e.Events = append(e.Events, event.Own())
		}
		entries = append(entries, e)
	}
	encoded, err := s.content.Encode(entries)
	if err != nil || len(encoded) > records.ChunkBytes {
		return nil, err
	}
	k := keys.CompactedKey(of.Log, of.To)
	return &compactedRange{PK: k.PK, SK: k.SK, From: of.From, Body: records.Body{Inline: encoded}}, nil
}

func (s *reader) decodeCompactedRange(item table.Item) (*compactedRange, error) {
	var c compactedRange
	if err := table.Decode(item, &c); err != nil {
		return nil, fmt.Errorf("unmarshal a compacted range: %w", err)
	}
	var err error
	if c.to, err = keys.CompactedEnd(c.SK); err != nil {
		return nil, err
	}
	var entries []compactedEntry
	if err := s.content.Decode(c.Inline, &entries); err != nil {
		return nil, fmt.Errorf("compacted range %s %s: %w", c.PK, c.SK, err)
	}
	for _, e := range entries {
		content := EntryBody{Time: e.Time, Task: e.Task, Events: e.Events}
		r, err := Entry{
			PK: c.PK, SK: keys.EntrySK(e.Position), Count: e.Count,
			RunMarks: RunMarks{Status: e.Status, Deltas: e.Deltas, Hidden: e.Hidden},
		}.record(e.Position, content)
		if err != nil {
			return nil, err
		}
		c.entries = append(c.entries, r.compactionEntry(true))
	}
	return &c, nil
}

// compactionTime is how long a reader waits at most for the compacted ranges that it
// writes.
const compactionTime = 2 * time.Second

// Compact writes the compacted ranges that a page has chosen, and deletes those that
// cannot be rebuilt. If it fails, later readers pay what this one paid.
func (s *Store) Compact(ctx context.Context, chosen []compaction.Range[*Record]) {
	if len(chosen) == 0 {
		return
	}
	var writes []table.Write
	for _, r := range chosen {
		some, err := s.compactionWrites(r)
		if err != nil {
			s.Log.WarnContext(ctx, "range not compacted", "log", r.Log, "from", r.From, "error", err)
		}
		writes = append(writes, some...)
	}
	ctx, cancel := context.WithTimeout(ctx, compactionTime)
	defer cancel()
	if err := s.DB.BatchWrite(ctx, writes); err != nil {
		s.Log.WarnContext(ctx, "ranges not compacted", "error", err)
	}
}

// compactionWrites returns the write that stores a range compacted, or deletes a
// compacted range that cannot be rebuilt; none if neither applies.
func (s *Store) compactionWrites(r compaction.Range[*Record]) ([]table.Write, error) {
	var compacted *compactedRange
	if !r.Unfit {
		var err error
		if compacted, err = s.newCompactedRange(r); err != nil {
			return nil, err
		}
	}
	switch {
	case compacted != nil:
		return []table.Write{table.Put(compacted)}, nil
	case r.Rebuilt:
		return []table.Write{table.Delete(keys.CompactedKey(r.Log, r.To))}, nil
	}
	return nil, nil
}
