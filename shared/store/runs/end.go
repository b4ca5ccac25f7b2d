package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// runEnd is how a run ends.
type runEnd struct {
	status  run.Status
	problem *run.Problem
	lost    *ActiveRun // only if its worker was lost, as this item says
	worker  bool       // by the run's worker, as the reference names it
	// OnFailed says what becomes of the run; "" is what its start said.
	onFailed run.OnFailed
}

// keeps reports whether a run is kept although it ends so.
func (how runEnd) keeps(a *ActiveRun) bool {
	return how.status != run.Completed && (how.onFailed == run.Keep || how.onFailed == "" && a.Kept)
}

// cancellation is the end of a cancelled run.
func cancellation() runEnd {
	return runEnd{status: run.Cancelled, problem: run.NewProblem(run.CodeCancelled, "the run was cancelled")}
}

// Cancel implements run.Store.
func (s *Store) Cancel(ctx context.Context, ref run.Ref) (run.Run, error) {
	return s.CancelAs(ctx, ref, "")
}

// CancelAs implements run.Store.
func (s *Store) CancelAs(ctx context.Context, ref run.Ref, on run.OnFailed) (run.Run, error) {
	how := cancellation()
	how.onFailed = on
	r, err := s.end(ctx, ref, how)
	if r.ID != "" && r.Status.Final() {
		return r, nil // it had ended before
	}
	return r, err
}

// End implements run.Store.
func (s *Store) End(ctx context.Context, ref run.Ref, status run.Status, problem *run.Problem) (run.Run, error) {
	how := runEnd{status: status, problem: problem, worker: true}
	if status == run.Cancelled {
		how.problem = cancellation().problem
	}
	r, err := s.end(ctx, ref, how)
	if r.ID != "" && r.Status == status && r.Continuations == ref.Continuation {
		return r, nil // an earlier attempt, whose answer was lost
	}
	return r, err
}

// end ends a run in one transaction: the session has no active run, the item in
// progress is final and closed to deltas, and the log has another entry, at the
// very position that the run's worker would write to next. If the run is already
// final it returns that end, with a fault.
func (s *settler) end(ctx context.Context, ref run.Ref, how runEnd) (r run.Run, err error) {
	err = records.SettledBriefly(ctx, func() (err error) {
		r, err = s.endOnce(ctx, ref, how)
		return err
	})
	return r, err
}

// endOnce tries once; table.ErrConditionFailed, or errRunEnding, if the session is
// not as it was read.
func (s *settler) endOnce(ctx context.Context, ref run.Ref, how runEnd) (run.Run, error) {
	h, head, err := s.sessions.HeaderAndHead(ctx, ref.UserID, ref.SessionID)
	if err != nil {
		return run.Run{}, err
	}
	if h.Run != ref.RunID {
		if how.lost != nil {
			s.deleteOrphanRun(ctx, how.lost)
		}
		r, err := s.endedBefore(ctx, h, ref)
		if how.status == run.Cancelled && errors.Is(err, fault.Of(fault.NotFound)) {
			return s.dequeue(ctx, h, head, ref, err)
		}
		return r, err
	}
	a, err := s.active(ctx, h)
	switch {
	case err != nil:
		return run.Run{}, err
	case a == nil:
		return run.Run{}, errRunEnding
	case how.lost != nil && !s.isLost(a):
		return run.Run{}, fault.New(fault.RunActive, "the run lives")
	case how.worker && a.Continuation != ref.Continuation:
		return run.Run{}, run.SupersededFault(ref)
	}
	r, err := s.tryEnd(ctx, h, head, a, how)
	switch {
	case errors.Is(err, table.ErrConditionFailed):
		return run.Run{}, err
	case err != nil:
		return run.Run{}, fmt.Errorf("end run %s: %w", ref.RunID, s.sessions.NotFoundIfDeleted(ctx, h, err))
	case a.Slot:
		s.slots.releaseSlot(ctx, a.User, h.Log, a.ID)
	}
	return r, nil
}

func (s *settler) endedBefore(ctx context.Context, h *sessions.Header, ref run.Ref) (run.Run, error) {
	past, err := s.PastRun(ctx, h, ref.RunID)
	if err != nil {
		return run.Run{}, err
	}
	if past == nil {
		return run.Run{}, fault.Missing("Run")
	}
	return *past, runEndedFault(*past)
}

// deleteOrphanRun deletes the item of a run that its session does not name, unless it is
// that of another run by now. It is not part of the transaction that ends the run, where it would cost twice as
// much: an item that remains means nothing, is replaced by that of the next run, and
// deleted by the sweeper.
func (s *settler) deleteOrphanRun(ctx context.Context, a *ActiveRun) {
	err := records.Ignoring(s.DB.Delete(ctx, table.NewKey(a.PK, a.SK), table.Equal(table.Path{activeID}, a.ID)), table.ErrConditionFailed)
	if err != nil {
		s.Log.WarnContext(ctx, "the item of a run that is not active is deleted by the sweeper", "run_id", a.ID, "error", err)
	}
}

func (s *settler) tryEnd(ctx context.Context, h *sessions.Header, head eventlog.Head, a *ActiveRun, how runEnd) (run.Run, error) {
	writes, problem, err := s.endItem(ctx, h, head, a, how)
	if err != nil {
		return run.Run{}, err
	}
	if problem != nil && how.status == run.Completed {
		how.status, how.problem = run.Failed, problem
	}
	r := a.ended(how, max(s.Millis(), head.Time))
	last, err := s.endEntry(ctx, h, head, r, a.attribution(), markOf(how, a, len(writes) > 0))
	if err != nil {
		return run.Run{}, err
	}
	writes = append(writes, table.Put(last.Entry, table.ItemNotExists()), freeSession(h, a, how))
	if err := s.DB.Transact(ctx, writes...); err != nil {
		return r, err
	}
	s.deleteOrphanRun(ctx, a)
	s.logs.CountEntry(ctx, h.OfLog(), last)
	return r, nil
}

// ended returns the run at its end.
func (a *ActiveRun) ended(how runEnd, now int64) run.Run {
	r := a.Run()
	r.Status, r.EndedTime, r.OnFailed = how.status, &now, ""
	if how.status != run.Cancelled {
		r.Error = how.problem
	}
	if how.keeps(a) {
		r.OnFailed = run.Keep
	}
	return r
}

// markOf returns why a run that is kept ended, if no item that was in progress says so;
// nil for any other run.
func markOf(how runEnd, a *ActiveRun, hasItem bool) *run.Problem {
	if hasItem || !how.keeps(a) {
		return nil
	}
	return how.problem
}

// endItem returns the writes that end the run's item in progress, if there is one.
// The problem is why its content is incomplete.
func (s *settler) endItem(
	ctx context.Context, h *sessions.Header, head eventlog.Head, a *ActiveRun, how runEnd,
) ([]table.Write, *run.Problem, error) {
	it, err := s.openItem(ctx, h, head, a)
	if err != nil || it == nil {
		return nil, nil, err
	}
	problem := how.problem
	e, status := it.Snapshot(), session.EventStatus("")
	if how.status == run.Completed {
		content, err := it.Content().Finish()
		if err == nil {
			e = eventlog.WithField(e, "content", content, it.Offset())
		} else {
			problem = run.NewProblem(run.CodeContent, err.Error())
		}
	}
	if problem != nil {
		status = session.EventFailed
		if e, err = it.Failed(problem); err != nil {
			return nil, nil, err
		}
	}
	final, err := it.FinalEntry(ctx, e, status)
	if err != nil {
		return nil, nil, err
	}
	return []table.Write{it.Closing(), table.Put(final, eventlog.StillInProgress())}, problem, nil
}

// openItem returns the run's item in progress, with its content; nil if there is
// none.
func (s *settler) openItem(ctx context.Context, h *sessions.Header, head eventlog.Head, a *ActiveRun) (*eventlog.Item, error) {
	if head.Open == 0 {
		return nil, nil
	}
	rec, err := s.logs.EntryCovering(ctx, h.Log, head.Open)
	if err != nil || !rec.InProgress() || rec.Events[0].InvocationID != a.ID {
		return nil, err
	}
	it := s.logs.NewItem(h.OfLog(), rec, s.runOf(h, a.ref(), a))
	return it, it.Load(ctx)
}

// endEntry is the entry that ends a run. Only the whole log shows it, unless it marks
// the run as interrupted by a problem.
func (s *reader) endEntry(
	ctx context.Context, h *sessions.Header, head eventlog.Head, r run.Run, of eventlog.Attribution, mark *run.Problem,
) (*eventlog.Record, error) {
	e, err := s.runEvent("run", r, head.Next, *r.EndedTime)
	if err == nil && mark != nil {
		e, err = run.MarkInterrupted(e, r, mark)
	}
	if err != nil {
		return nil, fmt.Errorf("encode run %s: %w", r.ID, err)
	}
	return s.hiddenEntry(ctx, h, head, e, func(en *eventlog.Entry) {
		en.Ended, en.Attribution, en.StartsNext = r.ID, of, h.Queued > 0
		if mark != nil {
			en.Hidden, en.Status = false, e.Status
		}
	})
}

// hiddenEntry is an entry at a head that only the whole log shows.
func (s *reader) hiddenEntry(ctx context.Context, h *sessions.Header, head eventlog.Head, e session.Event, marks func(*eventlog.Entry)) (*eventlog.Record, error) {
	r := &eventlog.Record{Entry: eventlog.Entry{
		PK: keys.LogPK(h.Log), SK: keys.EntrySK(head.Next), LastState: head.LastState, LastMarker: head.LastMarker, RunMarks: head.Marks(),
	}, First: head.Next, When: e.CreatedTime}
	r.Hidden = true
	marks(&r.Entry)
	var err error
	r.Body, err = s.content.Pack(ctx, r.PK, eventlog.EntryBody{Time: e.CreatedTime, Events: []json.RawMessage{e.Own()}}, 0)
	s.logs.PendingBytes(&r.Entry, head, r.Size())
	return r, err
}

// freeSession is the change of the header when its run ends. A start that is queued
// before that is known to the entry that ends the run.
func freeSession(h *sessions.Header, a *ActiveRun, how runEnd) table.Write {
	after := run.Ending{
		Status: how.status, Problem: how.problem, Started: a.Worker != "", Taken: a.Taken, Keep: how.keeps(a),
	}.Aftermath()
	changes := []table.Change{
		table.Set(table.Path{sessions.HeaderStatus}, after.Status), table.Remove(table.Path{sessions.HeaderRun}), table.Remove(table.Path{sessions.HeaderCausedBy}),
		table.Remove(table.Path{sessions.HeaderContinued}),
	}
	if after.Unfinished {
		changes = append(changes, table.Set(table.Path{sessions.HeaderUnfinishedRun}, a.ID))
	}
	if after.Kept {
		changes = append(changes, table.Set(table.Path{sessions.HeaderKeptRun}, a.ID))
	}
	if after.Pending {
		changes = append(changes, table.Set(table.Path{sessions.HeaderPendingAt}, a.Position), table.Set(table.Path{sessions.HeaderPendingEvents}, a.Taken))
	}
	same := []table.Condition{h.SameLog(), table.Equal(table.Path{sessions.HeaderRun}, a.ID)}
	if h.Queued == 0 {
		same = append(same, table.NotExists(table.Path{sessions.HeaderQueued}))
	}
	return table.Update(keys.SessionKey(h.ID()), changes, same...)
}

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
