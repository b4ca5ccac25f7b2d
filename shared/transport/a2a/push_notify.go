package a2a

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
	"github.com/rethread/rethread/shared/transport/frontend"
)

var _ delivery.MessageBuilder = (*Notifier)(nil)

// PastRuns reads runs that are over and does not change them.
type PastRuns interface {
	EndedRun(ctx context.Context, ref run.Ref) (run.Run, error)
}

// Notifier builds push notifications: a task as it was at an event, in the
// protocol version of the configuration.
type Notifier struct {
	Sessions session.Store
	Runs     PastRuns
	Links    task.Links
	Targets  receiver.PushTargets
	// Sign returns a signed JSON web token with the claims.
	Sign func(ctx context.Context, claims any) (string, error)
	// Issuer is the tokens' issuer; its keys are at /.well-known/jwks.json
	// under it.
	Issuer string
	Now    func() time.Time
	// SignedTime is the time of tokens, which receivers compare with their own clocks.
	SignedTime func() time.Time
	NewID      func() string // of tokens
}

// linkDelay is how long after an event its task may be unknown, because the
// link is stored after the run's start.
const linkDelay = time.Minute

var errTaskUnknown = errors.New("the task is not stored yet")

// moment is a task at an event.
type moment struct {
	event  notification.Event
	link   task.Link
	run    run.Run         // as it was
	events []session.Event // of the task, up to then
}

// Messages implements delivery.MessageBuilder.
func (n *Notifier) Messages(ctx context.Context, d delivery.Delivery) ([]delivery.Message, error) {
	t, config, err := n.Targets.TargetConfig(ctx, d.Target)
	if err != nil {
		return nil, err
	}
	m, err := n.moment(ctx, t, d.Event, config.Version)
	switch late := n.Now().Sub(time.UnixMilli(d.Event.Time)) > linkDelay; {
	case errors.Is(err, errTaskUnknown) && late, errors.Is(err, fault.Of(fault.NotFound)), errors.Is(err, fault.Of(fault.Forbidden)):
		return nil, fmt.Errorf("%w: the task is gone", delivery.ErrNothing)
	case err != nil:
		return nil, err
	}
	bodies, err := m.bodies(config.Version)
	if err != nil {
		return nil, err
	}
	var out []delivery.Message
	for i, body := range bodies {
		message, err := n.message(ctx, config, m.link.TaskID, body)
		if err != nil {
			return nil, err
		}
		message.Header[headerID] = fmt.Sprintf("%s-%d", d.ID(), i)
		out = append(out, message)
	}
	return out, nil
}

// Drop implements delivery.MessageBuilder.
func (n *Notifier) Drop(ctx context.Context, t delivery.Target, url string) error {
	return n.Targets.DropTarget(ctx, t, url)
}

// moment reads a task as it was at an event, without events rewound since.
func (n *Notifier) moment(ctx context.Context, t receiver.PushTask, e notification.Event, version string) (*moment, error) {
	link, err := n.Links.Link(ctx, t.UserID, t.ID)
	if errors.Is(err, fault.Of(fault.NotFound)) {
		return nil, errTaskUnknown
	}
	if err != nil {
		return nil, err
	}
	m := &moment{event: e, link: link}
	runID := e.RunID
	if e.Type == notification.TaskCancelled && len(link.Runs) > 0 {
		runID = link.Runs[len(link.Runs)-1]
	}
	if !slices.Contains(link.Runs, runID) {
		return nil, errTaskUnknown
	}
	m.run = run.Run{ID: runID, SessionID: link.SessionID, Agent: link.Agent, Status: run.InProgress, StartedTime: e.Time}
	if e.Type.EndsRun() || e.Type == notification.TaskCancelled {
		if m.run, err = n.Runs.EndedRun(ctx, run.Ref{UserID: t.UserID, SessionID: link.SessionID, RunID: runID}); err != nil {
			return nil, err
		}
	}
	m.events, err = n.events(ctx, link, e, version)
	return m, err
}

// events returns the events of a task up to an event; only that one if the
// notification contains no other.
func (n *Notifier) events(ctx context.Context, l task.Link, e notification.Event, version string) ([]session.Event, error) {
	if e.Type == notification.ItemCompleted && version != legacy {
		q := session.EventQuery{View: session.Effective, After: e.Seq - 1, Limit: 1}
		page, err := n.Sessions.Events(ctx, l.UserID, l.SessionID, q)
		return page.Events, err
	}
	reader := handler{server: &server{Server: &frontend.Server{Config: frontend.Config{Sessions: n.Sessions}}}}
	events, err := reader.events(ctx, l)
	if err != nil || e.Seq == 0 {
		return events, err
	}
	return slices.DeleteFunc(events, func(other session.Event) bool { return other.Seq > e.Seq }), nil
}

// bodies returns the notifications' bodies in a version of the protocol.
func (m *moment) bodies(version string) ([][]byte, error) {
	updates := m.updates()
	if len(updates) == 0 {
		return nil, fmt.Errorf("%w: the event has no visible content", delivery.ErrNothing)
	}
	if version == legacy {
		body, err := legacyBody(m.task())
		return [][]byte{body}, err
	}
	var out [][]byte
	for _, update := range updates {
		body, err := plainBody(lib.StreamResponse{Event: update})
		if err != nil {
			return nil, err
		}
		out = append(out, body)
	}
	return out, nil
}

// updates returns what a stream would send.
func (m *moment) updates() []lib.Event {
	switch m.event.Type {
	case notification.RunStarted:
		return []lib.Event{m.task()}
	case notification.RunCompleted, notification.RunFailed, notification.RunCancelled, notification.TaskCancelled:
		t := m.task()
		return []lib.Event{&lib.TaskStatusUpdateEvent{
			TaskID: t.ID, ContextID: t.ContextID, Status: t.Status, Metadata: map[string]any{a2aconvert.InvocationKey: m.run.ID},
		}}
	case notification.ItemCompleted:
		for _, e := range m.events {
			if e.Seq == m.event.Seq && e.InvocationID == m.run.ID && e.Status != session.EventInProgress {
				return newSent(m.link).updates([]session.Event{e})
			}
		}
	default: // A2A has no update for other events
	}
	return nil
}

// task returns the task at that moment.
func (m *moment) task() *lib.Task {
	t := a2aconvert.Task(m.link.TaskID, m.run, m.events)
	if m.event.Type == notification.TaskCancelled {
		when := time.UnixMilli(m.event.Time).UTC()
		t.Status = lib.TaskStatus{State: lib.TaskStateCanceled, Timestamp: &when}
	}
	return t
}
