package eventlog

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// Most invocations are no runs. The lower bound of a run's invocation says that a run
// may have begun with its id, so that a request for another one need not search the log
// for the end of a run.

// boundRun writes the lower bound of the run that the batch begins. Events of others
// may already name the run as their invocation: its id is known while it is queued.
func (w *batch) boundRun(ctx context.Context, position int64) error {
	k := keys.InvocationKey(w.log.Name, w.Begins)
	held, err := w.s.putLowerBound(ctx, LowerBound{PK: k.PK, SK: k.SK, Position: position, Run: true})
	if of := w.invocations[w.Begins]; err == nil && of != nil && of.phase == unknown && held.Position >= position {
		of.phase, of.bound = absent, held.Position
	}
	if err != nil || held.Run {
		return err
	}
	err = w.s.DB.Update(ctx, k, []table.Change{table.Set(table.Path{boundRun}, true)}, table.ItemExists())
	if errors.Is(err, table.ErrConditionFailed) { // the session was deleted
		return MissingSession()
	}
	return err
}
