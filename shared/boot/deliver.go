package boot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/a2a"
	"github.com/rethread/rethread/shared/automation"
	"github.com/rethread/rethread/shared/delivery"
	"github.com/rethread/rethread/shared/dynamostore"
	"github.com/rethread/rethread/shared/httppost"
	"github.com/rethread/rethread/shared/outbound"
	"github.com/rethread/rethread/shared/push"
	"github.com/rethread/rethread/shared/signing"
	"github.com/rethread/rethread/shared/sqsqueue"
	"github.com/rethread/rethread/shared/tracing"
	"github.com/rethread/rethread/shared/webhook"
	"github.com/rethread/rethread/shared/webhook/standard"
)

// loopbackVariable names the environment variable that lets this machine be
// called; only the local host sets it.
const loopbackVariable = "OUTBOUND_ALLOW_LOOPBACK"

// DeliverHandler is what Lambda calls for messages of the queue of deliveries.
type DeliverHandler = func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// Waiting is what is done with messages that were not delivered.
type Waiting interface {
	Hide(ctx context.Context, receipt string, wait time.Duration) error
	GiveUp(ctx context.Context, a sqsqueue.Abandoned, group, id string) error
}

// StartDeliver runs the function that brings deliveries until Lambda stops it.
// DELIVERY_BACKOFF is the wait after a first failure, A2A_ISSUER the address
// that signatures name, whose keys are under it.
func StartDeliver() {
	start(func(d Deps) (any, error) {
		abandoned, issuer := os.Getenv(abandonedVariable), os.Getenv("A2A_ISSUER")
		if abandoned == "" || issuer == "" {
			return nil, fmt.Errorf("the environment variables %s and A2A_ISSUER must be set", abandonedVariable)
		}
		queue, err := d.deliveries(abandoned)
		if err != nil {
			return nil, err
		}
		pace := delivery.DefaultPace()
		if pace.First, err = duration("DELIVERY_BACKOFF", pace.First, time.Millisecond); err != nil {
			return nil, err
		}
		store := d.Store.With(dynamostore.WithSealing(dynamostore.Sealing{})) // logs are sealed for readers, and none waits here
		return Deliver(&delivery.Courier{
			Makers: map[delivery.Kind]delivery.Maker{
				push.Kind: &a2a.Notifier{
					Sessions: store, Runs: store, Links: store, Targets: store,
					Sign: signing.New(store, time.Now).Sign, Issuer: issuer, Now: time.Now, NewID: uuid.NewString,
				},
				webhook.Kind: &standard.Notifier{Webhooks: store, Now: time.Now},
			},
			Actors: map[delivery.Kind]delivery.Actor{automation.Kind: &automation.Actor{
				Store: store, Sessions: store, Runs: store, HasAgent: d.HasAgent,
				Hand: Dispatcher(lambda.NewFromConfig(d.AWS), os.Getenv(runnerVariable)),
			}},
			Poster: tracing.Poster{Poster: httppost.New(guard().Client(), time.Now)},
			Pace:   pace, Now: time.Now, Jitter: rand.Float64, Log: d.Log,
		}, queue, d.Log), nil
	})
}

// guard says where requests may go.
func guard() *outbound.Guard {
	return outbound.New(outbound.Options{AllowLoopback: os.Getenv(loopbackVariable) == "true"})
}

// Deliver brings the deliveries of messages, each group's in order: behind one
// that was not brought the rest of its group waits too.
func Deliver(c *delivery.Courier, q Waiting, log *slog.Logger) DeliverHandler {
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		ctx, cancel := timeToAnswer(ctx)
		defer cancel()
		response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		waits := map[string]time.Duration{} // by group
		for _, m := range event.Records {
			group := m.Attributes["MessageGroupId"]
			wait, behind := waits[group]
			if !behind {
				var err error
				if wait, err = deliver(ctx, c, q, m); err != nil {
					log.ErrorContext(ctx, "a message stays as it is", "message", m.MessageId, "error", err)
				}
				if wait == 0 && err == nil {
					continue
				}
				waits[group] = wait
			}
			hide(ctx, q, m, wait, log)
			response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
		return response, nil
	}
}

// deliver tries to bring one message's delivery; it is to come again after wait,
// or after an error when the queue sees fit.
func deliver(ctx context.Context, c *delivery.Courier, q Waiting, m events.SQSMessage) (wait time.Duration, err error) {
	defer func() {
		if v := recover(); v != nil {
			wait, err = 0, fmt.Errorf("panic: %v", v)
		}
	}()
	try, err := tryOf(m)
	if err != nil {
		return 0, err
	}
	var d delivery.Delivery
	if err := json.Unmarshal([]byte(m.Body), &d); err != nil {
		return 0, fmt.Errorf("decode a delivery: %w", err)
	}
	result := c.Deliver(ctx, d, try)
	switch result.State {
	case delivery.Later:
		return max(result.Wait, time.Nanosecond), nil
	case delivery.GivenUp:
		a := sqsqueue.Abandoned{Reason: result.Reason, Tries: try.Number, Body: json.RawMessage(m.Body)}
		return 0, q.GiveUp(ctx, a, d.Target.Group(), d.QueueID())
	case delivery.Done:
	}
	return 0, nil
}

// tryOf reads which try of a message this is.
func tryOf(m events.SQSMessage) (delivery.Try, error) {
	number, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	millis, err2 := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64)
	if err := errors.Join(err, err2); err != nil {
		return delivery.Try{}, fmt.Errorf("read the attributes of a message: %w", err)
	}
	return delivery.Try{Number: number, Queued: time.UnixMilli(millis)}, nil
}

// hide lets a message wait. Without it, it waits as long as the queue does by
// itself.
func hide(ctx context.Context, q Waiting, m events.SQSMessage, wait time.Duration, log *slog.Logger) {
	if wait == 0 {
		return
	}
	if err := q.Hide(ctx, m.ReceiptHandle, wait); err != nil {
		log.WarnContext(ctx, "a message waits longer or shorter than it should", "message", m.MessageId, "error", err)
	}
}
