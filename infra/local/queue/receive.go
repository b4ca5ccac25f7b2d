package queue

import (
	"context"
	"slices"
	"time"
)

// Receive is like Take, but waits until a message is available or ctx ends, and
// then returns ctx's error.
func (q *Queue) Receive(ctx context.Context, n int, hide time.Duration) ([]Received, error) {
	for ctx.Err() == nil {
		changed := q.nextChange()
		if taken := q.Take(n, hide); len(taken) > 0 {
			return taken, nil
		}
		q.sleep(ctx, changed)
	}
	return nil, ctx.Err()
}

// sleep waits for a change, for a hidden message to become visible, or for ctx.
func (q *Queue) sleep(ctx context.Context, changed <-chan struct{}) {
	var shown <-chan time.Time
	if pause, ok := q.untilVisible(time.Now()); ok {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		shown = timer.C
	}
	select {
	case <-changed:
	case <-shown:
	case <-ctx.Done():
	}
}

// untilVisible returns the time until the next hidden message becomes visible.
func (q *Queue) untilVisible(now time.Time) (pause time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.messages {
		if left := e.hidden.Sub(now); left > 0 && (!ok || left < pause) {
			pause, ok = left, true
		}
	}
	return pause, ok
}

// Take hands out up to n visible messages, oldest first, and hides them from other
// receivers for that long. Messages that were already handed out as often as the
// queue allows move to the dead letter queue instead.
func (q *Queue) Take(n int, hide time.Duration) []Received {
	taken, dead := q.take(n, hide)
	for _, m := range dead { // without the lock: the other queue has its own
		q.deadLetters.addDeadLetter(m, q.settings.ARN)
	}
	return taken
}

func (q *Queue) take(n int, hide time.Duration) (taken []Received, dead []Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	q.expire(now)
	room := q.limit - q.inFlight(now)
	for _, e := range q.visible(now) {
		if len(taken) == min(n, room) {
			break
		}
		if q.deadLetters != nil && e.receives >= q.settings.Redrive.MaxReceives {
			q.remove(e)
			dead = append(dead, e.Message)
			continue
		}
		taken = append(taken, q.handOut(e, now, hide))
	}
	return taken, dead
}

func (q *Queue) handOut(e *entry, now time.Time, hide time.Duration) Received {
	if e.receives == 0 {
		e.first = now
	}
	e.receives++
	e.last, e.hidden = now, now.Add(hide)
	return Received{Message: e.Message, Receipt: q.receipt(e), Receives: e.receives, FirstReceived: e.first}
}

// inFlight counts the messages in flight.
func (q *Queue) inFlight(now time.Time) (n int) {
	for _, e := range q.messages {
		if e.inFlight(now) {
			n++
		}
	}
	return n
}

// visible lists the messages that may be handed out. A group of a FIFO queue is
// blocked while one of its messages is in flight, and from its first delayed
// message on; a group's messages are handed out together, as SQS prefers. A FIFO
// queue searches its first messages only, available or not: blocked messages at
// the front can keep available ones behind them waiting.
func (q *Queue) visible(now time.Time) []*entry {
	if !q.settings.FIFO {
		return slices.DeleteFunc(slices.Clone(q.messages), func(e *entry) bool { return now.Before(e.hidden) })
	}
	blocked := map[string]bool{}
	for _, e := range q.messages {
		blocked[e.Group] = blocked[e.Group] || e.inFlight(now)
	}
	groups := map[string][]*entry{}
	var order []string
	for _, e := range q.messages[:min(len(q.messages), q.limit)] {
		blocked[e.Group] = blocked[e.Group] || now.Before(e.hidden)
		if blocked[e.Group] {
			continue
		}
		if groups[e.Group] == nil {
			order = append(order, e.Group)
		}
		groups[e.Group] = append(groups[e.Group], e)
	}
	var all []*entry
	for _, group := range order {
		all = append(all, groups[group]...)
	}
	return all
}
