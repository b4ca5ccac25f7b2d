package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// DeliverHandler is the Lambda handler for messages of the delivery queues and the
// wake queues.
type DeliverHandler = func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// Waiting handles messages that could not be processed.
type Waiting interface {
	Hide(ctx context.Context, arn, receipt string, wait time.Duration) error
	GiveUp(ctx context.Context, a delivery.GivenUp, group, id string) error
}

// mostHidden is the longest delay of a message that could not be processed.
const mostHidden = time.Minute

// placeDigits is the maximum number of digits of SQS's 128-bit sequence numbers.
const placeDigits = 39

// Deliver handles batches of messages: those of a group in order, different groups
// concurrently, so that no group waits for another's receiver. After a message that
// could not be handled the rest of its group waits too. A message that cannot be
// parsed is moved to the queue of abandoned deliveries.
func Deliver(desk *delivery.Scheduler, q Waiting, log *slog.Logger) DeliverHandler {
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		ctx, cancel := TimeToAnswer(ctx)
		defer cancel()
		failed := make([]bool, len(event.Records))
		var running sync.WaitGroup
		for group, places := range byGroup(event.Records) {
			running.Go(func() {
				messages := make([]events.SQSMessage, len(places))
				for i, place := range places {
					messages[i] = event.Records[place]
				}
				done, err := handle(ctx, desk, q, group, messages, log)
				if err != nil {
					log.ErrorContext(ctx, "messages will be delivered again", "messages", len(messages)-done, "error", err)
				}
				for i, place := range places[done:] {
					failed[place] = true
					hide(ctx, q, messages[done+i], desk.Worker.Jitter(), log)
				}
			})
		}
		running.Wait()
		response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		for i, m := range event.Records {
			if failed[i] {
				response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			}
		}
		return response, nil
	}
}

// byGroup returns the indexes of each group's messages. Wakes have no group, so each
// is its own.
func byGroup(messages []events.SQSMessage) map[string][]int {
	places := map[string][]int{}
	for i, m := range messages {
		group := m.Attributes["MessageGroupId"]
		if group == "" {
			group = wakePrefix + m.MessageId
		}
		places[group] = append(places[group], i)
	}
	return places
}

// wakePrefix is a prefix that no group of a queue has.
const wakePrefix = " "

// handle processes the messages of a group and returns how many are done.
func handle(
	ctx context.Context, desk *delivery.Scheduler, q Waiting, group string, messages []events.SQSMessage, log *slog.Logger,
) (done int, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	if strings.HasPrefix(group, wakePrefix) {
		if err := turn(ctx, desk, messages[0], log); err != nil {
			return 0, err
		}
		return 1, nil
	}
	for done < len(messages) {
		var arrivals []delivery.Arrival
		var unread error
		for _, m := range messages[done:] {
			var a delivery.Arrival
			if a, unread = arrivalOf(m); unread != nil {
				break
			}
			arrivals = append(arrivals, a)
		}
		taken, err := desk.Receive(ctx, arrivals)
		if done += taken; err != nil {
			return done, err
		}
		if unread != nil {
			if err := putAside(ctx, q, messages[done], unread, log); err != nil {
				return done, err
			}
			done++
		}
	}
	return done, nil
}

// turn handles a wake. A wake that cannot be parsed is dropped, because the next
// delivery causes another.
func turn(ctx context.Context, desk *delivery.Scheduler, m events.SQSMessage, log *slog.Logger) error {
	var w delivery.Wake
	if err := json.Unmarshal([]byte(m.Body), &w); err != nil || w.Group == "" || w.Kind == "" {
		metrics.Count(ctx, metrics.ItemsSkipped, 1)
		log.ErrorContext(ctx, "cannot parse a wake", "message", m.MessageId, "error", err)
		return nil
	}
	return desk.RunPass(ctx, w)
}

// putAside abandons a message that cannot be parsed, since a retry could not parse it
// either.
func putAside(ctx context.Context, q Waiting, m events.SQSMessage, why error, log *slog.Logger) error {
	metrics.Count(ctx, metrics.ItemsSkipped, 1)
	log.ErrorContext(ctx, "cannot parse a message, which is abandoned", "message", m.MessageId, "error", why)
	body, err := json.Marshal(m.Body)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	return q.GiveUp(ctx, delivery.GivenUp{Reason: "it cannot be read", Body: body}, m.Attributes["MessageGroupId"], m.MessageId)
}

// arrivalOf parses a message of a delivery queue.
func arrivalOf(m events.SQSMessage) (delivery.Arrival, error) {
	number, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	millis, err2 := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64)
	if err := errors.Join(err, err2); err != nil {
		return delivery.Arrival{}, fmt.Errorf("read the attributes of a message: %w", err)
	}
	a := delivery.Arrival{
		Try:      delivery.Try{Number: number, Queued: time.UnixMilli(millis)},
		Position: placeOf(m.Attributes["SequenceNumber"]),
	}
	if err := json.Unmarshal([]byte(m.Body), &a.Delivery); err != nil {
		return a, fmt.Errorf("decode a delivery: %w", err)
	}
	if a.Delivery.Target.Kind == "" {
		return a, errors.New("a delivery has no target")
	}
	return a, nil
}

// placeOf pads a sequence number of SQS so that strings compare like numbers.
func placeOf(sequence string) string {
	return strings.Repeat("0", max(0, placeDigits-len(sequence))) + sequence
}

// hide delays a message by a random time, whose limit doubles with each attempt. If
// that fails, the queue's own delay applies.
func hide(ctx context.Context, q Waiting, m events.SQSMessage, jitter float64, log *slog.Logger) {
	number, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	wait := min(time.Second<<min(max(number, 1), 10), mostHidden)
	wait = time.Duration(jitter * float64(wait))
	hiding, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime/2)
	defer cancel()
	if err := q.Hide(hiding, m.EventSourceARN, m.ReceiptHandle, wait); err != nil {
		log.WarnContext(ctx, "cannot set the delay of a message", "message", m.MessageId, "error", err)
	}
}
