package run

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// execution is the execution of one run. The agent is called in a separate
// goroutine, so that deltas are flushed and cancellations noticed while it is
// silent; everything else happens in the goroutine of produce.
type execution struct {
	*Worker
	ref   Ref
	agent string
	log   *slog.Logger
	pace  Pace

	calls     sync.WaitGroup
	outputs   chan Output              // unbuffered: an emitted output has been received
	item      *stream                  // in progress, or nil
	items     int                      // that were begun or appended as whole events
	said      map[string]session.Event // by id, what lost workers had stored
	heartbeat heartbeat
	started   time.Time
}

func newExecution(w *Worker, ref Ref, agent string) *execution {
	pace := w.Pace.withDefaults()
	return &execution{
		Worker: w, ref: ref, agent: agent, pace: pace,
		log:       w.Log.With("agent", agent),
		outputs:   make(chan Output),
		heartbeat: newHeartbeat(pace),
		started:   time.Now(),
	}
}

// produce calls the agent and stores its output. It returns nil once the agent is
// done; otherwise the agent has been stopped, but may not have returned yet.
func (x *execution) produce(ctx context.Context) error {
	calling, stop := x.withReserve(ctx)
	defer stop()
	agent, ok := x.Agents.Agent(x.agent)
	if !ok {
		return fail(CodeUnknown, "no agent of that name is configured")
	}
	var req Request
	err := retryBusy(calling, func() (err error) {
		req, err = x.request(calling, x.ref, x.agent, LimitOf(agent))
		return err
	})
	switch {
	case calling.Err() != nil:
		return context.Cause(calling)
	case err != nil:
		return x.failureOf(ctx, err)
	}
	x.remember(req.Said)
	ended := make(chan error, 1)
	x.calls.Go(func() { ended <- x.call(x.keeping(calling, req.LogID), agent, req) })
	return x.storeOutputs(ctx, calling, ended)
}

// withReserve returns a context that ends while there is still time to end the run.
func (x *execution) withReserve(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, deadline.Add(-x.pace.Reserve), errOutOfTime)
}

// call calls the agent. A panic in it fails only this run.
func (x *execution) call(ctx context.Context, agent Agent, req Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			x.log.ErrorContext(ctx, "the agent's client panicked", "panic", p, "stack", string(debug.Stack()))
			err = fail(CodeAgent, "the agent could not be called")
		}
	}()
	began := time.Now()
	first := sync.OnceFunc(func() { metrics.Took(ctx, metrics.TimeToFirstContent, time.Since(began)) })
	return agent.Run(ctx, req, func(out Output) error {
		if out.Item == nil {
			first()
		}
		select {
		case x.outputs <- out:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// storeOutputs stores the agent's outputs until the agent is done or has to stop.
func (x *execution) storeOutputs(ctx, calling context.Context, ended <-chan error) error {
	for {
		var err error
		select {
		case out := <-x.outputs:
			err = x.store(ctx, out)
		case <-x.item.due():
			err = x.flush(ctx)
		case <-x.heartbeat.timer.C:
			err = x.keepAlive(ctx)
		case err := <-ended:
			if err != nil && calling.Err() != nil {
				err = context.Cause(calling)
			}
			return err
		case <-calling.Done():
			return context.Cause(calling)
		}
		if err != nil {
			return err
		}
	}
}

// end ends the run: it fails if there is an error, and the output so far stays. A
// final run is not ended again.
func (x *execution) end(ctx context.Context, failed error) error {
	if failed == nil {
		failed = x.complete(ctx)
	}
	if failed != nil && !errors.Is(failed, errRunEnded) {
		failed = x.flushRemainder(ctx, failed)
	}
	if errors.Is(failed, errRunEnded) {
		metrics.Count(ctx, metrics.RunsCut, 1)
		x.log.InfoContext(ctx, "the run ended before its agent was done", "items", x.items)
		return nil
	}
	status, problem := Completed, (*Problem)(nil)
	if failed != nil {
		status, problem = Failed, problemOf(failed)
	}
	return x.storeEnd(ctx, status, problem, failed)
}
