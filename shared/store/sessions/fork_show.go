package sessions

import (
	"maps"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
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

// forkedTaskID returns the id that a fork, given by its log, gives to an
// inherited task.
func forkedTaskID(log, of string) string {
	if id := of + "." + log; fault.CheckID("", id) == nil {
		return id
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(log+"\x00"+of)).String()
}
