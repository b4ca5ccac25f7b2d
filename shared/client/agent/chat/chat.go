// Package chat calls models with OpenAI's chat completions API.
package chat

import (
	"context"
	"fmt"
	"net/url"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/output"
	"github.com/rethread/rethread/shared/client/agent/provider"
	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/run"
)

// Agent is an agent backed by a model with OpenAI's chat completions API,
// which most other providers support too.
type Agent struct {
	endpoint *endpoint.Endpoint
	chat     agentconfig.Chat
}

// New returns the agent of a model; "/chat/completions" is added to
// the endpoint's URL.
func New(e agentconfig.Endpoint, c agentconfig.Chat) *Agent {
	if full, err := url.JoinPath(e.URL, "chat", "completions"); err == nil { // an invalid URL fails when it is called
		e.URL = full
	}
	a := &Agent{endpoint.New(e), c}
	a.endpoint.Explain = provider.Explain
	return a
}

// Close closes the idle connections.
func (a *Agent) Close() { a.endpoint.Close() }

// Run implements run.Agent. The whole answer is one item.
func (a *Agent) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	if transcript.IsAnswered(req) {
		return nil
	}
	body, err := a.request(req)
	if err != nil {
		return fmt.Errorf("make the request of run %s: %w", req.RunID, err)
	}
	out := newReader(output.New(req, emit), a.chat.Model, a.endpoint.Redact)
	return a.endpoint.Ask(ctx, body, out.readStream, out.readWhole)
}

func (a *Agent) request(req run.Request) ([]byte, error) {
	body := map[string]any{}
	for name, value := range a.chat.Parameters {
		body[name] = value
	}
	body["model"] = a.chat.Model
	body["messages"] = messagesOf(a.chat, req)
	body["stream"] = true
	body["stream_options"] = map[string]bool{"include_usage": true}
	if tools := provider.Tools(a.chat.Tools, req, function); len(tools) > 0 {
		body["tools"] = tools
	}
	provider.SetParameters(body, agentconfig.KindChatCompletions, a.chat, req.FrontEnd(), form)
	return jsonx.Marshal(body)
}
