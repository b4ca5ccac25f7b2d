package sessions

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/table"
)

// headBytes is how much of a body an entry holds itself. Each append reads the newest
// entry, so a longer body is stored beside it, in chunks, and the next append does not
// pay for it (docs/adr/0052-many-writers-and-large-entries.md).
const headBytes = 32 << 10

// head is the position of the next entry of a log, and what that entry must know of
// those before it.
type head struct {
	next         int64 // position
	lastState    int64
	lastMarker   int64
	invocation   string  // of the latest event
	latest       *record // the latest entry, nil for none
	time         int64   // of the latest entry
	epoch        int64
	offset       int64 // of a watcher's cursor after the latest entry, if that is complete
	open         int64 // position of an item that may be in progress
	pendingBytes int64 // bytes of the log that are not counted yet
	newTasks     []placement
}

func (h head) last() int64 { return h.next - 1 }

// olderThan reports whether session state as of a position has changed before the
// head. A fork's state begins as of what it took over.
func (h head) olderThan(of Log, asOf int64) bool { return asOf > max(h.lastState, of.Base) }

// after returns the head after a record has been appended.
func (h head) after(r *record) head {
	next := head{next: r.last() + 1, lastState: r.LastState, lastMarker: r.LastMarker, time: r.time}
	next.epoch, next.offset, next.open = r.Epoch, r.offset(), r.Open
	next.newTasks = unfinished(r.NewTasks, r.time)
	if !r.Counts {
		next.pendingBytes = r.PendingBytes + r.size()
	}
	switch {
	case r.inProgress():
		next.open = r.first
	case r.Ended != "":
		next.open = 0
	}
	if n := len(r.events); n > 0 {
		next.invocation = r.events[n-1].InvocationID
	} else if r.withoutBody {
		next.invocation = r.Invocation
	}
	if !r.blank() {
		next.latest = r
	}
	return next
}

// marks returns what the next entry of the log says about earlier ones.
func (h head) marks() runMarks {
	return runMarks{Epoch: h.epoch, Open: h.open, PrevDeltas: h.offset, NewTasks: h.newTasks}
}

// readHead reads the latest entry of a log, without a body that is stored
// beside it.
func (s *Store) readHead(ctx context.Context, l Log) (head, error) {
	item, err := s.entryItemAt(ctx, l.Name, 0)
	if err != nil || item == nil {
		return head{next: l.Base + 1}, err
	}
	r, err := s.decodeHead(ctx, item)
	if err != nil {
		return head{}, err
	}
	if r.unlinked {
		return head{}, r.unreadable
	}
	return head{}.after(r), nil // its events may be unreadable
}

// decodeHead decodes the latest entry of a log. What is unreadable in it, or lacks the
// members that stand for its body, is left to decodeShown.
func (s *Store) decodeHead(ctx context.Context, item table.Item) (*record, error) {
	var e entry
	if table.Decode(item, &e) != nil || e.Blob == "" || e.Time == 0 || e.Invocation == "" {
		return s.decodeShown(ctx, item)
	}
	first, err := e.first()
	return &record{entry: e, first: first, time: e.Time, withoutBody: true}, err
}

// packNew packs the body of an entry, whose last event has the invocation. The chunks of an attempt that loses its position are written in vain, so only the first
// attempt stores a long body beside the entry if an item can hold it.
func (w *writer) packNew(ctx context.Context, r *record, body entryBody, invocation string) error {
	encoded, err := w.s.content.Encode(body)
	if err != nil {
		return fmt.Errorf("encode an entry: %w", err)
	}
	inline := headBytes
	if w.race.losses > 0 {
		inline = content.ChunkBytes
	}
	if r.Body, err = w.s.content.PackEncoded(ctx, r.PK, encoded, inline, 0); err != nil {
		return err
	}
	if r.Blob != "" {
		r.Time, r.Invocation = body.Time, invocation
	}
	return nil
}
