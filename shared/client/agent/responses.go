package agent

import (
	"context"
	"fmt"
	"net/url"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// Responses is an agent backed by a model with OpenAI's Responses API. Each request
// contains the whole history, and the provider is asked to store nothing, so rewinds
// and forks need no counterpart there.
type Responses struct {
	configured
	chat Chat
}

// NewResponses returns the agent of a model; "/responses" is added to the endpoint's
// URL. The reasoning of a Chat does not apply.
func NewResponses(e Endpoint, c Chat) *Responses {
	if full, err := url.JoinPath(e.URL, "responses"); err == nil { // an invalid URL fails when it is called
		e.URL = full
	}
	a := &Responses{configured{newEndpoint(e)}, c}
	a.endpoint.explain = explainChat
	return a
}

// Run implements run.Agent. The whole response is one item.
func (a *Responses) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	if isAnswered(req) {
		return nil
	}
	body, err := a.request(req)
	if err != nil {
		return fmt.Errorf("make the request of run %s: %w", req.RunID, err)
	}
	out := newResponseReader(newProducer(req, emit), a.chat.Model, a.endpoint.redact)
	return a.endpoint.ask(ctx, body, out.readStream, out.readWhole)
}

// encryptedReasoning asks for the model's reasoning in a form that can be sent back.
const encryptedReasoning = "reasoning.encrypted_content"

func (a *Responses) request(req run.Request) ([]byte, error) {
	input, err := inputOf(a.chat.Model, req)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"include": []string{encryptedReasoning}}
	for name, value := range a.chat.Parameters {
		body[name] = value
	}
	body["model"] = a.chat.Model
	body["input"] = input
	body["stream"] = true
	body["store"] = false
	if instructions := withNotes(a.chat.System, req); instructions != "" {
		body["instructions"] = instructions
	}
	if len(a.chat.Tools) > 0 {
		body["tools"] = a.chat.Tools
	}
	return jsonx.Marshal(body)
}
