package runs

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// replace writes the start of a run that ends or replaces another one, in one
// transaction: the end of that run, if it is active, the marker of a rewind before
// it, unless it is kept, and the input. It tries once, since everything depends on how the session was
// read: table.ErrConditionFailed if that has changed.
func (b *runStart) replace(ctx context.Context) error {
	var over *cancelledRun
	head := b.head
	if b.before != nil {
		var err error
		if over, err = b.s.cancelled(ctx, b.h, b.head, b.before, ""); err != nil {
			return err
		}
		head = head.After(over.last)
	}
	with := b.along()
	var m *history.Marker
	with.Writes = func(end eventlog.Head) ([]table.Write, error) { return b.replacing(ctx, end, over, m) }
	done, err := b.s.logs.AppendBehind(ctx, b.h.OfLog(), b.head, b.input, with, func() ([]*eventlog.Record, *eventlog.StateChange, error) {
		var before []*eventlog.Record
		if over != nil {
			before = append(before, over.last)
		}
		if b.plan.Discards == "" {
			return before, nil, nil
		}
		var err error
		if m, err = b.discard(ctx, head); err != nil {
			return nil, nil, err
		}
		return append(before, m.Rec), m.Plan.Change, nil
	})
	if err != nil {
		b.cleanUp(ctx, err, m)
		return err
	}
	b.afterReplace(ctx, done.Last, over, m)
	return nil
}

// discard rewinds the session to before the replaced run, by a marker at a head.
func (b *runStart) discard(ctx context.Context, head eventlog.Head) (*history.Marker, error) {
	r := session.Rewind{
		UserID: b.h.User, SessionID: b.h.ID(), Before: b.plan.Discards, Nonce: "discard-" + b.plan.Discards,
	}
	if _, err := b.s.logs.WriteLowerBound(ctx, keys.InvocationKey(b.h.Log, r.Nonce), b.head.Next); err != nil {
		return nil, err
	}
	w := &history.Rewinding{S: b.s.history, H: b.h, Head: head, Chain: b.start.Chain}
	for _, e := range b.input {
		w.Also = append(w.Also, e.Change())
	}
	target, err := w.Target(ctx, r)
	if err != nil {
		return nil, err
	}
	if target.Log != b.h.Log || target.Rec.Began != r.Before {
		begun, err := b.s.inputOf(ctx, b.h, target, r.Before)
		if err != nil {
			return nil, err
		}
		if begun != nil {
			target, r.Start = begun, begun.Seq
		}
	}
	m, err := w.Marker(ctx, r, target)
	if err != nil {
		return nil, err
	}
	return m, m.Pack(ctx)
}

// inputOf finds the input of a run whose invocation the log had before; nil if there is none
// that says so, as in imported logs. What others appended to the invocation is not the
// run's.
func (s *Store) inputOf(ctx context.Context, h *sessions.Header, first *sessions.LogPosition, id string) (*sessions.LogPosition, error) {
	from := h.Base() + 1
	if first.Log == h.Log {
		from = first.Rec.Last() + 1
	}
	var found *sessions.LogPosition
	err := s.logs.Scan(ctx, h.Log, from, 0, func(r *eventlog.Record) (bool, error) {
		if r.Began == id {
			found = &sessions.LogPosition{Log: h.Log, Position: r.First, Seq: r.First, Rec: r}
		}
		return found == nil, nil
	})
	return found, err
}

// replacing returns the writes that belong to the input. o and m are nil for none.
func (b *runStart) replacing(ctx context.Context, head eventlog.Head, o *cancelledRun, m *history.Marker) ([]table.Write, error) {
	writes, err := b.activationWrites(head, m)
	if err != nil {
		return nil, err
	}
	if o != nil {
		ends, err := o.writes(ctx)
		if err != nil {
			return nil, err
		}
		writes = append(writes, ends...)
	}
	if m == nil {
		return writes, nil
	}
	return append(append(writes, m.Plan.Puts...), table.Put(m.Rec.Entry, table.ItemNotExists())), nil
}

// afterReplace carries out what follows the transaction and may be skipped.
func (b *runStart) afterReplace(ctx context.Context, input *eventlog.Record, o *cancelledRun, m *history.Marker) {
	if o != nil {
		b.s.logs.CountEntry(ctx, b.h.OfLog(), o.last)
	}
	b.s.logs.CountEntry(ctx, b.h.OfLog(), input)
	if m == nil {
		return
	}
	b.s.logs.CountEntry(ctx, b.h.OfLog(), m.Rec)
	if input.LastState == m.Rec.First { // the input changes no state
		b.s.logs.Checkpoint(ctx, b.h.Log, input.LastState, m.Plan.Change.Values)
	}
}

// cleanUp removes what an attempt that is known to have failed wrote beforehand.
func (b *runStart) cleanUp(ctx context.Context, err error, m *history.Marker) {
	if m == nil || !errors.Is(err, table.ErrConditionFailed) {
		return
	}
	if err := b.s.content.Discard(ctx, keys.LogPK(b.h.Log), m.Rec.Body); err != nil {
		b.s.Log.WarnContext(ctx, "chunks of a failed discard stay until the session is deleted", "error", err)
	}
}
