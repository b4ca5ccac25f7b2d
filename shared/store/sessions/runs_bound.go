package sessions

import (
	"context"
	"errors"
	"slices"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// Most invocations are no runs. The lower bound of a run's invocation says that a run
// may have begun with its id, so that a request for another one need not search the log
// for the end of a run.

// boundRun writes the lower bound of the run that the batch begins. Events of others
// may already name the run as their invocation: its id is known while it is queued.
func (w *writer) boundRun(ctx context.Context, position int64) error {
	k := keys.InvocationKey(w.log.Name, w.begins)
	held, err := w.s.putLowerBound(ctx, lowerBound{PK: k.PK, SK: k.SK, Position: position, Run: true})
	if of := w.invocations[w.begins]; err == nil && of != nil && of.phase == unknown && held.Position >= position {
		of.phase, of.bound = absent, held.Position
	}
	if err != nil || held.Run {
		return err
	}
	err = w.s.db.Update(ctx, k, []table.Change{table.Set(table.At(boundRun), true)}, table.ItemExists())
	if errors.Is(err, table.ErrConditionFailed) { // the session was deleted
		return missingSession()
	}
	return err
}

// beganAs reports whether the first entry of an invocation is the input of a run, as in
// sessions where a function of an earlier version began one.
func (s *Store) beganAs(ctx context.Context, log string, from int64, id string) (begun bool, err error) {
	err = s.scan(ctx, log, from, 0, func(r *record) (bool, error) {
		begun = r.Began == id || r.blank()
		return !begun && !slices.ContainsFunc(r.events, func(e session.Event) bool { return e.InvocationID == id }), nil
	})
	return begun, err
}
