package sessions

import (
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/table"
)

// Compaction says when a stretch of a rewound log is compacted: when what a session
// shows of it is stored once more, together, so that reading it does not read
// over what lies hidden in between. A compacted range holds what never changes and is no
// more than a shortcut: who needs what it lacks reads the log.
type Compaction struct {
	// Bytes are how much of what is shown one compacted range takes, as it is stored in
	// the log. 0 turns compaction off.
	Bytes int
	// Page is how many events a page must have room for to use compacted ranges: what is
	// read of one beyond the page is paid for in vain.
	Page int
	// Behind is how many positions before a session's newest rewind stay
	// uncompacted: what is new is likely to be rewound too.
	Behind int64
}

// WithCompaction sets when stretches are compacted.
func WithCompaction(sealing Compaction) Option { return func(s *Store) { s.compaction = sealing } }

func defaultCompaction() Compaction { return Compaction{Bytes: 16 << 10, Page: 50, Behind: 16} }

// worthCompacting reports whether so much is hidden between what is shown that a
// compacted range makes a difference: 8 % and more.
func worthCompacting(hidden, shown int64) bool { return hidden > 0 && 100*hidden >= 8*shown }

// compactedRange range is what a stretch of a log showed when it was written. It stands at the
// last position of the stretch.
type compactedRange struct {
	PK   string `dynamodbav:"PK"`
	SK   string `dynamodbav:"SK"`
	From int64  `dynamodbav:"f"`
	content.Body

	to      int64
	records []*record
}

// compactedEntry is an entry of the log without what only rewinds need.
type compactedEntry struct {
	At     int64             `json:"p"`
	Count  int64             `json:"n,omitempty"`
	Time   int64             `json:"t"`
	Task   string            `json:"k,omitempty"`
	Events []json.RawMessage `json:"e"`
	// As in runMarks.
	Status session.EventStatus `json:"s,omitempty"`
	Deltas int64               `json:"d,omitempty"`
	Hidden bool                `json:"h,omitempty"`
}

// compactable reports whether an entry may go into a compacted range. One that continues in
// chunks would not fit, and an item in progress still changes.
func (r *record) compactable() bool { return r.Blob == "" && !r.inProgress() && r.unreadable == nil }

// newCompactedRange makes a compacted range of a stretch; nil where it does not fit into an item.
func (s *Store) newCompactedRange(st stretch) (*compactedRange, error) {
	entries := make([]compactedEntry, 0, len(st.records))
	for _, r := range st.records {
		e := compactedEntry{
			At: r.first, Count: r.Count, Time: r.time, Status: r.Status, Deltas: r.Deltas, Hidden: r.Hidden,
		}
		for _, event := range r.events {
			e.Task = event.TaskID
			e.Events = append(e.Events, event.Own())
		}
		entries = append(entries, e)
	}
	encoded, err := s.content.Encode(entries)
	if err != nil || len(encoded) > content.ChunkBytes {
		return nil, err
	}
	k := compactedKey(st.log, st.to)
	return &compactedRange{PK: k.PK, SK: k.SK, From: st.from, Body: content.Body{Inline: encoded}}, nil
}

func (s *Store) decodeCompactedRange(item table.Item) (*compactedRange, error) {
	var sl compactedRange
	if err := table.Decode(item, &sl); err != nil {
		return nil, fmt.Errorf("unmarshal a seal: %w", err)
	}
	var err error
	if sl.to, err = compactedEnd(sl.SK); err != nil {
		return nil, err
	}
	var entries []compactedEntry
	if err := s.content.Decode(sl.Inline, &entries); err != nil {
		return nil, fmt.Errorf("seal %s %s: %w", sl.PK, sl.SK, err)
	}
	for _, e := range entries {
		content := entryBody{Time: e.Time, Task: e.Task, Events: e.Events}
		r, err := entry{
			PK: sl.PK, SK: entrySK(e.At), Count: e.Count,
			runMarks: runMarks{Status: e.Status, Deltas: e.Deltas, Hidden: e.Hidden},
		}.record(e.At, content)
		if err != nil {
			return nil, err
		}
		sl.records = append(sl.records, r)
	}
	return &sl, nil
}

// holds reports whether a compacted range has all that ranges show of its stretch from a
// position on.
func (sl *compactedRange) holds(ranges session.Timeline, from int64) bool {
	next := 0
	for _, r := range ranges {
		end := sl.to
		if !r.Open() {
			end = min(end, r.To)
		}
		for at := max(from, r.From); at <= end; {
			for next < len(sl.records) && sl.records[next].last() < at {
				next++
			}
			if next == len(sl.records) || sl.records[next].first > at {
				return false
			}
			at = sl.records[next].last() + 1
		}
	}
	return true
}
