package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

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

// ChatCompletions is an agent backed by a model with OpenAI's chat completions API,
// which most other providers support too.
type ChatCompletions struct {
	configured
	chat Chat
}

// NewChatCompletions returns the agent of a model; "/chat/completions" is added to
// the endpoint's URL.
func NewChatCompletions(e Endpoint, c Chat) *ChatCompletions {
	if full, err := url.JoinPath(e.URL, "chat", "completions"); err == nil { // an invalid URL fails when it is called
		e.URL = full
	}
	a := &ChatCompletions{configured{newEndpoint(e)}, c}
	a.endpoint.explain = explainChat
	return a
}

// Run implements run.Agent. The whole answer is one item.
func (a *ChatCompletions) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	if isAnswered(req) {
		return nil
	}
	body, err := a.request(req)
	if err != nil {
		return fmt.Errorf("make the request of run %s: %w", req.RunID, err)
	}
	out := newChatReader(newProducer(req, emit), a.chat.Model, a.endpoint.redact)
	return a.endpoint.ask(ctx, body, out.readStream, out.readWhole)
}

func (a *ChatCompletions) request(req run.Request) ([]byte, error) {
	messages, err := messagesOf(a.chat, req)
	if err != nil {
		return nil, err
	}
	body := map[string]any{}
	for name, value := range a.chat.Parameters {
		body[name] = value
	}
	body["model"] = a.chat.Model
	body["messages"] = messages
	body["stream"] = true
	body["stream_options"] = map[string]bool{"include_usage": true}
	if len(a.chat.Tools) > 0 {
		body["tools"] = a.chat.Tools
	}
	return jsonx.Marshal(body)
}
