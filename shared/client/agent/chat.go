package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// Chat says which model answers, and how it is asked.
type Chat struct {
	Model  string
	System string          // the first message, if not empty
	Tools  json.RawMessage // as the API takes them; the session's user answers their calls
	// Parameters are further members of the request, such as temperature.
	Parameters map[string]json.RawMessage
}

// ChatCompletions is an agent made of a model behind the chat completions API
// of OpenAI, which most others speak too.
type ChatCompletions struct {
	endpoint *endpoint
	chat     Chat
}

// NewChatCompletions is the agent of a model; the endpoint's URL is the base
// to which "/chat/completions" is added.
func NewChatCompletions(e Endpoint, c Chat) *ChatCompletions {
	if full, err := url.JoinPath(e.URL, "chat", "completions"); err == nil { // what is no URL fails when it is called
		e.URL = full
	}
	return &ChatCompletions{newEndpoint(e), c}
}

// Close closes the connections that are kept for later calls.
func (a *ChatCompletions) Close() { a.endpoint.close() }

// Retention is that of the agent's sessions in seconds, 0 where it has none.
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
