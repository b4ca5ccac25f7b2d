package runs

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/sweep"
	"github.com/rethread/rethread/shared/store/table"
)

// The item of a run is put before the transaction that makes the run active, where it costs
// half. Until the session's header names the run, the item means nothing to anyone. It
// is put only if there is no other item, so it never replaces that of an active run. The
// transaction puts the input at the position after the head that the start has read, so it
// fails if another run has begun since (docs/adr/0064-the-item-of-a-run-is-put-first.md).

// putAhead puts the run's item before the first attempt, at a position. If there is an
// item, the transaction replaces it, as later attempts do.
func (b *runStart) putAhead(ctx context.Context, position int64) error {
	if b.run.At > 0 || position != b.at.Next {
		return nil
	}
	b.run.At, b.run.Ahead = position, b.s.Random().String()
	err := b.s.DB.Put(ctx, b.run, table.ItemNotExists())
	if errors.Is(err, table.ErrConditionFailed) {
		b.run.Ahead = ""
		return nil
	}
	b.ahead = b.run.Ahead // it may be there, whatever the error
	return err
}

// isAhead reports whether the run's item was put before an attempt at a position.
func (b *runStart) isAhead(position int64) bool {
	return b.run.Ahead != "" && b.run.At == position
}

// undo removes what a start has written that certainly failed: the error is a fault
// for the caller, or another write was first, after which the caller reads again and may
// not start the run at all. After other errors it is unknown whether the run started. What
// remains means nothing and is removed by the sweeper.
func (b *runStart) undo(ctx context.Context, cause error) {
	var known *fault.Error
	if !errors.As(cause, &known) && !errors.Is(cause, table.ErrConditionFailed) {
		return
	}
	if b.ahead != "" {
		b.s.forgetRun(ctx, b.run, table.Equal(table.At(activeAhead), b.ahead))
	}
	b.s.releaseUnstarted(ctx, b.h, b.run.ID)
}

// forgetRest deletes the item of a run that its session does not name: the run has ended,
// or its start stopped before the transaction. A young one of the second kind may be that of
// a start under way. It returns the run's end, with a fault.
func (s *Store) forgetRest(ctx context.Context, h *sessions.Header, a *ActiveRun) (run.Run, error) {
	past, err := s.endedBefore(ctx, h, a.ref())
	if past.ID == "" {
		if !errors.Is(err, fault.Of(fault.NotFound)) {
			return past, err
		}
		err = fault.New(fault.Conflict, "the run has not begun").With("run_id", a.ID)
		if a.Started > s.Millis()-sweep.Grace.Milliseconds() {
			return past, err
		}
	}
	// The same run may have been started again meanwhile.
	s.forgetRun(ctx, a, table.Equal(table.At(activeID), a.ID), table.Equal(table.At(activeStarted), a.Started))
	return past, err
}
