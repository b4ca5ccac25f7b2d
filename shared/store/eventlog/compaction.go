package eventlog

import (
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/compaction"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

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
