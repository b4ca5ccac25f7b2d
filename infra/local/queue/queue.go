// Package queue keeps on this machine what functions' failures and successes are
// told to: the template's queues and topics. It takes messages and shows them;
// nobody receives from it.
package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/samtemplate"
)

// ErrUnknown says that the template has no queue or topic of that ARN.
var ErrUnknown = errors.New("no such queue or topic")

// mostMessages bounds what is kept; the oldest go first.
const mostMessages = 10_000

// Message is what arrived.
type Message struct {
	ID   string
	Body string
	Sent time.Time
}

// Queue is a list of messages, the oldest first.
type Queue struct {
	retention time.Duration

	mu       sync.Mutex
	messages []Message
	arrived  chan struct{} // closed by the next message
}

// New makes an empty queue that keeps messages so long; zero means for good.
func New(retention time.Duration) *Queue {
	return &Queue{retention: retention, arrived: make(chan struct{})}
}

// Send adds a message.
func (q *Queue) Send(body []byte) Message {
	message := Message{ID: uuid.NewString(), Body: string(body), Sent: time.Now()}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire()
	if len(q.messages) >= mostMessages {
		q.messages = slices.Delete(q.messages, 0, 1)
	}
	q.messages = append(q.messages, message)
	close(q.arrived)
	q.arrived = make(chan struct{})
	return message
}

// Messages lists what is there; they stay.
func (q *Queue) Messages() []Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire()
	return slices.Clone(q.messages)
}

// Wait returns the messages as soon as there are n, or what is there when ctx
// ends, with its error.
func (q *Queue) Wait(ctx context.Context, n int) ([]Message, error) {
	for {
		q.mu.Lock()
		arrived := q.arrived
		q.mu.Unlock()
		messages := q.Messages()
		if len(messages) >= n {
			return messages, nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return messages, ctx.Err()
		}
	}
}

// expire drops what is too old.
func (q *Queue) expire() {
	if q.retention == 0 {
		return
	}
	oldest := time.Now().Add(-q.retention)
	q.messages = slices.DeleteFunc(q.messages, func(m Message) bool { return m.Sent.Before(oldest) })
}

// Set is the queues and topics of a template.
type Set struct {
	log    *slog.Logger
	byARN  map[string]*Queue
	byName map[string]*Queue
}

// NewSet makes them, empty. A topic keeps what was published as a queue would.
func NewSet(template *samtemplate.Template, log *slog.Logger) *Set {
	s := &Set{log: log, byARN: map[string]*Queue{}, byName: map[string]*Queue{}}
	for _, q := range template.Queues {
		made := New(q.Retention)
		s.byARN[q.ARN], s.byName[q.Name], s.byName[q.LogicalID] = made, made, made
	}
	for _, t := range template.Topics {
		made := New(0)
		s.byARN[t.ARN], s.byName[t.Name], s.byName[t.LogicalID] = made, made, made
	}
	return s
}

// Queue finds a queue or topic by its name or logical id.
func (s *Set) Queue(name string) (*Queue, bool) {
	q, ok := s.byName[name]
	return q, ok
}

// Deliver adds a message to the queue or topic of that ARN, and says so in the
// log. The error is ErrUnknown.
func (s *Set) Deliver(ctx context.Context, arn string, body []byte) error {
	q, ok := s.byARN[arn]
	if !ok {
		return fmt.Errorf("deliver to %s: %w", arn, ErrUnknown)
	}
	message := q.Send(body)
	s.log.InfoContext(ctx, "a message arrived", "destination", arn, "id", message.ID, "body", message.Body)
	return nil
}
