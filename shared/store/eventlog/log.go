package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Entry is one item of a log: the events of one append. Its key is the position of
// its first event and it takes as many positions as it has events, so that a batch
// is one conditional write and costs what its bytes cost.
type Entry struct {
	PK    string `dynamodbav:"PK"`
	SK    string `dynamodbav:"SK"`
	Count int64  `dynamodbav:"n,omitempty"` // of events, if not 1
	records.Body
	// LastState is the position of the latest entry that changes state, this one
	// included; PrevState, on such an entry, that of the previous one. By these
	// links a reader visits only state changes.
	LastState int64 `dynamodbav:"ls,omitempty"`
	PrevState int64 `dynamodbav:"lp,omitempty"`
	// LastMarker is the position of the latest rewind marker, this entry included;
	// a marker also has the previous one, and the timeline that applies from it on.
	// So the timeline as of any position can be found.
	LastMarker int64  `dynamodbav:"lm,omitempty"`
	PrevMarker int64  `dynamodbav:"pm,omitempty"`
	Timeline   []byte `dynamodbav:"tl,omitempty"`
	// InvocationFrom, in the opening of the latest event's invocation, is a lower
	// bound of that invocation, and NextNumber is greater than the numbers of all ids
	// that name it (append_named.go).
	InvocationFrom int64 `dynamodbav:"vf,omitempty"`
	NextNumber     int64 `dynamodbav:"vn,omitempty"`
	// Time and Invocation are those of the latest event of an entry whose body is not in
	// its item: the head of the log is then known without the body. Entries that were
	// streamed or imported lack them.
	Time       int64  `dynamodbav:"ht,omitempty"`
	Invocation string `dynamodbav:"hi,omitempty"`
	RunMarks
	Attribution // of an entry that begins or ends a run, or is a rewind
	// Tombstone says that the entry was deleted and still occupies its position.
	Tombstone bool `dynamodbav:"g,omitempty"`
}

// RunMarks is the part of an entry about runs, and about its position for watchers.
type RunMarks struct {
	Epoch int64 `dynamodbav:"ep,omitempty"` // of the session, this entry included
	// Status of an item that was streamed; absent once it is complete.
	Status   session.EventStatus `dynamodbav:"st,omitempty"`
	Streamed bool                `dynamodbav:"sm,omitempty"`
	Deltas   int64               `dynamodbav:"dn,omitempty"` // of a complete streamed item
	// Open is the position of an item that was in progress, as far as is known,
	// when this entry was appended; PrevDeltas the offset of the previous entry.
	Open       int64 `dynamodbav:"op,omitempty"`
	PrevDeltas int64 `dynamodbav:"pd,omitempty"`

	Began  string `dynamodbav:"rs,omitempty"` // run whose input the entry is
	Ended  string `dynamodbav:"re,omitempty"` // run that the entry ends
	OfRun  bool   `dynamodbav:"ru,omitempty"` // whole events that a run produced
	Hidden bool   `dynamodbav:"h,omitempty"`  // shown only with the whole log
	// StartsNext says that the first run of the session's queue may begin now.
	StartsNext bool `dynamodbav:"nq,omitempty"`
	// PendingBytes is how many bytes of the log before this entry are not counted
	// yet, if bytes are limited; Counts says that this entry counts them.
	PendingBytes int64 `dynamodbav:"uc,omitempty"`
	Counts       bool  `dynamodbav:"cs,omitempty"`

	// NewTasks are the tasks that entries up to this one have placed, if the saves that
	// create them may not have ended (package tasks, create.go).
	NewTasks []Placement `dynamodbav:"nt,omitempty"`

	// ToSeq, on a rewind marker, is the last seq that stays; Back is set if the
	// rewind restores other events.
	ToSeq int64 `dynamodbav:"ts,omitempty"`
	Back  bool  `dynamodbav:"rb,omitempty"`
}

// InProgress reports whether the entry is an item still being produced.
func (m RunMarks) InProgress() bool { return m.Status == session.EventInProgress }

// Offset returns the cursor offset of a watcher that has the entry. The deltas of
// an item in progress are not known here.
func (m RunMarks) Offset() int64 {
	if m.Streamed && !m.InProgress() {
		return m.Deltas + 1
	}
	return m.Deltas
}

// EntryBody is the content of an entry.
type EntryBody struct {
	Time   int64             `json:"t"`
	Task   string            `json:"k,omitempty"` // the task that this entry gives a position
	Events []json.RawMessage `json:"e"`
	// Undo holds, by event, the delta that reverts its state change.
	Undo []session.Delta `json:"u,omitempty"`
	// Initial marks the event with the state that a session was created with: no
	// rewind removes it.
	Initial bool `json:"i,omitempty"`
	// Conflicts are the keys that a rewind did not restore.
	Conflicts []string `json:"c,omitempty"`
}

// DecodeJSON implements records.Decoder: the events are parts of the text.
func (b *EntryBody) DecodeJSON(plain []byte) error {
	members, ok := jsonx.Members(plain)
	if !ok {
		return errors.New("an entry is no object")
	}
	events, some := jsonx.Elements(members["e"])
	if raw := members["e"]; !some && !jsonx.IsNull(raw) {
		return errors.New("the events of an entry are no array")
	}
	b.Events = events
	for _, m := range []struct {
		name string
		into any
	}{{"t", &b.Time}, {"k", &b.Task}, {"u", &b.Undo}, {"i", &b.Initial}, {"c", &b.Conflicts}} {
		if raw, ok := members[m.name]; ok {
			if err := json.Unmarshal(raw, m.into); err != nil {
				return fmt.Errorf("member %s of an entry: %w", m.name, err)
			}
		}
	}
	return nil
}

// First returns the position of the entry's first event.
func (e *Entry) First() (int64, error) { return keys.PositionOf(e.SK) }

// Positions returns how many positions the entry takes.
func (e *Entry) Positions() int64 { return max(1, e.Count) }

// Record is a decoded entry.
type Record struct {
	Entry
	First  int64
	When   int64
	Events []session.Event // with Seq set to the position in the log
	Undo   []session.Delta

	Initial   bool
	Conflicts []string

	// WithoutBody means that the body was not read: events, undo, initial and conflicts
	// are not known.
	WithoutBody bool

	// Unreadable is why the entry's events are not known; with unlinked, its links
	// to state changes are not known either.
	Unreadable error
	unlinked   bool
}

// IsRewind reports whether the record is a rewind marker.
func (r *Record) IsRewind() bool { return r.Timeline != nil }

// Last returns the position of the record's last event.
func (r *Record) Last() int64 { return r.First + r.Positions() - 1 }

// Size returns the approximate size of the record in the table, in bytes.
func (r *Record) Size() int64 {
	const numbers = 16
	return int64(len(r.PK)+len(r.SK)+len(r.Timeline)+numbers) + r.Stored()
}

// DecodeEntry decodes an entry and its body; fault.NotFound for a tombstone.
func (s *reader) DecodeEntry(ctx context.Context, item table.Item) (*Record, error) {
	var e Entry
	if err := table.Decode(item, &e); err != nil {
		return nil, fmt.Errorf("unmarshal a log entry: %w", err)
	}
	if e.Tombstone || e.SK == keys.SkDeleted {
		return nil, MissingSession()
	}
	first, err := e.First()
	if err != nil {
		return nil, err
	}
	var content EntryBody
	if err := s.content.Unpack(ctx, e.PK, e.Body, &content); err != nil {
		return nil, fmt.Errorf("log entry %s %s: %w", e.PK, e.SK, err)
	}
	return e.record(first, content)
}

// record returns an entry with its content.
func (e Entry) record(first int64, content EntryBody) (*Record, error) {
	r := &Record{
		Entry: e, First: first, When: content.Time, Undo: content.Undo,
		Initial: content.Initial, Conflicts: content.Conflicts,
	}
	for i, raw := range content.Events {
		ev, err := session.ParseStored(raw)
		if err != nil {
			return nil, fmt.Errorf("stored event at %d: %w", first+int64(i), errors.Join(table.ErrUnreadable, err))
		}
		ev.Seq = first + int64(i)
		ev.Status, ev.Deltas = session.EventCompleted, e.Deltas
		if e.Status != "" {
			ev.Status = e.Status
		}
		ev.CreatedTime = content.Time
		ev.TaskID = content.Task
		r.Events = append(r.Events, ev)
	}
	return r, nil
}

// AttrStatus is the attribute of RunMarks.Status.
const AttrStatus = "st" // of runMarks.Status
