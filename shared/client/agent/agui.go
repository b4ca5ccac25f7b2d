package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// aguiVersion is the version of AG-UI that requests declare.
const aguiVersion = "1.0"

// Frontend configures what an AG-UI agent is offered besides the conversation.
type Frontend struct {
	Tools []FrontendTool // the session's user answers their calls
	// ForwardedProps are members of the request's forwardedProps.
	ForwardedProps map[string]json.RawMessage
}

// FrontendTool is a tool as AG-UI defines it: the name, and the whole definition.
type FrontendTool struct {
	Name string
	Raw  json.RawMessage
}

// AGUI is an agent that speaks AG-UI. Each request contains the whole history and the
// state.
type AGUI struct {
	configured
	frontend Frontend
}

// NewAGUI returns the agent at an endpoint.
func NewAGUI(e Endpoint, f Frontend) *AGUI { return &AGUI{configured{newEndpoint(e)}, f} }

// Run implements run.Agent. Each assistant message with its tool calls is one item,
// and each tool result is one event.
func (a *AGUI) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	if waitsForUser(req) {
		return nil
	}
	h, err := aguiHistoryOf(req)
	if err != nil {
		return fmt.Errorf("make the request of run %s: %w", req.RunID, err)
	}
	body, err := a.request(req, h)
	if err != nil {
		return fmt.Errorf("encode the request of run %s: %w", req.RunID, err)
	}
	out := newAGUIReader(newProducer(req, emit), a, h, req)
	return a.endpoint.ask(ctx, body, out.readStream, func(io.Reader) error {
		return newError(CodeProtocol, "the agent answered with JSON instead of a stream")
	})
}

// aguiInput is a request of AG-UI, RunAgentInput.
type aguiInput struct {
	ThreadID        string                     `json:"threadId"`
	RunID           string                     `json:"runId"`
	ProtocolVersion string                     `json:"protocolVersion"`
	State           session.Values             `json:"state"`
	Messages        []aguiMessage              `json:"messages"`
	Tools           []json.RawMessage          `json:"tools"`
	Context         []aguiContext              `json:"context"`
	ForwardedProps  map[string]json.RawMessage `json:"forwardedProps"`
	Resume          []aguiResume               `json:"resume,omitempty"`
}

type aguiContext struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

// ownProps is the member of forwardedProps that tells an agent whose session it is.
const ownProps = "rethread"

func (a *AGUI) request(req run.Request, h *aguiHistory) ([]byte, error) {
	in := aguiInput{
		ThreadID: threadID(req), RunID: req.RunID, ProtocolVersion: aguiVersion, State: currentState(req),
		Messages: h.messages, Tools: []json.RawMessage{}, Context: []aguiContext{},
		ForwardedProps: map[string]json.RawMessage{}, Resume: h.resume(),
	}
	for _, tool := range a.frontend.Tools {
		in.Tools = append(in.Tools, tool.Raw)
	}
	if notes := withNotes("", req); notes != "" {
		in.Context = append(in.Context, aguiContext{"About the messages", notes})
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
	in.ForwardedProps[ownProps] = own
	return jsonx.Marshal(in)
}

// currentState returns the state as of the run's input, with the changes of what earlier
// workers of the run have said.
func currentState(req run.Request) session.Values {
	state := session.Values{}
	maps.Copy(state, req.State)
	for _, e := range req.Said {
		state.Apply(e.StateDelta)
	}
	return state
}

// waitsForUser reports whether earlier workers of the run were lost after its last
// event: one that asks the user.
func waitsForUser(req run.Request) bool {
	if len(req.Said) == 0 {
		return false
	}
	var ids []string
	last := req.Said[len(req.Said)-1]
	return json.Unmarshal(last.Fields["long_running_tool_ids"], &ids) == nil && len(ids) > 0
}

// threadID returns the id of the session's current branch. An agent that keeps
// history by thread must not mix branches: a fork is a session of its own, and a rewind
// changes the epoch. The id is a hash, so that callers, who may choose the ids of
// sessions, cannot choose the thread of another session.
func threadID(req run.Request) string {
	branch := strconv.Quote(req.UserID) + strconv.Quote(req.SessionID) + strconv.FormatInt(req.Epoch, 10)
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("rethread:thread:"+branch)).String()
}
