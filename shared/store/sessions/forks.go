package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
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
	Log      string `dynamodbav:"l" json:"l"`
	Gen      int64  `dynamodbav:"g" json:"g"`
	Base     int64  `dynamodbav:"n" json:"n"`
	From     string `dynamodbav:"f" json:"f"` // the log that it was forked from
	Position int64  `dynamodbav:"at" json:"at"`
	Tasks    int64  `dynamodbav:"t,omitempty" json:"t,omitempty"` // of the header when it was forked
	State    int64  `dynamodbav:"s,omitempty" json:"s,omitempty"` // as in Origin
	// Names are digests of the invocations in its own log when it was forked; empty if
	// these are too many, or not known.
	Names []byte `dynamodbav:"i,omitempty" json:"i,omitempty"`
}

// namesMost is how many invocations of a log the lineage of a fork names at most.
const namesMost = 32

// InvocationNames returns the digests of the invocations in a fork's own log, for the
// lineage of its forks.
func (s *Store) InvocationNames(ctx context.Context, h *Header) ([]byte, error) {
	q := records.KeysOnly(records.Prefix(keys.LogPK(h.Log), keys.PrefixInvocation, true))
	q.Limit = namesMost + 1
	page, err := s.DB.Query(ctx, q)
	if err != nil || len(page.Items) > namesMost {
		return nil, err
	}
	names := []byte{0} // not empty
	for _, item := range page.Items {
		names = binary.BigEndian.AppendUint16(names, digestOfName(table.Text(item, table.SK)[len(keys.PrefixInvocation):]))
	}
	return names, nil
}

// mayName reports whether a log may have an invocation.
func (l Lineage) mayName(id string) bool {
	for names := l.Names; len(names) > 2; names = names[2:] {
		if binary.BigEndian.Uint16(names[1:]) == digestOfName(id) {
			return true
		}
	}
	return len(l.Names) == 0
}

func digestOfName(id string) uint16 {
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint16(sum[:])
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
	ranges, err := whole.Walk(seq-1, 0, false, s.Markers(ctx)).Next(1)
	if err != nil {
		return nil, err
	}
	r := ranges[0]
	rec, err := s.logs.EntryCovering(ctx, r.Log, r.From)
	if err != nil {
		return nil, err
	}
	for i, e := range rec.Events {
		rec.Events[i] = h.Show(r, e)
	}
	return rec, nil
}
