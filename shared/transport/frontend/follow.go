package frontend

import (
	"context"
	"errors"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/follow"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Follow waits until a queued run begins, which changes b, and calls update with the
// run's events whenever they have changed, until the run is over or left reports that
// the reader has left. At the end it calls update with the
// events as the table has them, and returns the run; without a RunID if the reader has
// left.
func (s *Server) Follow(ctx context.Context, b *Begun, left func() bool, update func(context.Context, []session.Event) error) (run.Run, error) {
	config := s.Follower()
	recheck := func(ctx context.Context) error { return s.Recheck(ctx, b.Ref.UserID, b.Ref.SessionID) }
	target := follow.Target{
		UserID: b.Ref.UserID, SessionID: b.Ref.SessionID, Runs: []string{b.Ref.RunID}, After: b.After,
		Caller: access.CallerOf(ctx), Recheck: recheck,
	}
	if err := s.awaitTurn(ctx, b, left, config, target); err != nil {
		return run.Run{}, err
	}
	target.After = b.After
	var failed error
	err := config.Run(ctx, target, func(own []session.Event) bool {
		if len(own) > 0 { // otherwise rewound: what was sent of it stays, as its end shows it
			failed = update(ctx, own)
		}
		return failed == nil && !left()
	})
	if err = errors.Join(err, failed); err != nil || left() {
		return run.Run{}, err
	}
	r, err := s.Runs.Run(ctx, b.Ref) // first: a run that is over adds no more events
	if err != nil {
		return run.Run{}, err
	}
	events, err := session.ReadEffective(ctx, s.Sessions, b.Ref.UserID, b.Ref.SessionID, b.After)
	if err != nil {
		return run.Run{}, readError(err)
	}
	if err := recheck(ctx); err != nil {
		return run.Run{}, err
	}
	if own := eventsOf(events, b.Ref.RunID); len(own) > 0 { // otherwise discarded meanwhile
		err = update(ctx, own)
	}
	return r, err
}

// Follower returns the configuration of those who follow runs.
func (s *Server) Follower() follow.Config {
	return follow.Config{
		Sessions: s.Sessions, Runs: s.Runs, Watch: s.Watch, Log: s.Log, Now: s.Now, CheckEvery: s.CheckEvery,
	}
}

// awaitTurn waits until a queued run begins or is removed from the queue.
func (s *Server) awaitTurn(ctx context.Context, b *Begun, left func() bool, config follow.Config, target follow.Target) error {
	if !b.Queued {
		return nil
	}
	err := config.Until(ctx, target, func(ctx context.Context) (bool, error) {
		r, err := s.Runs.Run(ctx, b.Ref)
		return err == nil && r.Status != run.Waiting || left(), err
	})
	if err != nil {
		return err
	}
	h, err := s.History(ctx, session.Session{ID: b.Ref.SessionID, UserID: b.Ref.UserID})
	if err != nil {
		return err
	}
	return h.Enough(ctx, b.split)
}

// split makes the history that before the run, if the run has begun.
func (b *Begun) split(h conversation.History) error {
	before, own := h.Split(b.Ref.RunID)
	if h.Partial && !h.Begins(b.Ref.RunID) {
		return conversation.ErrOlder
	}
	if len(own) > 0 {
		b.Before, b.After = before, own[0].Seq-1
	}
	return nil
}

// eventsOf returns the events of a run.
func eventsOf(events []session.Event, runID string) []session.Event {
	return slices.DeleteFunc(events, func(e session.Event) bool { return e.InvocationID != runID })
}

// Active returns the run in progress of a session as a run to be streamed; it has no
// RunID without one.
func (s *Server) Active(ctx context.Context, of session.Session, guest bool) (Begun, error) {
	out := Begun{AsGuest: guest, After: of.HeadSeq, Ref: run.Ref{UserID: of.UserID, SessionID: of.ID}}
	h, err := s.History(ctx, of)
	if err != nil {
		return out, err
	}
	out.Before = h.History
	if of.ActiveRunID == nil {
		return out, nil
	}
	out.Ref.RunID = *of.ActiveRunID
	err = h.Enough(ctx, out.split)
	if err == nil && !slices.ContainsFunc(h.Events, func(e session.Event) bool { return e.InvocationID == out.Ref.RunID }) {
		out.Ref.RunID = ""
	}
	return out, err
}

// Missed returns the run to be streamed to a reader of a session without a run in
// progress: the first one that is queued, or the one whose output was not among the
// messages that were sent last. It has no RunID without one.
func (s *Server) Missed(ctx context.Context, of session.Session, guest bool) (Begun, error) {
	out := Begun{AsGuest: guest, After: of.HeadSeq, Ref: run.Ref{UserID: of.UserID, SessionID: of.ID}}
	t, err := s.Runs.Thread(ctx, of.UserID, of.ID, run.ThreadQuery{Descending: true, Limit: 1})
	if err != nil {
		return out, err
	}
	if len(t.Queue.Starts) > 0 {
		out.Ref.RunID, out.Queued = t.Queue.Starts[0].RunID, true
		return out, nil
	}
	missed, err := s.Unseen.Unseen(ctx, of.ID)
	if err != nil || missed == "" {
		return out, err
	}
	of.ActiveRunID = &missed
	return s.Active(ctx, of, guest)
}

// Busy returns the run that prevents another one; false if err has another reason.
func Busy(err error) (string, bool) {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Conflict || f.Code == fault.RunRewound || f.Code == fault.OtherInput {
		return "", false
	}
	id, ok := f.Extra["run_id"].(string)
	return id, ok
}
