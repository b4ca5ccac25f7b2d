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
