package sessions

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// replace writes the start of a run that ends or replaces another one, in one
// transaction: the end of that run, if it is active, the marker of a rewind before
// it, unless it is kept, and the input. It tries once, since everything depends on how the session was
// read: table.ErrConditionFailed if that has changed.
func (b *runStart) replace(ctx context.Context) error {
	var over *cancelledRun
	at := b.at
	if b.before != nil {
		var err error
		if over, err = b.s.cancelled(ctx, b.h, b.at, b.before, ""); err != nil {
			return err
		}
		at = at.after(over.last)
	}
	with := b.along()
	var m *marker
	with.writes = func(end head) ([]table.Write, error) { return b.replacing(ctx, end, over, m) }
	done, err := b.s.appendBehind(ctx, b.h.ofLog(), b.at, b.input, with, func() ([]*record, *stateChange, error) {
		var before []*record
		if over != nil {
			before = append(before, over.last)
		}
		if b.plan.Discards == "" {
			return before, nil, nil
		}
		var err error
		if m, err = b.discard(ctx, at); err != nil {
			return nil, nil, err
		}
		return append(before, m.rec), m.plan.change, nil
	})
	if err != nil {
		b.cleanUp(ctx, err, m)
		return err
	}
	b.afterReplace(ctx, done.last, over, m)
	return nil
}

// discard rewinds the session to before the replaced run, by a marker at a head.
func (b *runStart) discard(ctx context.Context, at head) (*marker, error) {
	r := session.Rewind{
		UserID: b.h.User, SessionID: b.h.id(), Before: b.plan.Discards, Nonce: "discard-" + b.plan.Discards,
	}
	if _, err := b.s.writeLowerBound(ctx, keys.InvocationKey(b.h.Log, r.Nonce), b.at.next); err != nil {
		return nil, err
	}
	w := &rewinding{s: b.s, h: b.h, at: at, chain: b.start.Chain}
	for _, e := range b.input {
		w.also = append(w.also, e.Change())
	}
	target, err := w.target(ctx, r)
	if err != nil {
		return nil, err
	}
	m, err := w.marker(ctx, r, target)
	if err != nil {
		return nil, err
	}
	return m, m.pack(ctx)
}

// replacing returns the writes that belong to the input. o and m are nil for none.
func (b *runStart) replacing(ctx context.Context, at head, o *cancelledRun, m *marker) ([]table.Write, error) {
	writes, err := b.activationWrites(at, m)
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
	return append(append(writes, m.plan.puts...), table.Put(m.rec.entry, table.ItemNotExists())), nil
}

// afterReplace carries out what follows the transaction and may be skipped.
func (b *runStart) afterReplace(ctx context.Context, input *record, o *cancelledRun, m *marker) {
	if o != nil {
		b.s.countEntry(ctx, b.h.ofLog(), o.last)
	}
	b.s.countEntry(ctx, b.h.ofLog(), input)
	if m == nil {
		return
	}
	b.s.countEntry(ctx, b.h.ofLog(), m.rec)
	if input.LastState == m.rec.first { // the input changes no state
		b.s.checkpoint(ctx, b.h.Log, input.LastState, m.plan.change.values)
	}
}

// cleanUp removes what an attempt that is known to have failed wrote beforehand.
func (b *runStart) cleanUp(ctx context.Context, err error, m *marker) {
	if m == nil || !errors.Is(err, table.ErrConditionFailed) {
		return
	}
	if err := b.s.content.Discard(ctx, keys.LogPK(b.h.Log), m.rec.Body); err != nil {
		b.s.log.WarnContext(ctx, "chunks of a failed discard stay until the session is deleted", "error", err)
	}
}
