package automation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

var _ delivery.Actor = (*Actor)(nil)

// Sessions reads and creates sessions.
type Sessions interface {
	Get(ctx context.Context, userID, id string) (session.Session, error)
	Create(ctx context.Context, n session.New) (session.Session, error)
}

// Starter starts runs.
type Starter interface {
	Start(ctx context.Context, s run.Start) (run.Run, error)
}

// Actor carries out automations: it starts a run like a request for one.
type Actor struct {
	Store interface {
		Store
		Counter
	}
	Sessions Sessions
	Runs     Starter
	// HasAgent reports whether an agent is configured.
	HasAgent func(name string) bool
	// MayCall reports whether the owner of an automation with this proof may call an agent.
	MayCall func(agent string, proof []string) bool
	// Hand hands a started run to a worker; it may do so twice for the same run.
	Hand func(context.Context, run.Ref) error
}

// Act implements delivery.Actor. The ids of what it creates are derived from the
// delivery, so that a repeat finds what an earlier attempt created.
func (a *Actor) Act(ctx context.Context, d delivery.Delivery) error {
	userID, id, ok := parseTarget(d.Target)
	if !ok {
		return fmt.Errorf("%w: no automation is named %q", delivery.ErrGone, d.Target.Name)
	}
	au, err := a.Store.Automation(ctx, userID, id)
	switch {
	case errors.Is(err, fault.Of(fault.NotFound)):
		return fmt.Errorf("%w: the automation", delivery.ErrGone)
	case err != nil:
		return err
	case !au.Wants(d.Event):
		return fmt.Errorf("%w: the automation does not want it any more", delivery.ErrNothing)
	case !a.HasAgent(au.Do.Agent):
		return fmt.Errorf("%w: no agent %q is configured", delivery.ErrNever, au.Do.Agent)
	case !a.MayCall(au.Do.Agent, au.Proof):
		return fmt.Errorf("%w: the owner may not call the agent %q: its callers are others now", delivery.ErrNever, au.Do.Agent)
	}
	start, err := au.start(d)
	if err != nil {
		return err
	}
	if err := a.count(ctx, au, LastRun{RunID: start.RunID, SessionID: start.SessionID, EventType: string(d.Event.Type)}); err != nil {
		return err
	}
	if au.Do.Session == New {
		if err := a.open(ctx, au, d, start.SessionID); err != nil {
			return verdict(err)
		}
	}
	r, err := a.Runs.Start(ctx, start)
	if err != nil {
		return verdict(err)
	}
	if r.Status != run.InProgress {
		return nil // it was started by an earlier attempt, or waits in the session's queue
	}
	return a.Hand(ctx, start.Ref)
}

func (a *Actor) count(ctx context.Context, au Automation, r LastRun) error {
	ok, err := a.Store.CountRun(ctx, au, r)
	if err == nil && !ok {
		err = fmt.Errorf("%w: the automation started more than %d runs in %s, and is disabled",
			delivery.ErrNever, MaxRuns, RunsWithin)
	}
	return err
}

// start returns the run that an automation starts for an event.
func (a Automation) start(d delivery.Delivery) (run.Start, error) {
	s := run.Start{
		Ref:   run.Ref{UserID: a.UserID, SessionID: d.Event.SessionID, RunID: "auto-" + d.ID()},
		Agent: a.Do.Agent, Mode: run.Managed, OnActive: cmp.Or(a.Do.OnActive, run.Reject), Chain: a.chain(d.Event),
	}
	if a.Do.Session == New {
		s.SessionID = "auto-" + d.ID()
	}
	if s.SessionID == "" {
		return s, fmt.Errorf("%w: the event has no session", delivery.ErrNever)
	}
	content, err := jsonx.Marshal(map[string]any{
		"role": "user", "parts": []map[string]string{{"text": a.Do.Render(d.Event)}},
	})
	if err != nil {
		return s, fmt.Errorf("encode an input: %w", err)
	}
	from, err := a.origin(d.Event)
	if err != nil {
		return s, err
	}
	s.Input = []session.Event{{
		Author: "user", InvocationID: s.RunID,
		Fields: map[string]json.RawMessage{"content": content, "automation": from},
	}}
	return s, nil
}

// origin returns the origin that is recorded in the metadata of a run or a session.
func (a Automation) origin(e notification.Event) (json.RawMessage, error) {
	from, err := jsonx.Marshal(map[string]any{
		"id": a.ID, "event_id": e.ID, "event_type": e.Type, "session_id": e.SessionID, "depth": len(e.Chain) + 1,
	})
	if err != nil {
		return nil, fmt.Errorf("encode an origin: %w", err)
	}
	return from, nil
}

// open creates the session for the run. It belongs to the app of the session in
// which the event happened, if that still exists, so that both share the user's
// state.
func (a *Actor) open(ctx context.Context, au Automation, d delivery.Delivery, id string) error {
	from, err := au.origin(d.Event)
	if err != nil {
		return err
	}
	metadata, err := jsonx.Marshal(map[string]json.RawMessage{"automation": from})
	if err != nil {
		return fmt.Errorf("encode metadata: %w", err)
	}
	n := session.New{
		ID: id, UserID: au.UserID, Agent: au.Do.Agent, Name: au.Name, Metadata: metadata,
		Nonce: d.ID(), Chain: au.chain(d.Event),
	}
	if d.Event.SessionID != "" {
		source, err := a.Sessions.Get(ctx, au.UserID, d.Event.SessionID)
		switch {
		case err == nil:
			n.AppName = source.AppName
		case !errors.Is(err, fault.Of(fault.NotFound)) && !errors.Is(err, fault.Of(fault.Forbidden)):
			return err
		}
	}
	if err := n.Validate(); err != nil {
		return err
	}
	_, err = a.Sessions.Create(ctx, n)
	return err
}

// verdict maps a fault to the errors of a delivery.
func verdict(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	switch f.Kind {
	case fault.NotFound, fault.Forbidden:
		return fmt.Errorf("%w: %w", delivery.ErrNothing, err)
	case fault.Conflict, fault.Busy:
		return fmt.Errorf("%w: %w", delivery.ErrNotYet, err)
	default:
		return fmt.Errorf("%w: %w", delivery.ErrNever, err)
	}
}
