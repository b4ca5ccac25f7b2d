package frontend

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// start creates the session if there is none, rewinds it if the plan has a rewind, and
// starts the run. A crash in between leaves the session without the run; the same
// request then continues from there.
func (b *Beginning) start(ctx context.Context, out *Begun, of session.Session, isNew bool, plan conversation.Plan, p access.Permission) error {
	if isNew {
		if err := ids.CheckNew(b.In.SessionAt, b.In.SessionID); err != nil {
			return err
		}
		fresh := session.New{ID: b.In.SessionID, UserID: access.CallerOf(ctx).UserID, Agent: b.Agent, Nonce: b.NewID()}
		created, err := b.Create(ctx, fresh)
		switch {
		case errors.Is(err, fault.Of(fault.Conflict)): // created concurrently
			return fmt.Errorf("%w: %w", errAgain, err)
		case err != nil:
			return err
		}
		of = created
		out.Ref.UserID, out.After = of.UserID, of.HeadSeq
	}
	if err := b.addState(ctx, of, p, plan.Input); err != nil {
		return err
	}
	if plan.Rewind != "" {
		if err := b.rewind(ctx, plan.Rewind); err != nil {
			return err
		}
	}
	for i, e := range plan.Input {
		e.InvocationID = out.Ref.RunID // a queue stores them as they are
		var err error
		if plan.Input[i], err = p.Admit(e, ""); err != nil {
			return err
		}
	}
	started, err := b.Launch(ctx, run.Start{
		Ref: out.Ref, Agent: b.Agent, Mode: run.Managed, Input: plan.Input, OnActive: b.In.OnActive,
	})
	if err != nil {
		if isNew && errors.Is(err, fault.Of(fault.Busy)) { // the client's next try creates it again
			b.Discard(ctx, of.UserID, of.ID)
		}
		return err
	}
	out.Queued = started.Status == run.Waiting
	return nil
}

// Launch starts a run and hands it to a worker, unless it waits in the queue.
func (s *Server) Launch(ctx context.Context, start run.Start) (run.Run, error) {
	started, err := s.Runs.Start(ctx, start)
	if err != nil {
		return run.Run{}, fmt.Errorf("start a run: %w", err)
	}
	if started.Status != run.InProgress {
		return started, nil
	}
	if err := s.StartRun(ctx, start.Ref); err != nil {
		run.FailStart(ctx, s.Runs, s.Log, start.Ref, err) // its stream ends with that error
	}
	return started, nil
}

// addState adds the front end's changes of the state to the last input.
func (b *Beginning) addState(ctx context.Context, of session.Session, p access.Permission, input []session.Event) error {
	if len(b.In.State) == 0 {
		return nil
	}
	state, err := b.Sessions.State(ctx, of.UserID, of.ID)
	if err != nil {
		return err
	}
	last := &input[len(input)-1]
	last.StateDelta = conversation.Changed(b.In.State, p.State(state).Merged)
	if err := last.StateDelta.Validate("/state"); err != nil || len(last.StateDelta) == 0 {
		return err
	}
	if last.Fields["actions"], err = jsonx.Marshal(map[string]any{"state_delta": last.StateDelta}); err != nil {
		return err
	}
	return p.CheckState(last.StateDelta, "/state")
}

// rewind rewinds the session before an invocation. Another request that did the same
// has changed what the plan was made for.
func (b *Beginning) rewind(ctx context.Context, before string) error {
	_, err := b.Rewind(ctx, b.In.SessionID, before, b.In.OnActive == run.CancelAndMerge)
	if errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Conflict)) {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	return err
}

// Rewind rewinds a session before an invocation; cancel ends a run in progress, which is
// a conflict otherwise.
func (s *Server) Rewind(ctx context.Context, id, before string, cancel bool) (done Rewound, err error) {
	err = s.Do(ctx, id, access.Rewind, func(p access.Permission) error {
		done.Owner = p.Owner
		req, err := p.Rewind(session.Rewind{SessionID: id, UserID: p.Owner, Before: before, Nonce: s.NewID(), CancelRun: cancel})
		if err == nil {
			done.Rewound, err = s.Rewinds.Rewind(ctx, req)
		}
		return err
	})
	return done, err
}

// Rewound is a rewind of an owner's session.
type Rewound struct {
	session.Rewound

	Owner string
}

// Create creates a session with valid properties.
func (s *Server) Create(ctx context.Context, fresh session.New) (session.Session, error) {
	if err := fresh.Validate(); err != nil {
		return session.Session{}, err
	}
	return s.Sessions.Create(ctx, fresh)
}

// Discard deletes a session that was created for a run that did not start.
func (s *Server) Discard(ctx context.Context, userID, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	if err := s.Sessions.Delete(ctx, userID, id); err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
		s.Log.WarnContext(ctx, "the session of a refused run was not deleted", "session_id", id, "error", err)
	}
}
