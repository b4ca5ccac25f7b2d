package rethread

import (
	"context"
	"encoding/json"
	"strings"
)

// A2A has tasks in the form of the Agent2Agent protocol 0.3, and what its clients read
// first. For the protocol itself use one of its SDKs. Bodies are JSON of that protocol.
type A2A struct{ resource }

// Tasks returns the tasks that a session shows, oldest first.
func (a *A2A) Tasks(ctx context.Context, sessionID string, opts ...Option) ([]json.RawMessage, error) {
	return data[[]json.RawMessage](ctx, a.resource, a.outside(get("/api/sessions/{}/tasks", sessionID)), opts)
}

// Task returns a task.
func (a *A2A) Task(ctx context.Context, id string, opts ...Option) (json.RawMessage, error) {
	return data[json.RawMessage](ctx, a.resource, a.outside(get("/api/tasks/{}", id)), opts)
}

// SaveTask creates or replaces a task. Its id makes a repeat harmless.
func (a *A2A) SaveTask(ctx context.Context, task json.RawMessage, opts ...Option) (json.RawMessage, error) {
	return data[json.RawMessage](ctx, a.resource, a.outside(post(repeatSafe, task, "/api/tasks")), opts)
}

// DeleteTask deletes a task.
func (a *A2A) DeleteTask(ctx context.Context, id string, opts ...Option) error {
	return a.done(ctx, a.outside(remove("/api/tasks/{}", id)), opts)
}

// Card returns the card of an agent; "" means the default one.
func (a *A2A) Card(ctx context.Context, agent string, opts ...Option) (json.RawMessage, error) {
	const card = "/.well-known/agent-card.json"
	c := get(card)
	if agent != "" {
		c = get("/a2a/{}"+card, strings.Replace(agent, "/", "~", 1)) // as agents with a namespace are addressed
	}
	return body[json.RawMessage](ctx, a.resource, a.streamed(c), opts)
}

// Keys returns the public keys that sign push notifications, as a JSON Web Key Set.
func (a *A2A) Keys(ctx context.Context, opts ...Option) (json.RawMessage, error) {
	return body[json.RawMessage](ctx, a.resource, a.streamed(get("/a2a/.well-known/jwks.json")), opts)
}

// outside moves a call to the server's address without the version of the API.
func (a *A2A) outside(c call) call {
	c.base = baseRoot
	return c
}

// streamed moves a call to the address of the agents without the version of the API.
func (a *A2A) streamed(c call) call {
	c.base = baseStreamRoot
	return c
}
