package runs

import (
	"context"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// cancelledRun is a run that is cancelled in the same transaction as what replaces
// it.
type cancelledRun struct {
	s      *settler
	h      *sessions.Header
	head   eventlog.Head
	active *ActiveRun
	how    runEnd
	last   *eventlog.Record // the entry that ends it
	marks  bool             // whether that entry marks the run as interrupted
}

// cancelled returns the end of a run at a head. on says what becomes of the run, as for
// runEnd.
func (s *settler) cancelled(ctx context.Context, h *sessions.Header, head eventlog.Head, a *ActiveRun, on run.OnFailed) (*cancelledRun, error) {
	o := &cancelledRun{s: s, h: h, head: head, active: a, how: cancellation()}
	o.how.onFailed = on
	var mark *run.Problem
	if o.how.keeps(a) {
		it, err := s.openItem(ctx, h, head, a)
		if err != nil {
			return nil, err
		}
		mark = markOf(o.how, a, it != nil)
	}
	o.marks = mark != nil
	var err error
	o.last, err = s.endEntry(ctx, h, head, a.ended(o.how, max(s.Millis(), head.Time)), a.attribution(), mark)
	return o, err
}

// writes returns those that end the run: its item in progress and the log's entry.
// The caller writes the run's own item and the header. Agents keep writing to the
// item in progress, so writes is called right before the transaction. It returns
// table.ErrConditionFailed if a run that is kept would have no mark, or two.
func (o *cancelledRun) writes(ctx context.Context) ([]table.Write, error) {
	writes, _, err := o.s.endItem(ctx, o.h, o.head, o.active, o.how)
	if err != nil {
		return nil, err
	}
	if o.how.keeps(o.active) && o.marks == (len(writes) > 0) {
		return nil, table.ErrConditionFailed
	}
	return append(writes, table.Put(o.last.Entry, table.ItemNotExists())), nil
}
