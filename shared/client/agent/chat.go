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
	System string          // the first message, if not empty
	Tools  json.RawMessage // in the API's form; the session's user answers the calls
	// Parameters are additional members of the request, such as temperature.
	Parameters map[string]json.RawMessage
}

// ChatCompletions is an agent backed by a model with OpenAI's chat completions API,
// which most other providers support too.
type ChatCompletions struct {
	endpoint *endpoint
	chat     Chat
}

// NewChatCompletions returns the agent of a model; "/chat/completions" is added to
// the endpoint's URL.
func NewChatCompletions(e Endpoint, c Chat) *ChatCompletions {
	if full, err := url.JoinPath(e.URL, "chat", "completions"); err == nil { // an invalid URL fails when it is called
		e.URL = full
	}
	return &ChatCompletions{newEndpoint(e), c}
}

// Close closes the idle connections.
func (a *ChatCompletions) Close() { a.endpoint.close() }

// Retention returns the retention of the agent's sessions in seconds; 0 if it has
// none.
func (a *ChatCompletions) Retention() int64 { return a.endpoint.retention }

// Run implements run.Agent. The whole answer is one item.
func (a *ChatCompletions) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	body, err := a.request(req)
	if err != nil {
		return fmt.Errorf("make the request of run %s: %w", req.RunID, err)
	}
	out := newChatReader(newProducer(req, emit))
	return a.endpoint.ask(ctx, body, out.readStream, out.readWhole)
}

func (a *ChatCompletions) request(req run.Request) ([]byte, error) {
	messages, err := messagesOf(a.chat.System, req.Events)
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
