package agentconfig

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Kind is how an agent is called.
type Kind string

// The kinds of agents.
const (
	KindHTTP            Kind = "http" // the protocol of docs/agent-protocol.md
	KindChatCompletions Kind = "chat_completions"
	KindResponses       Kind = "responses"
	KindAGUI            Kind = "ag_ui"
	KindA2A             Kind = "a2a"
	KindADK             Kind = "adk"
)

// Timeouts of a call; its total duration is limited by the caller's context. Zero
// values select the defaults.
type Timeouts struct {
	Connect   time.Duration // to connect, and again for TLS; default 5 s
	FirstByte time.Duration // from the request to the answer's header; default 60 s
	Idle      time.Duration // between two reads of the answer; default 60 s
	Backoff   time.Duration // limit of the wait before the second attempt, doubled for the third; default 250 ms
}

// Endpoint is the address of an agent, which the deployer sets, never a caller.
type Endpoint struct {
	URL      string
	Header   http.Header // sent with every request; may hold secrets
	Timeouts Timeouts
	// Kept are headers whose values are read from Secrets when they are sent, by name.
	Kept    map[string]Kept
	Secrets Secrets
}

// Kept is the value of a header: a prefix, and a secret that is kept elsewhere.
type Kept struct{ Prefix, Name string }

// Secrets reads secrets by the names of their parameters. It is safe for concurrent use.
type Secrets interface {
	Secret(ctx context.Context, name string) (string, error)
	// Renew reads a secret again that an agent has refused, and reports whether it is
	// another one.
	Renew(ctx context.Context, name, refused string) bool
}

// Chat configures the model and its requests.
type Chat struct {
	Model  string
	System string // the first message, if not empty
	// Reasoning selects the assistant messages with which the model gets its thinking
	// back; the default is WithToolCalls.
	Reasoning Reasoning
	Tools     json.RawMessage // in the API's form; the session's user answers the calls
	// Parameters are additional members of the request, such as temperature.
	Parameters map[string]json.RawMessage
}

// Reasoning selects messages of the history.
type Reasoning string

// The values of Reasoning. Models that call tools while they think require their
// thinking with the calls; others ignore or refuse it.
const (
	WithToolCalls Reasoning = "tool_calls"
	Always        Reasoning = "always"
	Never         Reasoning = "never"
)

// OwnProps is the member of forwardedProps that tells an agent whose session it is.
const OwnProps = "rethread"

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
