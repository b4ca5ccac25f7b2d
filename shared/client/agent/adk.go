package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// adkCleanup bounds the deletion of a session of ADK's after a call, per request.
const adkCleanup = 3 * time.Second

// ADK is an agent served by the Agent Development Kit's API server (`adk
// api_server`). Each call creates a session there with the effective history and
// state, runs the agent in it, and deletes it, so rewinds and forks need no
// counterpart there. Only a session whose agent waits for a response, such as a
// confirmation, is kept until the next call.
type ADK struct {
	configured
	app string
}

// NewADK returns the agent of an app; the endpoint's URL is that of the server.
func NewADK(e Endpoint, app string) *ADK {
	return &ADK{configured{newEndpoint(e)}, app}
}

// Run implements run.Agent. Each event of the agent is one of the session's.
func (a *ADK) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	if asks(req) {
		return nil
	}
	out := newProducer(req, emit)
	if err := closeCalls(&req, out); err != nil {
		return err
	}
	return a.call(ctx, req, out)
}

// closeCalls adds responses to what was said, and to the session, for the calls that
// were in progress when earlier workers of the run were lost.
func closeCalls(req *run.Request, out *producer) error {
	raw, err := interruptedCalls(*req)
	if raw == nil || err != nil {
		return err
	}
	e, err := session.ParseEvent(raw, "")
	if err != nil {
		return fmt.Errorf("make the responses to interrupted calls: %w", err)
	}
	req.Said = append(slices.Clip(req.Said), e)
	return out.event(raw)
}

func (a *ADK) call(ctx context.Context, req run.Request, producer *producer) error {
	turn, err := adkTurnOf(req)
	if err != nil {
		return fmt.Errorf("make the request of run %s: %w", req.RunID, err)
	}
	calls := adkCalls{a.endpoint, a.app, req.UserID}
	id := adkSessionID(req.SessionID, req.RunID)
	body, err := a.prepare(ctx, calls, turn, id, req)
	if err != nil {
		calls.forget(ctx, id)
		return err
	}
	out := &adkReader{
		out: producer, session: body.SessionID, waiting: turn.waiting(body.SessionID), redact: a.endpoint.redact,
		artifact: func(name, version string) ([]byte, error) { return calls.artifact(ctx, body.SessionID, name, version) },
	}
	err = a.converse(ctx, calls, body, out)
	if err != nil || len(out.waiting) == 0 {
		calls.forget(ctx, body.SessionID)
	}
	if turn.kept != "" && turn.kept != body.SessionID {
		calls.forget(ctx, turn.kept)
	}
	return err
}

// adkRun is the request that runs an agent.
type adkRun struct {
	App       string         `json:"appName"`
	User      string         `json:"userId"`
	SessionID string         `json:"sessionId"`
	Streaming bool           `json:"streaming"`
	Message   adkContent     `json:"newMessage"`
	State     map[string]any `json:"stateDelta,omitempty"`
}

// prepare returns the request of a turn, in the session that waits for its answer
// or else in a new one with the given id.
func (a *ADK) prepare(ctx context.Context, calls adkCalls, turn *adkTurn, id string, req run.Request) (adkRun, error) {
	body := adkRun{App: a.app, User: req.UserID, SessionID: id, Streaming: true}
	if turn.answers {
		found, err := calls.session(ctx, turn.kept)
		if err != nil {
			return body, err
		}
		if found.awaits(turn.answered) {
			body.SessionID, body.Message, body.State = turn.kept, turn.answer, found.changed(currentState(req))
			return body, nil
		}
	}
	events, message, err := turn.seed()
	if err != nil {
		return body, err
	}
	body.Message = message
	return body, calls.create(ctx, adkNewSession{ID: id, State: session.Delta(currentState(req)).Stored(), Events: events})
}

func (a *ADK) converse(ctx context.Context, calls adkCalls, body adkRun, out *adkReader) error {
	raw, err := jsonx.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	whole := func(io.Reader) error {
		return newError(CodeProtocol, "the agent answered without a stream")
	}
	err = calls.at("run_sse").asOnce().ask(ctx, raw, out.readStream, whole)
	if errors.Is(err, errNotFound) {
		return newError(CodeRefused, "the agent's server does not have the app or the session")
	}
	return err
}

// adkSessionID returns the id of the session of ADK's for a run. It is the same for
// a repeated call, and shows to which session of Rethread's it belongs, so that a
// fork does not go on in it.
func adkSessionID(sessionID, runID string) string {
	return adkSessionPrefix(sessionID) + shortHash(runID)
}

func adkSessionPrefix(sessionID string) string { return "rethread-" + shortHash(sessionID) + "-" }

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:10])
}

// app reads the name of an app of ADK's.
func (r *reader) app() string {
	name := r.text("app")
	if err := fault.CheckID("", name); err != nil {
		r.fail("app", "must be the name of an app of ADK's")
	}
	return name
}
