package sessions

import (
	"context"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/table"
)

// cancelledRun is a run that is cancelled in the same transaction as what replaces
// it.
type cancelledRun struct {
	s      *Store
	h      *header
	at     head
	active *activeRun
	last   *record // the entry that ends it
}

// cancelled returns the end of a run at a head.
func (s *Store) cancelled(ctx context.Context, h *header, at head, a *activeRun) (*cancelledRun, error) {
	now := max(s.millis(), at.time)
	r := a.run()
	r.Status, r.EndedTime = run.Cancelled, &now
	last, err := s.endEntry(ctx, h, at, r, a.attribution())
	return &cancelledRun{s: s, h: h, at: at, active: a, last: last}, err
}

// writes returns those that end the run: its item in progress and the log's entry.
// The caller writes the run's own item and the header. Agents keep writing to the
// item in progress, so writes is called right before the transaction.
func (o *cancelledRun) writes(ctx context.Context) ([]table.Write, error) {
	writes, _, err := o.s.endItem(ctx, o.h, o.at, o.active, cancellation())
	if err != nil {
		return nil, err
	}
	return append(writes, table.Put(o.last.entry, table.ItemNotExists())), nil
}
