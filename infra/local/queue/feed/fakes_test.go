package feed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/local/queue/feed"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

const queueARN = "arn:aws:sqs:us-east-1:000000000000:q"

// call is an invocation of the function.
type call struct {
	at     time.Duration // since the start
	Events []events.SQSMessage
}

// bodies joins the bodies of a batch.
func (c call) bodies() string {
	var all []string
	for _, e := range c.Events {
		all = append(all, e.Body)
	}
	return strings.Join(all, " ")
}

// fakeInvoker replaces the function.
type fakeInvoker struct {
	began  time.Time
	answer func(context.Context, call) (*lambda.Result, error)

	mu                    sync.Mutex
	calls                 []call
	atOnce, maxConcurrent int
}

// Invoke implements feed.Invoker.
func (f *fakeInvoker) Invoke(ctx context.Context, function string, payload []byte) (*lambda.Result, error) {
	var event events.SQSEvent
	if err := json.Unmarshal(payload, &event); err != nil || function != "F" {
		return nil, fmt.Errorf("invoke %s: %w", function, err)
	}
	f.mu.Lock()
	c := call{at: time.Since(f.began), Events: event.Records}
	f.calls = append(f.calls, c)
	f.atOnce++
	f.maxConcurrent = max(f.maxConcurrent, f.atOnce)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.atOnce--
	}()
	if f.answer == nil {
		return &lambda.Result{}, nil
	}
	return f.answer(ctx, c)
}

// log lists the batches with the times of their invocations.
func (f *fakeInvoker) log() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, c := range f.calls {
		all = append(all, c.at.String()+" "+c.bodies())
	}
	return all
}

// fixture is a queue and the function that reads it.
type fixture struct {
	queue   samtemplate.Queue
	mapping samtemplate.QueueMapping
	invoker *fakeInvoker
	reserve *int
	q       *queue.Queue
	stop    func()
}

func newFixture() *fixture {
	return &fixture{
		queue:   samtemplate.Queue{LogicalID: "Q", Name: "q", ARN: queueARN, VisibilityTimeout: 10 * time.Second},
		mapping: samtemplate.QueueMapping{Name: "E", Queue: "Q", BatchSize: 10, PartialBatchResponses: true, Enabled: true},
		invoker: &fakeInvoker{began: time.Now()},
	}
}

// fifo makes the queue a FIFO queue.
func (s *fixture) fifo() *fixture {
	s.queue.FIFO = true
	return s
}

// start runs the mapping in a synctest bubble until stop.
func (s *fixture) start(t *testing.T) {
	t.Helper()
	s.prepare()
	source, err := feed.New(feed.Options{
		Functions: []samtemplate.Function{{LogicalID: "F", Name: "f", Queues: []samtemplate.QueueMapping{s.mapping}, Reserved: s.reserve}},
		Queues:    oneQueue{s.q}, Invoker: s.invoker, Region: "us-east-1", Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- source.Run(ctx) }()
	s.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// prepare makes the queue, for tests that send before the mapping runs.
func (s *fixture) prepare() {
	if s.q == nil {
		s.q = queue.New(s.queue)
	}
}

// send adds messages whose first letter is their group.
func (s *fixture) send(t *testing.T, bodies ...string) {
	t.Helper()
	s.prepare()
	for _, body := range bodies {
		draft := queue.Draft{Body: body, Group: body[:1]}
		if s.queue.FIFO {
			draft.Deduplication = body
		}
		if _, err := s.q.Send(draft); err != nil {
			t.Fatal(err)
		}
	}
}

type oneQueue struct{ q *queue.Queue }

// Queues implements feed.Queues.
func (o oneQueue) Queues() []*queue.Queue { return []*queue.Queue{o.q} }

// failing returns an answer that reports the messages with those bodies as failed.
func failing(c call, bodies ...string) *lambda.Result {
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for _, e := range c.Events {
		for _, body := range bodies {
			if e.Body == body {
				response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: e.MessageId})
			}
		}
	}
	payload, _ := json.Marshal(response) // strings always marshal
	return &lambda.Result{Payload: payload}
}
