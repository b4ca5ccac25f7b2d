package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// store stores one output, or adds it to the pending ones.
func (x *execution) store(ctx context.Context, out Output) error {
	switch {
	case out.Item != nil:
		if err := x.complete(ctx); err != nil {
			return err
		}
		x.item = newStream(x.freshItem(*out.Item), x.pace)
		return x.count()
	case out.Delta != nil:
		return x.delta(ctx, *out.Delta)
	case out.Event != nil:
		return x.event(ctx, x.freshEvent(*out.Event), out.Completes)
	}
	return fail(CodeAgent, "the agent produced nothing that is known")
}

func (x *execution) count() error {
	if x.items++; x.items > MaxItems {
		return fail(CodeLimit, fmt.Sprintf("the agent produced more than %d items", MaxItems))
	}
	return nil
}

func (x *execution) delta(ctx context.Context, d content.Delta) error {
	if x.item == nil {
		return fail(CodeAgent, "the agent produced a piece of no item")
	}
	if err := x.item.add(d); err != nil {
		return err
	}
	if x.item.full() {
		return x.flush(ctx)
	}
	return nil
}

// flush stores the pending deltas. After a failed flush it is unknown what is
// stored of the item, so the item accepts no more deltas.
func (x *execution) flush(ctx context.Context) error {
	s := x.item
	x.item = nil
	if err := x.begin(ctx, s); err != nil {
		return err
	}
	rest := content.Coalesce(s.waiting)
	err := x.write(ctx, func() (err error) {
		rest, err = s.stored.Flush(ctx, rest)
		return err
	})
	if err != nil {
		return err
	}
	s.flushed()
	x.item = s
	return nil
}

// begin begins an item in the store, once it has a delta.
func (x *execution) begin(ctx context.Context, s *stream) error {
	if s.stored != nil {
		return nil
	}
	return x.write(ctx, func() (err error) {
		s.stored, err = x.Store.BeginItem(ctx, x.ref, s.begun(x.ref))
		return err
	})
}

// complete completes the item in progress from its deltas. An item that never got a
// delta leaves nothing behind.
func (x *execution) complete(ctx context.Context) error {
	if x.item == nil || x.item.stored == nil {
		x.item = nil
		return nil
	}
	content, err := x.item.content.Finish()
	if err != nil {
		return failBecause(CodeContent, "an item of the agent's is not whole: "+err.Error(), err)
	}
	return x.event(ctx, session.Event{
		Author: x.item.start.Author, Fields: map[string]json.RawMessage{"content": content},
	}, true)
}

// event stores a whole event. Pending deltas are dropped if the event replaces
// their item.
func (x *execution) event(ctx context.Context, e session.Event, completes bool) error {
	e.InvocationID = x.ref.RunID
	e = e.Continued(x.ref.Continuation)
	s := x.item
	switch {
	case e.Size() > session.PageBytes:
		return fail(CodeLimit, "the agent produced an event that is too large to be read again")
	case !completes:
		if err := x.count(); err != nil {
			return err
		}
	case s == nil:
		return fail(CodeAgent, "the agent completed no item")
	default:
		return x.replace(ctx, s, e)
	}
	return x.append(ctx, e)
}

// replace stores an event in place of the item in progress.
func (x *execution) replace(ctx context.Context, s *stream, e session.Event) error {
	var err error
	if e.ID = s.start.ID; s.stored == nil {
		err = x.append(ctx, e)
	} else {
		e.ID = s.stored.ID()
		err = x.write(ctx, func() error {
			_, err := s.stored.Complete(ctx, e)
			return err
		})
	}
	if err == nil {
		x.item = nil
	}
	return err
}

func (x *execution) append(ctx context.Context, e session.Event) error {
	return x.write(ctx, func() error {
		_, err := x.Store.AppendEvents(ctx, x.ref, []session.Event{e})
		return err
	})
}

// flushRemainder stores the pending deltas of the item in progress before the run
// fails.
func (x *execution) flushRemainder(ctx context.Context, failed error) error {
	if x.item == nil || len(x.item.waiting) == 0 {
		return failed
	}
	err := x.flush(ctx)
	if errors.Is(err, errRunEnded) {
		return errRunEnded
	}
	if err != nil {
		x.log.WarnContext(ctx, "the last deltas of an item are lost", "error", err)
	}
	return failed
}

// storeEnd stores the run's end.
func (x *execution) storeEnd(ctx context.Context, status Status, problem *Problem, failed error) error {
	err := retryBusy(ctx, func() error {
		_, err := x.Store.End(ctx, x.ref, status, problem)
		return err
	})
	if err != nil && !isDeleted(err) && !errors.Is(err, fault.Of(fault.Conflict)) {
		x.log.ErrorContext(ctx, "the run's end could not be stored", "status", string(status), "error", err)
		return fmt.Errorf("end run %s: %w", x.ref.RunID, err)
	}
	metrics.Took(ctx, metrics.RunDuration, time.Since(x.started))
	log := x.log.With("items", x.items, "milliseconds", time.Since(x.started).Milliseconds())
	switch {
	case err != nil:
		metrics.Count(ctx, metrics.RunsCut, 1)
		log.InfoContext(ctx, "the run had already ended", "reason", err.Error())
	case failed != nil:
		metrics.Count(ctx, metrics.RunsFailed, 1)
		log.WarnContext(ctx, "the run failed", "code", problem.Code, "error", logText(failed))
		log.Log(ctx, x.agentErrorLevel(), "why the run failed, in the agent's words", "error", failed)
	default:
		metrics.Count(ctx, metrics.RunsCompleted, 1)
		log.InfoContext(ctx, "the run is complete")
	}
	return nil
}

func (w *Worker) agentErrorLevel() slog.Level {
	if w.LogAgentErrors {
		return slog.LevelInfo
	}
	return slog.LevelDebug
}
