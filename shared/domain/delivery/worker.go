package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// Worker carries out deliveries.
type Worker struct {
	Builders map[Kind]MessageBuilder
	Actors   map[Kind]Actor // of the kinds that send no messages
	Poster   Poster
	Retries  RetryPolicy
	Now      func() time.Time
	Jitter   func() float64 // from 0 to 1
	// Limit is how long a target may take to answer; 0 leaves it to Poster.
	Limit time.Duration
	Log   *slog.Logger
}

// Outcome is the outcome of an attempt, for an AttemptObserver.
type Outcome struct {
	Result
	Try   Try
	Began time.Time
	Took  time.Duration
	// URL is the address of the last message, "" if none was built; Status is the
	// response's status, 0 without a response.
	URL    string
	Status int
	// Err is ErrNothing or ErrRefused if one of them is the reason.
	Err error
}

// Deliver tries a delivery. Messages arrive at least once: if a response is lost,
// or not all messages arrive, all are sent again. A panic counts as a temporary
// error.
func (w *Worker) Deliver(ctx context.Context, d Delivery, try Try) (result Result) {
	ctx = logs.With(ctx, slog.String(logs.SessionID, d.Event.SessionID), slog.String(logs.RunID, d.Event.RunID))
	log := w.Log.With("event", d.Event.ID, "type", string(d.Event.Type), "delivery", d.ID(), "try", try.Number)
	defer func() {
		if v := recover(); v != nil {
			log.ErrorContext(ctx, "a delivery panicked", "panic", fmt.Sprint(v))
			result = w.later(ctx, log, try, 0, "the message cannot be made")
		}
	}()
	if actor, ok := w.Actors[d.Target.Kind]; ok {
		return w.act(ctx, log, actor, d, try)
	}
	builder, ok := w.Builders[d.Target.Kind]
	if !ok {
		return w.abandon(ctx, log, "there is no message builder for kind "+string(d.Target.Kind))
	}
	o := Outcome{Try: try, Began: w.Now()}
	o.Result = w.try(ctx, log, builder, d, &o)
	o.Took = w.Now().Sub(o.Began)
	if observer, ok := builder.(AttemptObserver); ok {
		if err := observer.OnAttempt(ctx, d, o); err != nil {
			log.ErrorContext(ctx, "the outcome of an attempt is not recorded", "error", err)
		}
	}
	return o.Result
}

// try builds the messages of a delivery and sends them.
func (w *Worker) try(ctx context.Context, log *slog.Logger, builder MessageBuilder, d Delivery, o *Outcome) Result {
	messages, err := builder.Messages(ctx, d)
	if errors.Is(err, ErrNothing) {
		log.InfoContext(ctx, "nothing is left to deliver")
		o.Err = err
		return nothing(err)
	}
	if err != nil {
		log.ErrorContext(ctx, "a message cannot be built", "error", err)
		return w.later(ctx, log, o.Try, 0, "the message cannot be made")
	}
	for _, m := range messages {
		answer, err := w.post(ctx, m)
		o.URL, o.Status = m.URL, answer.Status
		switch {
		case errors.Is(err, ErrRefused):
			o.Err = err
			return w.abandon(ctx, log, err.Error())
		case err != nil:
			return w.later(ctx, log, o.Try, 0, reported(err))
		case answer.Status == statusGone:
			return w.drop(ctx, log, builder, d.Target, m.URL, o.Try)
		case answer.Status < 200 || answer.Status > 299:
			return w.later(ctx, log, o.Try, answer.RetryAfter, fmt.Sprintf("the target answers %d", answer.Status))
		}
	}
	metrics.Count(ctx, metrics.Deliveries, 1)
	log.DebugContext(ctx, "delivered")
	return Result{}
}

func (w *Worker) post(ctx context.Context, m Message) (Answer, error) {
	if w.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.Limit)
		defer cancel()
	}
	return w.Poster.Post(ctx, m)
}

// statusGone is the status by which a target refuses further deliveries.
const statusGone = 410

func (w *Worker) drop(ctx context.Context, log *slog.Logger, builder MessageBuilder, t Target, url string, try Try) Result {
	if err := builder.Drop(ctx, t, url); err != nil {
		log.ErrorContext(ctx, "a deleted target cannot be removed", "error", err)
		return w.later(ctx, log, try, 0, "the target is gone, and cannot be removed")
	}
	log.InfoContext(ctx, "the target is gone for good")
	return Result{Nothing: true}
}

// nothing returns the result for an ErrNothing.
func nothing(err error) Result { return Result{Nothing: true, Gone: errors.Is(err, ErrGone)} }

func (w *Worker) later(ctx context.Context, log *slog.Logger, try Try, least time.Duration, reason string) Result {
	failures := try.Failures
	if failures == 0 {
		failures = try.Number
	}
	wait := w.Retries.wait(failures, w.Jitter(), least)
	if w.Now().Add(wait).Sub(try.Queued) > w.Retries.Within {
		return w.abandon(ctx, log, reason)
	}
	metrics.Count(ctx, metrics.DeliveriesDelayed, 1)
	log.InfoContext(ctx, "not delivered yet", "reason", reason, "wait", wait.String())
	return Result{State: Later, Wait: wait, Reason: reason}
}

func (w *Worker) abandon(ctx context.Context, log *slog.Logger, reason string) Result {
	metrics.Count(ctx, metrics.DeliveriesGivenUp, 1)
	log.WarnContext(ctx, "a delivery is abandoned", "reason", reason)
	return Result{State: Abandoned, Reason: reason}
}

// reported describes a network error without the address, which may contain
// secrets.
func reported(err error) string {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "the target does not answer in time"
	}
	return "the target cannot be reached"
}
