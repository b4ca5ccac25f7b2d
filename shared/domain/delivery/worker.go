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

// Worker brings deliveries.
type Worker struct {
	Builders map[Kind]MessageBuilder
	Actors   map[Kind]Actor // of the kinds that are not sent anything
	Poster   Poster
	Retries  RetryPolicy
	Now      func() time.Time
	Jitter   func() float64 // from 0 to 1
	// Limit is how long a target may take to answer, 0 for as long as Poster waits.
	Limit time.Duration
	Log   *slog.Logger
}

// Outcome is what became of a try, for a AttemptObserver.
type Outcome struct {
	Result
	Try   Try
	Began time.Time
	Took  time.Duration
	// URL is where the last message went to, "" where none was made; Status is what
	// was answered, 0 where nothing was.
	URL    string
	Status int
	// Err is ErrNothing or ErrRefused where that is why.
	Err error
}

// Deliver tries to bring a delivery. It is brought at least once: where an
// answer is lost, or not all of its messages arrive, all are sent again.
// A panic is an error of the moment.
func (c *Worker) Deliver(ctx context.Context, d Delivery, try Try) (result Result) {
	ctx = logs.With(ctx, slog.String(logs.SessionID, d.Event.SessionID), slog.String(logs.RunID, d.Event.RunID))
	log := c.Log.With("event", d.Event.ID, "type", string(d.Event.Type), "delivery", d.ID(), "try", try.Number)
	defer func() {
		if v := recover(); v != nil {
			log.ErrorContext(ctx, "a delivery made its maker panic", "panic", fmt.Sprint(v))
			result = c.later(ctx, log, try, 0, "the message cannot be made")
		}
	}()
	if actor, ok := c.Actors[d.Target.Kind]; ok {
		return c.act(ctx, log, actor, d, try)
	}
	builder, ok := c.Builders[d.Target.Kind]
	if !ok {
		return c.giveUp(ctx, log, "nobody makes messages of kind "+string(d.Target.Kind))
	}
	o := Outcome{Try: try, Began: c.Now()}
	o.Result = c.try(ctx, log, builder, d, &o)
	o.Took = c.Now().Sub(o.Began)
	if w, ok := builder.(AttemptObserver); ok {
		if err := w.OnAttempt(ctx, d, o); err != nil {
			log.ErrorContext(ctx, "what became of a try is not noted", "error", err)
		}
	}
	return o.Result
}

// try makes the messages of a delivery and sends them.
func (c *Worker) try(ctx context.Context, log *slog.Logger, builder MessageBuilder, d Delivery, o *Outcome) Result {
	messages, err := builder.Messages(ctx, d)
	if errors.Is(err, ErrNothing) {
		log.InfoContext(ctx, "nothing to deliver any more")
		o.Err = err
		return nothing(err)
	}
	if err != nil {
		log.ErrorContext(ctx, "a message cannot be made", "error", err)
		return c.later(ctx, log, o.Try, 0, "the message cannot be made")
	}
	for _, m := range messages {
		answer, err := c.post(ctx, m)
		o.URL, o.Status = m.URL, answer.Status
		switch {
		case errors.Is(err, ErrRefused):
			o.Err = err
			return c.giveUp(ctx, log, err.Error())
		case err != nil:
			return c.later(ctx, log, o.Try, 0, reported(err))
		case answer.Status == statusGone:
			return c.drop(ctx, log, builder, d.Target, m.URL, o.Try)
		case answer.Status < 200 || answer.Status > 299:
			return c.later(ctx, log, o.Try, answer.RetryAfter, fmt.Sprintf("the target answers %d", answer.Status))
		}
	}
	metrics.Count(ctx, metrics.Deliveries, 1)
	log.DebugContext(ctx, "delivered")
	return Result{}
}

func (c *Worker) post(ctx context.Context, m Message) (Answer, error) {
	if c.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Limit)
		defer cancel()
	}
	return c.Poster.Post(ctx, m)
}

// statusGone is how a target says that it wants no more.
const statusGone = 410

func (c *Worker) drop(ctx context.Context, log *slog.Logger, builder MessageBuilder, t Target, url string, try Try) Result {
	if err := builder.Drop(ctx, t, url); err != nil {
		log.ErrorContext(ctx, "a target that is gone cannot be removed", "error", err)
		return c.later(ctx, log, try, 0, "the target is gone, and cannot be removed")
	}
	log.InfoContext(ctx, "the target is gone for good")
	return Result{Nothing: true}
}

// nothing is the result of an ErrNothing.
func nothing(err error) Result { return Result{Nothing: true, Gone: errors.Is(err, ErrGone)} }

func (c *Worker) later(ctx context.Context, log *slog.Logger, try Try, least time.Duration, reason string) Result {
	failures := try.Failures
	if failures == 0 {
		failures = try.Number
	}
	wait := c.Retries.wait(failures, c.Jitter(), least)
	if c.Now().Add(wait).Sub(try.Queued) > c.Retries.Within {
		return c.giveUp(ctx, log, reason)
	}
	metrics.Count(ctx, metrics.DeliveriesDelayed, 1)
	log.InfoContext(ctx, "not delivered yet", "reason", reason, "wait", wait.String())
	return Result{State: Later, Wait: wait, Reason: reason}
}

func (c *Worker) giveUp(ctx context.Context, log *slog.Logger, reason string) Result {
	metrics.Count(ctx, metrics.DeliveriesGivenUp, 1)
	log.WarnContext(ctx, "a delivery is given up", "reason", reason)
	return Result{State: GivenUp, Reason: reason}
}

// reported is an error of the network without the address, which may hold secrets.
func reported(err error) string {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "the target does not answer in time"
	}
	return "the target cannot be reached"
}
