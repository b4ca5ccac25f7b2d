package queue

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// deduplicationInterval is how long a FIFO queue remembers what was sent.
const deduplicationInterval = 5 * time.Minute

// seen is what is remembered of a message.
type seen struct {
	id, sequence string
	at           time.Time
}

// Send adds a message. One that a FIFO queue has seen within 5 minutes is not
// added, and answered as the first one was. The error is an Error.
func (q *Queue) Send(d Draft) (Message, error) {
	if err := d.check(q.settings); err != nil {
		return Message{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	q.expire(now)
	m := Message{
		ID: uuid.NewString(), Body: d.Body, Attributes: d.Attributes, Sent: now,
		Group: d.Group, Deduplication: d.Deduplication,
	}
	if q.settings.FIFO && q.isRepeated(&m, now) {
		return m, nil
	}
	if len(q.messages) >= mostMessages {
		return Message{}, Refuse(CodeOverLimit, "The queue holds %d messages and takes no more here.", mostMessages)
	}
	if q.settings.FIFO {
		m.Sequence = q.nextSequence()
		q.seen[q.deduplicationKey(m)] = seen{m.ID, m.Sequence, now}
	}
	q.add(m, now.Add(d.Delay))
	return m, nil
}

// isRepeated gives a message, if its deduplication id was seen before, the
// identity of the first.
func (q *Queue) isRepeated(m *Message, now time.Time) bool {
	for key, earlier := range q.seen {
		if now.Sub(earlier.at) >= deduplicationInterval {
			delete(q.seen, key)
		}
	}
	earlier, ok := q.seen[q.deduplicationKey(*m)]
	if ok {
		m.ID, m.Sequence, m.Sent = earlier.id, earlier.sequence, earlier.at
	}
	return ok
}

func (q *Queue) deduplicationKey(m Message) string {
	if q.settings.GroupDeduplication {
		return m.Group + " " + m.Deduplication // neither has a space
	}
	return m.Deduplication
}

// nextSequence has the 20 digits of SQS's, so that texts compare as numbers do.
func (q *Queue) nextSequence() string {
	q.sequence++
	return fmt.Sprintf("%020d", q.sequence)
}

func (q *Queue) add(m Message, hidden time.Time) {
	q.messages = append(q.messages, &entry{Message: m, hidden: hidden})
	q.notify()
}

// bury takes a message that another queue gave up. It is received anew here; its
// age counts on, but for a FIFO queue, where it begins again.
func (q *Queue) bury(m Message, from string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	m.Source = from
	if q.settings.FIFO {
		m.Sent, m.Sequence = time.Now(), q.nextSequence()
	}
	q.add(m, time.Time{})
}
