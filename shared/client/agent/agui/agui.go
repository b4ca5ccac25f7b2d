// Package agui calls agents that speak AG-UI.
package agui

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/output"
	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// version is the version of AG-UI that requests declare.
const version = "1.0"

// Agent is an agent that speaks AG-UI. Each request contains the whole history and the
// state.
type Agent struct {
	endpoint *endpoint.Endpoint
	frontend agentconfig.Frontend
}

// New returns the agent at an endpoint.
func New(e agentconfig.Endpoint, f agentconfig.Frontend) *Agent { return &Agent{endpoint.New(e), f} }

// Close closes the idle connections.
func (a *Agent) Close() { a.endpoint.Close() }

// Run implements run.Agent. Each assistant message with its tool calls is one item,
// and each tool result is one event.
func (a *Agent) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	if waitsForUser(req) {
		return nil
	}
	h := historyOf(req)
	body, err := a.request(req, h)
	if err != nil {
		return fmt.Errorf("encode the request of run %s: %w", req.RunID, err)
	}
	out := newReader(output.New(req, emit), a, h, req)
	return a.endpoint.Ask(ctx, body, out.readStream, func(io.Reader) error {
		return endpoint.NewError(endpoint.CodeProtocol, "the agent answered with JSON instead of a stream")
	})
}

// runInput is a request of AG-UI, RunAgentInput.
type runInput struct {
	ThreadID        string                     `json:"threadId"`
	RunID           string                     `json:"runId"`
	ProtocolVersion string                     `json:"protocolVersion"`
	State           session.Values             `json:"state"`
	Messages        []message                  `json:"messages"`
	Tools           []json.RawMessage          `json:"tools"`
	Context         []any                      `json:"context"`
	ForwardedProps  map[string]json.RawMessage `json:"forwardedProps"`
	Resume          []resume                   `json:"resume,omitempty"`
}

type contextItem struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

func (a *Agent) request(req run.Request, h *history) ([]byte, error) {
	in := runInput{
		ThreadID: threadID(req), RunID: req.RunID, ProtocolVersion: version, State: transcript.CurrentState(req),
		Messages: h.messages, Tools: []json.RawMessage{}, Context: []any{},
		ForwardedProps: map[string]json.RawMessage{}, Resume: h.resume(),
	}
	front := req.FrontEnd()
	for _, tool := range a.frontend.Tools {
		in.Tools = append(in.Tools, tool.Raw)
	}
	_, offered := a.offered(front)
	in.Tools = append(in.Tools, offered...)
	for _, item := range front.Context {
		in.Context = append(in.Context, item)
	}
	if json.Unmarshal(front.ForwardedProps, &in.ForwardedProps) != nil || in.ForwardedProps == nil {
		in.ForwardedProps = map[string]json.RawMessage{} // the front end has none, or no object
	}
	if notes := transcript.WithNotes("", req); notes != "" {
		in.Context = append(in.Context, contextItem{"About the messages", notes})
	}
	for name, value := range a.frontend.ForwardedProps {
		in.ForwardedProps[name] = value
	}
	own, err := jsonx.Marshal(map[string]string{
		"session_id": req.SessionID, "user_id": req.UserID, "app_name": req.AppName, "agent": req.Agent,
	})
	if err != nil {
		return nil, err
	}
	in.ForwardedProps[agentconfig.OwnProps] = own
	return jsonx.Marshal(in)
}

// offered returns the tools of the run's front end that the configuration lacks.
func (a *Agent) offered(front run.FrontEnd) ([]run.FrontEndTool, []json.RawMessage) {
	known := map[string]bool{}
	for _, tool := range a.frontend.Tools {
		known[tool.Name] = true
	}
	return front.Functions(known)
}

// waitsForUser reports whether earlier workers of the run were lost after its last
// event: one that asks the user.
func waitsForUser(req run.Request) bool {
	said := len(req.Said)
	return said > 0 && len(req.Said[said-1].LongRunningCalls()) > 0
}

// threadID returns the id of the session's current branch. An agent that keeps
// history by thread must not mix branches: a fork is a session of its own, a rewind
// changes the epoch, and a session that is created again has another log. The id is a hash, so that callers, who may choose the ids of
// sessions, cannot choose the thread of another session.
func threadID(req run.Request) string {
	branch := strconv.Quote(req.UserID) + strconv.Quote(req.SessionID) + strconv.Quote(req.LogID) + strconv.FormatInt(req.Epoch, 10)
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("rethread:thread:"+branch)).String()
}
