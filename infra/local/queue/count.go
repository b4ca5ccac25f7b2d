package queue

import "time"

// Counts are the numbers of messages that can be received, that are being
// processed by a receiver, and that are delayed.
type Counts struct{ Visible, InFlight, Delayed int }

// Count counts the messages.
func (q *Queue) Count() Counts {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	q.expire(now)
	var c Counts
	for _, e := range q.messages {
		switch {
		case e.inFlight(now):
			c.InFlight++
		case now.Before(e.hidden):
			c.Delayed++
		default:
			c.Visible++
		}
	}
	return c
}
