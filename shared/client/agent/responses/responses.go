// Package responses calls models with OpenAI's Responses API.
package responses

import (
	"context"
	"encoding/json"
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

// Agent is an agent backed by a model with OpenAI's Responses API. Each request
// contains the whole history, and the provider is asked to store nothing, so rewinds
// and forks need no counterpart there.
type Agent struct {
	endpoint *endpoint.Endpoint
	chat     agentconfig.Chat
}

// New returns the agent of a model; "/responses" is added to the endpoint's
// URL. The reasoning of a Chat does not apply.
func New(e agentconfig.Endpoint, c agentconfig.Chat) *Agent {
	if full, err := url.JoinPath(e.URL, "responses"); err == nil { // an invalid URL fails when it is called
		e.URL = full
	}
	a := &Agent{endpoint.New(e), c}
	a.endpoint.Explain = provider.Explain
	return a
}

// Close closes the idle connections.
func (a *Agent) Close() { a.endpoint.Close() }

// Run implements run.Agent. The whole response is one item.
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

// encryptedReasoning asks for the model's reasoning in a form that can be sent back.
const encryptedReasoning = "reasoning.encrypted_content"

func (a *Agent) request(req run.Request) ([]byte, error) {
	body := map[string]any{"include": []string{encryptedReasoning}}
	for name, value := range a.chat.Parameters {
		body[name] = value
	}
	body["model"] = a.chat.Model
	body["input"] = inputOf(a.chat.Model, req)
	body["stream"] = true
	body["store"] = false
	if instructions := transcript.WithNotes(a.chat.System, req); instructions != "" {
		body["instructions"] = instructions
	}
	if tools := provider.Tools(a.chat.Tools, req, function); len(tools) > 0 {
		body["tools"] = tools
	}
	provider.SetParameters(body, agentconfig.KindResponses, a.chat, req.FrontEnd(), asGiven)
	return jsonx.Marshal(body)
}

// function returns a front end's tool in the form of the Responses API.
func function(t run.FrontEndTool) any {
	return map[string]any{
		"type": "function", "name": t.Name, "description": t.Description, "parameters": t.Parameters,
		"strict": t.Strict != nil && *t.Strict,
	}
}

// asGiven returns a front end's parameter, which has the API's form already.
func asGiven(_ string, value json.RawMessage) any { return value }
