package sessions

import (
	"context"
	"errors"

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
	w := b.writer()
	w.start(b.at)
	if err := w.findRedelivered(ctx); err != nil {
		return err
	}
	if w.at.next != b.at.next || len(w.fresh()) < len(b.input) {
		return table.ErrConditionFailed
	}
	// If this attempt fails, the input may be appended at the head as it was read.
	w.boundAt = b.at.next
	if over != nil {
		w.pass(over.last)
	}
	var m *marker
	if b.plan.Discards != "" {
		var err error
		if m, err = b.discard(ctx, at); err != nil {
			return err
		}
		w.state = m.plan.change
		w.pass(m.rec)
	}
	last := w.at.last()
	if err := w.claimIDs(ctx); err != nil {
		return err
	}
	if w.at.last() != last || len(w.fresh()) < len(b.input) {
		return table.ErrConditionFailed
	}
	w.with = func() ([]table.Write, error) { return b.replacing(ctx, w, over, m) }
	if err := w.try(ctx, w.fresh()); err != nil {
		b.cleanUp(ctx, err, w, m)
		return err
	}
	b.afterReplace(ctx, w, over, m)
	return nil
}

// discard rewinds the session to before the replaced run, by a marker at a head.
func (b *runStart) discard(ctx context.Context, at head) (*marker, error) {
	r := session.Rewind{
		UserID: b.h.User, SessionID: b.h.id(), Before: b.plan.Discards, Nonce: "discard-" + b.plan.Discards,
	}
	if _, err := b.s.writeLowerBound(ctx, invocationKey(b.h.Log, r.Nonce), b.at.next); err != nil {
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
func (b *runStart) replacing(ctx context.Context, w *writer, o *cancelledRun, m *marker) ([]table.Write, error) {
	writes, err := b.activationWrites(w, m)
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
func (b *runStart) afterReplace(ctx context.Context, w *writer, o *cancelledRun, m *marker) {
	if o != nil {
		b.s.countEntry(ctx, b.h, o.last)
	}
	if m != nil {
		b.s.countEntry(ctx, b.h, m.rec)
	}
	b.s.countEntry(ctx, b.h, w.last)
	if last := w.last; m != nil && last.LastState == m.rec.first { // the input changes no state
		b.s.checkpoint(ctx, b.h.Log, last.LastState, m.plan.change.values)
	}
}

// cleanUp removes what an attempt that is known to have failed wrote beforehand.
func (b *runStart) cleanUp(ctx context.Context, err error, w *writer, m *marker) {
	if !errors.Is(err, table.ErrConditionFailed) {
		return
	}
	w.discardTentative(ctx)
	if m == nil {
		return
	}
	if err := b.s.content.Discard(ctx, logPK(b.h.Log), m.rec.Body); err != nil {
		b.s.log.WarnContext(ctx, "chunks of a failed discard stay until the session is deleted", "error", err)
	}
}
