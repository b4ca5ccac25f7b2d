package agent

import (
	"context"
	"errors"
	"time"

	"github.com/rethread/rethread/shared/base/sleep"
)

const (
	// maxSubscribes is how often in a row a dropped stream is resumed without anything
	// new; after that the task is asked for.
	maxSubscribes = 3
	// maxStale is how often a task that was continued may still show its question.
	maxStale = 40
	// pollDoublings bounds the wait between two questions for a task: 250 ms doubled
	// three times.
	pollDoublings = 3
	// cancelTime bounds the request that cancels a task.
	cancelTime = 3 * time.Second
)

// canFollow reports whether the task goes on although its stream has ended.
func (c *a2aCall) canFollow(err error) bool {
	var failed *Error
	return c.taskID != "" && errors.As(err, &failed) && (failed.Code == CodeEndedEarly || failed.Code == CodeUnreachable)
}

// follow waits until the task is settled: by its stream, or else by asking for it.
func (c *a2aCall) follow(ctx context.Context) error {
	if c.taskID == "" && !c.settled() {
		return c.malformed("there was neither a task nor a message")
	}
	first := c.agent.endpoint.timeouts.Backoff
	for idle := 0; c.peer.streaming && !c.settled() && idle < maxSubscribes; {
		before := c.updates
		err := c.call(ctx, a2aSubscribe, map[string]any{"id": c.taskID}, c.untilSettled)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isRPCError(err):
			idle = maxSubscribes // it cannot be subscribed to, or is over
			continue
		case err != nil && !c.canFollow(err):
			return err
		}
		if idle++; c.updates > before+1 { // more than the task as it was
			idle = 0
		}
		if c.settled() {
			return nil
		}
		if err := sleep.Retry(ctx, first, first<<pollDoublings, idle); err != nil {
			return err
		}
	}
	return c.poll(ctx)
}

// poll asks for the task until it is settled.
func (c *a2aCall) poll(ctx context.Context) error {
	first := c.agent.endpoint.timeouts.Backoff
	for polls := 0; !c.settled(); polls++ {
		if err := c.call(ctx, a2aGet, map[string]any{"id": c.taskID}, c.once); err != nil {
			return err
		}
		if c.settled() {
			break
		}
		if !c.moved && polls == maxStale {
			return newError(CodeProtocol, "the agent did not continue its task")
		}
		if err := sleep.For(ctx, first<<min(polls, pollDoublings)); err != nil {
			return err
		}
	}
	return nil
}

// once takes the only result of a request.
func (c *a2aCall) once(r a2aResult) error {
	if err := c.take(r); err != nil {
		return err
	}
	return errStop
}

func isRPCError(err error) bool {
	var failed rpcError
	return errors.As(err, &failed)
}

// giveUp cancels the task of a run that has ended before it, and has the card read
// again if the agent refused to be spoken to like this.
func (c *a2aCall) giveUp(ctx context.Context, err error) {
	var failed *Error
	if errors.As(err, &failed) && (failed.Code == CodeA2A || failed.Code == CodeRefused) {
		c.agent.cards.forget()
	}
	if c.taskID == "" || c.settled() {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	_ = c.call(ctx, a2aCancel, map[string]any{"id": c.taskID}, func(a2aResult) error { return errStop }) // it may be over
}
