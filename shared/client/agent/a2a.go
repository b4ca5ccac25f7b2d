package agent

import (
	"context"
	"errors"

	"github.com/rethread/rethread/shared/domain/run"
)

// A2A is an agent with a server of the Agent2Agent protocol, version 1.0 or 0.3, over
// JSON-RPC. Such an agent keeps the conversation itself: a run tells it what is new
// since its last one, in the same context, unless a rewind came between. Otherwise a
// new context begins with the whole history.
type A2A struct {
	configured
	cards *a2aCards
}

// NewA2A returns the agent at an endpoint. card is the address of its card, on the
// same host; "" for the well-known one below the endpoint's URL.
func NewA2A(e Endpoint, card string) *A2A {
	a := &A2A{configured: configured{newEndpoint(e)}}
	a.cards = &a2aCards{endpoint: a.endpoint, address: card}
	return a
}

// card reads the address of an agent's card.
func (r *reader) card(agent string) string {
	address := r.text("card")
	if address != "" && !sameOrigin(address, agent) {
		r.fail("card", "must be a URL with the scheme and host of url")
	}
	return address
}

// Run implements run.Agent. If it ends before the agent's task has, it cancels that.
func (a *A2A) Run(ctx context.Context, req run.Request, emit func(run.Output) error) error {
	depth := depthOf(req)
	if depth >= maxDepth {
		return newError(CodeLoop, "more than %d agents call each other in a row", maxDepth)
	}
	peer, err := a.cards.get(ctx)
	if err != nil {
		return err
	}
	c := newA2ACall(a, peer, req, emit)
	err = c.run(ctx, depth+1)
	if forgotten(err) && c.past.found && c.items.out.items == 0 {
		c = newA2ACall(a, peer, req, emit)
		c.past, c.resumed, c.moved = a2aPast{news: req.Events}, false, false
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
