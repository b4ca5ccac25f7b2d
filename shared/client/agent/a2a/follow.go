package a2a

import (
	"context"
	"errors"
	"time"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
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
func (c *call) canFollow(err error) bool {
	var failed *endpoint.Error
	return c.taskID != "" && errors.As(err, &failed) && (failed.Code == endpoint.CodeEndedEarly || failed.Code == endpoint.CodeUnreachable)
}

// follow waits until the task is settled: by its stream, or else by asking for it.
func (c *call) follow(ctx context.Context) error {
	if c.taskID == "" && !c.settled() {
		return c.malformed("there was neither a task nor a message")
	}
	first := c.agent.endpoint.Backoff()
	for idle := 0; c.peer.streaming && !c.settled() && idle < maxSubscribes; {
		before := c.updates
		err := c.call(ctx, methodSubscribe, map[string]any{"id": c.taskID}, c.untilSettled)
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
		if err := retry.SleepAfter(ctx, first, first<<pollDoublings, idle); err != nil {
			return err
		}
	}
	return c.poll(ctx)
}

// poll asks for the task until it is settled.
func (c *call) poll(ctx context.Context) error {
	first := c.agent.endpoint.Backoff()
	for polls := 0; !c.settled(); polls++ {
		if err := c.call(ctx, methodGet, map[string]any{"id": c.taskID}, c.once); err != nil {
			return err
		}
		if c.settled() {
			break
		}
		if !c.moved && polls == maxStale {
			return endpoint.NewError(endpoint.CodeProtocol, "the agent did not continue its task")
		}
		if err := retry.Sleep(ctx, first<<min(polls, pollDoublings)); err != nil {
			return err
		}
	}
	return nil
}

// once takes the only result of a request.
func (c *call) once(r result) error {
	if err := c.take(r); err != nil {
		return err
	}
	return endpoint.ErrStop
}

func isRPCError(err error) bool {
	var failed rpcError
	return errors.As(err, &failed)
}

// giveUp cancels the task of a run that has ended before it, and has the card read
// again if the agent refused to be spoken to like this.
func (c *call) giveUp(ctx context.Context, err error) {
	var failed *endpoint.Error
	if errors.As(err, &failed) && (failed.Code == endpoint.CodeA2A || failed.Code == endpoint.CodeRefused) {
		c.agent.cards.forget()
	}
	if c.taskID == "" || c.settled() {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	_ = c.call(ctx, methodCancel, map[string]any{"id": c.taskID}, func(result) error { return endpoint.ErrStop }) // it may be over
}
