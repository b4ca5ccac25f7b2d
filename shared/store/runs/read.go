package runs

import (
	"context"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// Run implements run.Store.
func (s *settler) Run(ctx context.Context, ref run.Ref) (run.Run, error) {
	return records.SettledValue(ctx, func() (run.Run, error) { return s.tryRun(ctx, ref) })
}

// tryRun tries once; table.ErrConditionFailed if the queue has changed since the header
// was read.
func (s *settler) tryRun(ctx context.Context, ref run.Ref) (run.Run, error) {
	h, err := s.sessions.Header(ctx, ref.UserID, ref.SessionID)
	if err == nil && h.Run != "" {
		var a *ActiveRun
		h, _, a, err = s.ReadSettled(ctx, ref.UserID, ref.SessionID)
		if a != nil && a.ID == ref.RunID {
			return a.Run(), nil
		}
	}
	if err != nil {
		return run.Run{}, err
	}
	past, err := s.PastRun(ctx, h, ref.RunID)
	if past == nil && err == nil {
		past, err = s.queuedRun(ctx, h, ref)
	}
	if err != nil {
		return run.Run{}, s.sessions.NotFoundIfDeleted(ctx, h, err)
	}
	if past == nil {
		return run.Run{}, fault.Missing("Run")
	}
	return *past, nil
}

// EndedRun reads a final run without changing anything; fault.NotFound for any
// other.
func (s *reader) EndedRun(ctx context.Context, ref run.Ref) (run.Run, error) {
	h, err := s.sessions.Header(ctx, ref.UserID, ref.SessionID)
	if err != nil {
		return run.Run{}, err
	}
	past, err := s.PastRun(ctx, h, ref.RunID)
	if err == nil && past == nil {
		err = fault.Missing("Run")
	}
	return records.Deref(past), s.sessions.NotFoundIfDeleted(ctx, h, err)
}

// mostListed is how many entries of the log a page of runs reads: so many it may have
// between two runs whose session is mainly written by others.
const mostListed = 1000

// entriesOfRun is how many entries most runs have at least: input, answer, and end.
const entriesOfRun = 3

// ListRuns implements run.Store. Each run that is over has the entry that ended it, and one
// may be active, which is newer than they. So the log is read backwards, rewound entries
// included, at the price of its events. Positions of the log do not change, so that a page
// continues where the one before it ended, whatever happened meanwhile.
func (s *settler) ListRuns(ctx context.Context, q run.ListQuery) (run.ListPage, error) {
	return records.SettledValue(ctx, func() (run.ListPage, error) { return s.listRuns(ctx, q) })
}

func (s *settler) listRuns(ctx context.Context, q run.ListQuery) (run.ListPage, error) {
	h, head, active, err := s.ReadSettled(ctx, q.UserID, q.SessionID)
	if err != nil {
		return run.ListPage{}, err
	}
	out := run.ListPage{Runs: []run.Run{}}
	last := head.Last()
	if q.Before > 0 {
		last = min(last, q.Before-1)
	} else if active != nil {
		out.Runs = append(out.Runs, active.Run())
	}
	read := 0
	err = s.logs.ScanDown(ctx, h.Log, h.Base()+1, last, min(entriesOfRun*q.Limit+1, mostListed), func(r *eventlog.Record) (bool, error) {
		if len(out.Runs) == q.Limit || read == mostListed {
			out.Next = r.Last() + 1
			return false, nil
		}
		read++
		if r.Ended == "" || len(r.Events) == 0 { // no run has ended, or its end is unreadable
			return true, nil
		}
		ended, err := run.EndedBy(r.Events[0])
		if err != nil {
			return false, fmt.Errorf("entry %d: %w", r.First, err)
		}
		ended.SessionID = h.ID()
		out.Runs = append(out.Runs, ended)
		return true, nil
	})
	return out, s.sessions.NotFoundIfDeleted(ctx, h, err)
}

// AsOfInput implements run.Sessions. While the run is active the session cannot be
// rewound, so what it showed then is part of what it shows now; later changes of
// the state are reverted as by a rewind.
func (s *Store) AsOfInput(ctx context.Context, ref run.Ref, limit run.HistoryLimit) (run.History, error) {
	return records.SettledValue(ctx, func() (run.History, error) {
		h, head, a, err := s.ReadSettled(ctx, ref.UserID, ref.SessionID)
		if err != nil {
			return run.History{}, err
		}
		if a == nil || a.ID != ref.RunID {
			if err = s.stillActive(ctx, h, ref); err == nil {
				err = fault.Missing("Run")
			}
			return run.History{}, s.sessions.NotFoundIfDeleted(ctx, h, err)
		}
		if a.Continuation != ref.Continuation {
			return run.History{}, run.SupersededFault(ref)
		}
		out, err := s.asOfInput(ctx, h, head, a, limit)
		if err != nil {
			return run.History{}, fmt.Errorf("read what run %s was asked: %w", ref.RunID, s.sessions.NotFoundIfDeleted(ctx, h, err))
		}
		return out, nil
	})
}

func (s *reader) asOfInput(
	ctx context.Context, h *sessions.Header, head eventlog.Head, a *ActiveRun, limit run.HistoryLimit,
) (run.History, error) {
	input := head.Latest
	if input == nil || input.First != a.Position || input.WithoutBody {
		var err error
		if input, err = s.logs.EntryCovering(ctx, h.Log, a.Position); err != nil {
			return run.History{}, err
		}
	}
	out := run.History{AppName: h.App, LogID: h.Log, Epoch: h.Epoch}
	state, err := s.stateAsOf(ctx, h, head, input)
	if err != nil {
		return run.History{}, err
	}
	out.State = state.Merged
	if limit.IsZero() {
		out.Events, err = s.eventsUpTo(ctx, h, input)
	} else {
		out.Events, out.Truncated, err = s.recentEvents(ctx, h, input, limit)
	}
	if err == nil && a.Continuation > 0 {
		out.Said, err = s.saidAfter(ctx, h, input, a)
	}
	return out, err
}

// eventsUpTo reads the effective events up to an entry, that of a run's input.
func (s *reader) eventsUpTo(ctx context.Context, h *sessions.Header, input *eventlog.Record) ([]session.Event, error) {
	var out []session.Event
	q := session.EventQuery{View: session.Effective, Limit: session.MaxPage, Before: input.Last() + 1}
	for {
		page, err := s.sessions.EventsOf(ctx, h, q)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Events...)
		if page.Next == nil {
			return out, nil
		}
		q.Resume = *page.Next
	}
}

// recentPage is the number of events that are read at a time for a limited history.
const recentPage = 100

// recentEvents reads the newest turns of what eventsUpTo reads. The log is read
// backwards, so that the older turns are not paid for.
func (s *reader) recentEvents(
	ctx context.Context, h *sessions.Header, input *eventlog.Record, limit run.HistoryLimit,
) (events []session.Event, truncated bool, err error) {
	selected := run.NewRecent(limit)
	q := session.EventQuery{View: session.Effective, Limit: recentPage, Before: input.Last() + 1, Descending: true}
	for {
		page, err := s.sessions.EventsOf(ctx, h, q)
		if err != nil {
			return nil, false, err
		}
		enough := slices.ContainsFunc(page.Events, func(e session.Event) bool { return !selected.Add(e) })
		if enough || page.Next == nil {
			events, truncated = selected.Events()
			return events, truncated, nil
		}
		q.Resume = *page.Next
	}
}

// stateAsOf returns the state in all scopes as of an entry of the session's own
// log: the current state without the session's later changes. A shared key that
// another session has changed after that keeps its value. It returns
// table.ErrConditionFailed if the state changes concurrently.
func (s *reader) stateAsOf(ctx context.Context, h *sessions.Header, head eventlog.Head, rec *eventlog.Record) (session.State, error) {
	c, err := s.logs.LoadStates(ctx, h.OfLog(), head, session.Delta{"user:": nil, "app:": nil})
	if err != nil {
		return session.State{}, err
	}
	now, err := s.logs.ReadHead(ctx, h.OfLog())
	if err != nil {
		return session.State{}, err
	}
	if now.LastState != head.LastState || now.OlderThan(h.OfLog(), c.AsOf) {
		return session.State{}, table.ErrConditionFailed
	}
	since := session.Delta{}
	if err := s.logs.UndoLog(ctx, h.Log, head.LastState, rec.Last()+1, 0, since, nil, rec); err != nil {
		return session.State{}, err
	}
	for key := range since {
		scope, name := session.ScopeOf(key)
		if _, by := c.Current(scope, name); by != "" && by != h.ID() {
			delete(since, key)
		}
	}
	c.Apply(since)
	return c.State(), nil
}
