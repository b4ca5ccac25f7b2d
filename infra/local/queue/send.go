package queue

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// deduplicationInterval is how long a FIFO queue remembers deduplication ids.
const deduplicationInterval = 5 * time.Minute

// seen is what is remembered of a message.
type seen struct {
	id, sequence string
	at           time.Time
}

// Send adds a message. A FIFO queue does not add a duplicate within 5 minutes;
// Send then returns the identity of the first one. The error is an Error.
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
	if len(q.messages) >= maxMessages {
		return Message{}, Refuse(CodeOverLimit, "The queue contains %d messages, the limit of the local host.", maxMessages)
	}
	if q.settings.FIFO {
		m.Sequence = q.nextSequence()
		q.seen[q.deduplicationKey(m)] = seen{m.ID, m.Sequence, now}
	}
	q.add(m, now.Add(d.Delay))
	return m, nil
}

// isRepeated copies the identity of the first message to m if its deduplication id
// was seen before.
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
		return m.Group + " " + m.Deduplication // neither contains a space
	}
	return m.Deduplication
}

// nextSequence has 20 digits, as in SQS, so that the order of the strings is that
// of the numbers.
func (q *Queue) nextSequence() string {
	q.sequence++
	return fmt.Sprintf("%020d", q.sequence)
}

func (q *Queue) add(m Message, hidden time.Time) {
	q.messages = append(q.messages, &entry{Message: m, hidden: hidden})
	q.notify()
}

// addDeadLetter adds a message from another queue to this dead letter queue. The count of
// receives restarts. The message's age continues, but restarts in a FIFO queue.
func (q *Queue) addDeadLetter(m Message, from string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	m.Source = from
	if q.settings.FIFO {
		m.Sent, m.Sequence = time.Now(), q.nextSequence()
	}
	q.add(m, time.Time{})
}
