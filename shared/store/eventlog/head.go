package eventlog

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// headBytes is how much of a body an entry holds itself. Each append reads the newest
// entry, so a longer body is stored beside it, in chunks, and the next append does not
// pay for it (docs/adr/0052-many-writers-and-large-entries.md).
const headBytes = 32 << 10

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

// ReadHead reads the latest entry of a log, without a body that is stored
// beside it.
func (s *reader) ReadHead(ctx context.Context, l Log) (Head, error) {
	item, err := s.EntryItemAt(ctx, l.Name, 0)
	if err != nil || item == nil {
		return Head{Next: l.Base + 1}, err
	}
	r, err := s.decodeHead(ctx, item)
	if err != nil {
		return Head{}, err
	}
	if r.unlinked {
		return Head{}, r.Unreadable
	}
	return Head{}.After(r), nil // its events may be unreadable
}

// decodeHead decodes the latest entry of a log. What is unreadable in it, or lacks the
// members that stand for its body, is left to decodeShown.
func (s *reader) decodeHead(ctx context.Context, item table.Item) (*Record, error) {
	var e Entry
	if table.Decode(item, &e) != nil || e.Blob == "" || e.Time == 0 || e.Invocation == "" {
		return s.decodeShown(ctx, item)
	}
	first, err := e.First()
	return &Record{Entry: e, First: first, When: e.Time, WithoutBody: true}, err
}

// packNew packs the body of an entry, whose last event has the invocation. The chunks of an attempt that loses its position are written in vain, so only the first
// attempt stores a long body beside the entry if an item can hold it.
func (w *writer) packNew(ctx context.Context, r *Record, body EntryBody, invocation string) error {
	encoded, err := w.s.content.Encode(body)
	if err != nil {
		return fmt.Errorf("encode an entry: %w", err)
	}
	inline := headBytes
	if w.race.losses > 0 {
		inline = records.ChunkBytes
	}
	if r.Body, err = w.s.content.PackEncoded(ctx, r.PK, encoded, inline, 0); err != nil {
		return err
	}
	if r.Blob != "" {
		r.Time, r.Invocation = body.Time, invocation
	}
	return nil
}
