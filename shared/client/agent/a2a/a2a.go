// Package a2a calls agents that have a server of the Agent2Agent protocol.
package a2a

import (
	"context"
	"errors"
	"net/http"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
)

// Agent is an agent with a server of the Agent2Agent protocol, version 1.0 or 0.3, over
// JSON-RPC. Such an agent keeps the conversation itself: a run tells it what is new
// since its last one, in the same context, unless a rewind came between. Otherwise a
// new context begins with the whole history.
type Agent struct {
	endpoint *endpoint.Endpoint
	header   http.Header // configured; may hold secrets
	cards    *cards
}

// New returns the agent at an endpoint. card is the address of its card, on the
// same host; "" for the well-known one below the endpoint's URL.
func New(e agentconfig.Endpoint, card string) *Agent {
	a := &Agent{endpoint: endpoint.New(e), header: e.Header.Clone()}
	a.cards = &cards{endpoint: a.endpoint, address: card}
	return a
}

// Close closes the idle connections.
func (a *Agent) Close() { a.endpoint.Close() }

// Run implements run.Agent. If it ends before the agent's task has, it cancels that.
func (a *Agent) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	depth := depthOf(req)
	if depth >= maxDepth {
		return endpoint.NewError(endpoint.CodeLoop, "more than %d agents call each other in a row", maxDepth)
	}
	peer, err := a.cards.get(ctx)
	if err != nil {
		return err
	}
	c := newCall(a, peer, req, emit)
	err = c.run(ctx, depth+1)
	if forgotten(err) && c.past.found && c.items.out.Items() == 0 {
		c = newCall(a, peer, req, emit)
		c.past, c.resumed, c.moved = past{news: req.Events}, false, false
		c.taskID, c.contextID = "", ""
		err = c.run(ctx, depth+1)
	}
	if err != nil {
		c.giveUp(ctx, err)
	}
	return err
}

// forgotten reports whether an agent does not know the task any more.
func forgotten(err error) bool {
	var failed rpcError
	return errors.As(err, &failed) && failed.Code == rpcTaskNotFound
}
