// Package adk calls agents that the Agent Development Kit's API server serves.
package adk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/output"
	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// cleanupTime bounds the deletion of a session of ADK's after a call, per request.
const cleanupTime = 3 * time.Second

// Agent is an agent served by the Agent Development Kit's API server (`adk
// api_server`). Each call creates a session there with the effective history and
// state, runs the agent in it, and deletes it, so rewinds and forks need no
// counterpart there. Only a session whose agent waits for a response, such as a
// confirmation, is kept until the next call.
type Agent struct {
	endpoint *endpoint.Endpoint
	app      string
}

// New returns the agent of an app; the endpoint's URL is that of the server.
func New(e agentconfig.Endpoint, app string) *Agent {
	return &Agent{endpoint.New(e), app}
}

// Close closes the idle connections.
func (a *Agent) Close() { a.endpoint.Close() }

// Run implements run.Agent. Each event of the agent is one of the session's.
func (a *Agent) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	if asks(req) {
		return nil
	}
	out := output.New(req, emit)
	if err := closeCalls(&req, out); err != nil {
		return err
	}
	return a.call(ctx, req, out)
}

// closeCalls adds responses to what was said, and to the session, for the calls that
// were in progress when earlier workers of the run were lost.
func closeCalls(req *run.Request, out *output.Producer) error {
	raw, err := interruptedCalls(*req)
	if raw == nil || err != nil {
		return err
	}
	e, err := session.ParseEvent(raw, "")
	if err != nil {
		return fmt.Errorf("make the responses to interrupted calls: %w", err)
	}
	req.Said = append(slices.Clip(req.Said), e)
	return out.Event(raw)
}

func (a *Agent) call(ctx context.Context, req run.Request, producer *output.Producer) error {
	turn := turnOf(req)
	calls := client{a.endpoint, a.app, req.UserID}
	id := sessionID(req)
	body, err := a.prepare(ctx, calls, turn, id, req)
	if err != nil {
		calls.forget(ctx, id)
		return err
	}
	out := &reader{
		out: producer, session: body.SessionID, waiting: turn.waiting(body.SessionID), redact: a.endpoint.Redact,
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

// runRequest is the request that runs an agent.
type runRequest struct {
	App       string         `json:"appName"`
	User      string         `json:"userId"`
	SessionID string         `json:"sessionId"`
	Streaming bool           `json:"streaming"`
	Message   message        `json:"newMessage"`
	State     map[string]any `json:"stateDelta,omitempty"`
}

// prepare returns the request of a turn, in the session that waits for its answer
// or else in a new one with the given id.
func (a *Agent) prepare(ctx context.Context, calls client, turn *turn, id string, req run.Request) (runRequest, error) {
	body := runRequest{App: a.app, User: req.UserID, SessionID: id, Streaming: true}
	if turn.answers {
		found, err := calls.session(ctx, turn.kept)
		if err != nil {
			return body, err
		}
		if found.awaits(turn.answered) {
			body.SessionID, body.Message, body.State = turn.kept, turn.answer, found.changed(transcript.CurrentState(req))
			return body, nil
		}
	}
	events, message, err := turn.seed()
	if err != nil {
		return body, err
	}
	body.Message = message
	return body, calls.create(ctx, newSession{ID: id, State: session.Delta(transcript.CurrentState(req)).Stored(), Events: events})
}

func (a *Agent) converse(ctx context.Context, calls client, body runRequest, out *reader) error {
	raw, err := jsonx.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	whole := func(io.Reader) error {
		return endpoint.NewError(endpoint.CodeProtocol, "the agent answered without a stream")
	}
	err = calls.runs().Ask(ctx, raw, out.readStream, whole)
	if errors.Is(err, errNotFound) {
		return endpoint.NewError(endpoint.CodeRefused, "the agent's server does not have the app or the session")
	}
	return err
}

// sessionID returns the id of the session of ADK's for a run. It is the same for
// a repeated call, and shows to which session of Rethread's it belongs, so that
// neither a fork nor a session that is created again goes on in it.
func sessionID(req run.Request) string {
	return sessionPrefix(req.SessionID, req.LogID) + shortHash(req.RunID)
}

func sessionPrefix(sessionID, logID string) string {
	return "rethread-" + shortHash(sessionID+"\x00"+logID) + "-"
}

// belongsTo reports whether a session of ADK's was made for the session of a request.
func belongsTo(id string, req run.Request) bool {
	return strings.HasPrefix(id, sessionPrefix(req.SessionID, req.LogID))
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:10])
}
