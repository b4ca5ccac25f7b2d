// Package queue keeps the template's queues on this machine, as SQS
// does: messages that are received stay hidden until they are deleted or shown
// again, those of a FIFO queue keep their order within their group, and those
// that are received over and over go to the dead letter queue. All is in memory
// and goes with the host.
package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// mostMessages is what a queue holds; it takes no more then. SQS has no such limit.
const mostMessages = 100_000

// Limit is SQS's: how many messages of a queue may be in flight, and among how many
// of the first a FIFO queue looks for groups that nobody has a message of.
const Limit = 120_000

// Queue is a list of messages, the oldest first.
type Queue struct {
	settings samtemplate.Queue
	limit    int
	dead     *Queue // where messages go that were received too often, or nil

	mu       sync.Mutex
	messages []*entry
	seen     map[string]seen // by deduplication id
	sequence uint64
	changed  chan struct{} // closed by the next change that others may wait for
}

// entry is a message and where it stands.
type entry struct {
	Message
	hidden      time.Time // nobody sees it before that
	receives    int
	first, last time.Time // received
}

// inFlight says whether somebody has the message.
func (e *entry) inFlight(now time.Time) bool { return e.receives > 0 && now.Before(e.hidden) }

// New makes an empty queue. A queue of a template has its dead letter queue from
// NewSet; one made here has none.
func New(settings samtemplate.Queue) *Queue {
	return &Queue{settings: settings, limit: Limit, seen: map[string]seen{}, changed: make(chan struct{})}
}

// Narrow makes a queue of which fewer messages may be in flight, and fewer are
// looked through, than of SQS's: tests need not send 120,000.
func (q *Queue) Narrow(limit int) *Queue {
	q.limit = limit
	return q
}

// Settings are what the template says.
func (q *Queue) Settings() samtemplate.Queue { return q.settings }

// Messages lists what is there, hidden or not; it stays.
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

// Wait returns the messages as soon as there are n, or what is there when ctx
// ends, with its error.
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

// nextChange is to be asked for before looking, so that no change is missed.
func (q *Queue) nextChange() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.changed
}

// notify wakes those who wait. The lock is held, as for all below.
func (q *Queue) notify() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// expire drops what is too old, in flight or not.
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
