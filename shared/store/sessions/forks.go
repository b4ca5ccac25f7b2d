package sessions

import (
	"context"
	"maps"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Show returns an event as the session's readers see it. Inherited events have
// ids of the fork's own, which are always the same.
func (h *Header) Show(r session.Range, e session.Event) session.Event {
	e.SessionID = h.ID()
	e.Seq = r.Seq + e.Seq - r.From
	if r.Log == h.Log {
		return e
	}
	e.ID = session.PositionalID(e.Seq, uuid.NewSHA1(uuid.NameSpaceOID, []byte(h.Log+"\x00"+e.ID)))
	taskID := func(id string) string { return h.InheritedID(r.Log, id) }
	if e.TaskID != "" {
		e.TaskID = taskID(e.TaskID)
	}
	fields := maps.Clone(e.Fields)
	for name, raw := range fields {
		fields[name] = session.RewriteForFork(raw, h.ID(), taskID)
	}
	e.Fields = fields
	return e
}

// Unforked is the condition that the session was not forked since it was read.
func (h *Header) Unforked() table.Condition {
	return table.And(h.SameLog(), records.Unchanged(HeaderForkCount, h.ForkCount))
}

// Lineage is a fork between a log that a session reads and the session itself: it
// may have changed what it took over.
type Lineage struct {
	Log    string `dynamodbav:"l"`
	Gen    int64  `dynamodbav:"g"`
	Base   int64  `dynamodbav:"n"`
	From   string `dynamodbav:"f"` // the log that it was forked from
	At     int64  `dynamodbav:"at"`
	Direct bool   `dynamodbav:"d,omitempty"` // as in Origin
	Tasks  int64  `dynamodbav:"t,omitempty"` // of the header when it was forked
}

// Inherited implements owner.
func (s *reader) Inherited(ctx context.Context, l eventlog.Log, seq int64) (*eventlog.Record, error) {
	h, err := s.Header(ctx, l.User, l.Session)
	if err != nil {
		return nil, err
	}
	whole, err := h.Whole()
	if err != nil {
		return nil, err
	}
	r := whole.After(seq - 1)[0]
	rec, err := s.logs.EntryCovering(ctx, r.Log, r.From)
	if err != nil {
		return nil, err
	}
	for i, e := range rec.Events {
		rec.Events[i] = h.Show(r, e)
	}
	return rec, nil
}
