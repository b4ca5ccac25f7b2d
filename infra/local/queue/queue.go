// Package queue emulates SQS for the template's queues. Received messages stay
// hidden until they are deleted or become visible again, messages of a FIFO queue
// keep their order within their group, and messages that were received too often
// move to the dead letter queue. Everything is in memory and is lost when the host
// stops.
package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// maxMessages limits the messages of a queue, which SQS does not.
const maxMessages = 100_000

// Limit is SQS's limit of messages in flight in a queue, and of the messages that
// a FIFO queue searches for available groups.
const Limit = 120_000

// Queue is a list of messages, oldest first.
type Queue struct {
	settings    samtemplate.Queue
	limit       int
	deadLetters *Queue // dead letter queue, or nil

	mu       sync.Mutex
	messages []*entry
	seen     map[string]seen // by deduplication id
	sequence uint64
	changed  chan struct{} // closed by the next change that receivers may wait for
}

// entry is a message with its state.
type entry struct {
	Message
	hidden      time.Time // invisible until then
	receives    int
	first, last time.Time // received
}

// inFlight reports whether a receiver is processing the message.
func (e *entry) inFlight(now time.Time) bool { return e.receives > 0 && now.Before(e.hidden) }

// New returns an empty queue without a dead letter queue. NewSet connects queues
// to theirs.
func New(settings samtemplate.Queue) *Queue {
	return &Queue{settings: settings, limit: Limit, seen: map[string]seen{}, changed: make(chan struct{})}
}

// SetLimit lowers the limit of messages in flight and of searched messages, so that
// tests need not send 120,000.
func (q *Queue) SetLimit(limit int) *Queue {
	q.limit = limit
	return q
}

// Settings are the queue's settings in the template.
func (q *Queue) Settings() samtemplate.Queue { return q.settings }

// Messages lists all messages, hidden or not, without receiving them.
func (q *Queue) Messages() []Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(time.Now())
	var out []Message
	for _, e := range q.messages {
		out = append(out, e.Message)
	}
	return out
}

// Wait returns the messages as soon as there are n. If ctx ends first, it returns
// the messages so far and ctx's error.
func (q *Queue) Wait(ctx context.Context, n int) ([]Message, error) {
	for {
		changed := q.nextChange()
		messages := q.Messages()
		if len(messages) >= n {
			return messages, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return messages, ctx.Err()
		}
	}
}

// nextChange must be called before looking at the messages, so that no change is
// missed.
func (q *Queue) nextChange() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.changed
}

// notify wakes the waiting receivers. The lock is held, as in all functions below.
func (q *Queue) notify() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// expire removes messages past their retention, in flight or not.
func (q *Queue) expire(now time.Time) {
	if q.settings.Retention == 0 {
		return
	}
	oldest := now.Add(-q.settings.Retention)
	q.messages = slices.DeleteFunc(q.messages, func(e *entry) bool { return e.Sent.Before(oldest) })
}

func (q *Queue) remove(e *entry) {
	if i := slices.Index(q.messages, e); i >= 0 {
		q.messages = slices.Delete(q.messages, i, i+1)
	}
}
