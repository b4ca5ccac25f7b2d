package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Log names a log, and says what its entries go by.
type Log struct {
	Name    string // in keys; a session that is created again has another
	Session string
	User    string // the owner
	App     string
	Base    int64 // the last seq that the session took over from others, 0 for none
}

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
	// that name it (batch.go).
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

// AttrStatus is the attribute of RunMarks.Status.
const AttrStatus = "st" // of runMarks.Status

// AttrAttribution marks the items whose writes are sent to receivers of events: the
// attribute of attribution.User. template.yaml filters the table's stream by it.
const AttrAttribution = "tu"

// Attribution is the owner of such an item and what caused it, so that the change
// alone contains everything that an event needs. Items that were imported, were
// made by a fork or a rewind, or have no event have none.
type Attribution struct {
	User    string `dynamodbav:"tu,omitempty"`
	Session string `dynamodbav:"tn,omitempty"`
	Agent   string `dynamodbav:"ta,omitempty"`
	// Chain is the automations that led to it, the first one first.
	Chain []string `dynamodbav:"tc,omitempty"`
}

// By returns the attribution with another chain of automations.
func (a Attribution) By(chain []string) Attribution {
	a.Chain = chain
	return a
}

// Attributed returns the domain's form of the attribution.
func (a Attribution) Attributed() notification.Attribution {
	return notification.Attribution{UserID: a.User, SessionID: a.Session, Agent: a.Agent, Chain: a.Chain}
}

// Placement is a new task, by the position of the entry that placed it.
type Placement struct {
	Position int64 `dynamodbav:"p"`
	Time     int64 `dynamodbav:"t"` // of the entry, in epoch milliseconds
}

// Unfinished returns the placements whose saves may not have ended at a time.
func Unfinished(all []Placement, millis int64) []Placement {
	return slices.DeleteFunc(slices.Clone(all), func(p Placement) bool { return p.Time < millis-SavingTime.Milliseconds() })
}

// SavingTime is longer than a request takes: saves announced earlier have
// ended.
const SavingTime = time.Minute

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

// blank reports whether the record's events are unknown.
func (r *Record) blank() bool { return r.Unreadable != nil }

// Head is the position of the next entry of a log, and what that entry must know of
// those before it.
type Head struct {
	Next         int64 // position
	LastState    int64
	LastMarker   int64
	invocation   string  // of the latest event
	Latest       *Record // the latest entry, nil for none
	Time         int64   // of the latest entry
	epoch        int64
	Offset       int64 // of a watcher's cursor after the latest entry, if that is complete
	Open         int64 // position of an item that may be in progress
	pendingBytes int64 // bytes of the log that are not counted yet
	NewTasks     []Placement
}

// Last returns the last position of the log, 0 for none.
func (h Head) Last() int64 { return h.Next - 1 }

// OlderThan reports whether session state as of a position has changed before the
// head. A fork's state begins as of what it took over.
func (h Head) OlderThan(of Log, asOf int64) bool { return asOf > max(h.LastState, of.Base) }

// After returns the head after a record has been appended.
func (h Head) After(r *Record) Head {
	next := Head{Next: r.Last() + 1, LastState: r.LastState, LastMarker: r.LastMarker, Time: r.When}
	next.epoch, next.Offset, next.Open = r.Epoch, r.Offset(), r.Open
	next.NewTasks = Unfinished(r.NewTasks, r.When)
	if !r.Counts {
		next.pendingBytes = r.PendingBytes + r.Size()
	}
	switch {
	case r.InProgress():
		next.Open = r.First
	case r.Ended != "":
		next.Open = 0
	}
	if n := len(r.Events); n > 0 {
		next.invocation = r.Events[n-1].InvocationID
	} else if r.WithoutBody {
		next.invocation = r.Invocation
	}
	if !r.blank() {
		next.Latest = r
	}
	return next
}

// Marks returns what the next entry of the log says about earlier ones.
func (h Head) Marks() RunMarks {
	return RunMarks{Epoch: h.epoch, Open: h.Open, PrevDeltas: h.Offset, NewTasks: h.NewTasks}
}

// ExpectHead returns fault.Conflict, with head_seq, if the head is not the expected
// one; nil expects none.
func ExpectHead(seq *int64, head Head) error {
	if seq == nil || *seq == head.Last() {
		return nil
	}
	return fault.New(fault.SeqConflict, "the head of the log is %d, not %d", head.Last(), *seq).With("head_seq", head.Last())
}

// countAtOnce is how many bytes of a log are counted at once.
const countAtOnce = 64 << 10

// PendingBytes records in a new entry how many bytes before it are not counted,
// and whether they are to be counted with it. An item that will still grow leaves
// the counting to later entries.
func (s *Store) PendingBytes(e *Entry, head Head, size int64) {
	if !s.counts {
		return
	}
	e.PendingBytes = head.pendingBytes
	e.Counts = !e.Streamed && head.pendingBytes+size >= countAtOnce
}

// CountEntry counts the bytes that a stored entry is marked to count.
func (s *Store) CountEntry(ctx context.Context, l Log, r *Record) {
	if r != nil && r.Counts {
		s.owner.CountBytes(ctx, l, r.PendingBytes+r.Size())
	}
}

// LowerBound is a lower bound: what it names, an invocation or an event with a
// caller's own id, is in the log at Position or after it, or not at all. It is
// written before the first entry that it could concern, so it can be early but
// never late, whatever concurrent writers do and wherever one of them stops.
type LowerBound struct {
	PK       string `dynamodbav:"PK"`
	SK       string `dynamodbav:"SK"`
	Position int64  `dynamodbav:"p"`
	// Opened, of an invocation, says that its opening is over, and NextNumber is
	// greater than the numbers of all ids in it that name the invocation.
	Opened     bool  `dynamodbav:"vo,omitempty"`
	NextNumber int64 `dynamodbav:"vn,omitempty"`
	// Keyed names the request with an idempotency key that began the invocation.
	Keyed string `dynamodbav:"k,omitempty"`
	// Run, of an invocation, says that a run may have begun with its id.
	Run bool `dynamodbav:"r,omitempty"`
}

// The attributes of a bound that note the end of an opening.
const (
	boundOpened     = "vo"
	boundNextNumber = "vn"
	boundRun        = "r"
)

// WriteLowerBound writes a lower bound unless there is one, and returns the one
// that applies.
func (s *Store) WriteLowerBound(ctx context.Context, k table.Key, position int64) (held int64, err error) {
	b, err := s.lowerBoundOf(ctx, k, position)
	return b.Position, err
}

// lowerBoundOf is WriteLowerBound for callers that need the whole item.
func (s *Store) lowerBoundOf(ctx context.Context, k table.Key, position int64) (LowerBound, error) {
	return s.putLowerBound(ctx, LowerBound{PK: k.PK, SK: k.SK, Position: position})
}

func (s *Store) putLowerBound(ctx context.Context, b LowerBound) (LowerBound, error) {
	sk := b.SK
	err := s.DB.Put(ctx, b, table.ItemNotExists())
	if errors.Is(err, table.ErrConditionFailed) {
		b = LowerBound{}
		_, err = records.Found(err, &b)
	}
	if err != nil {
		return LowerBound{}, fmt.Errorf("claim %s: %w", sk, err)
	}
	return b, nil
}
