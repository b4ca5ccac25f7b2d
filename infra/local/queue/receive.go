package queue

import (
	"context"
	"slices"
	"time"
)

// Receive is Take for who wants to wait until there is something, or until ctx
// ends, which is the error.
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

// sleep waits for a change, for a hidden message to show, or for ctx.
func (q *Queue) sleep(ctx context.Context, changed <-chan struct{}) {
	var shown <-chan time.Time
	if pause, ok := q.untilShown(time.Now()); ok {
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

// untilShown tells how long the next hidden message stays so.
func (q *Queue) untilShown(now time.Time) (pause time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.messages {
		if left := e.hidden.Sub(now); left > 0 && (!ok || left < pause) {
			pause, ok = left, true
		}
	}
	return pause, ok
}

// Take hands out up to n messages that can be seen, the oldest first, and hides
// them from others so long. What was handed out as often as the queue allows goes
// to the dead letter queue instead.
func (q *Queue) Take(n int, hide time.Duration) []Received {
	taken, dead := q.take(n, hide)
	for _, m := range dead { // without the lock: the other queue has its own
		q.dead.bury(m, q.settings.ARN)
	}
	return taken
}

func (q *Queue) take(n int, hide time.Duration) (taken []Received, dead []Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	q.expire(now)
	room := q.limit - q.flying(now)
	for _, e := range q.visible(now) {
		if len(taken) == min(n, room) {
			break
		}
		if q.dead != nil && e.receives >= q.settings.Redrive.MaxReceives {
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

// flying counts the messages that somebody has.
func (q *Queue) flying(now time.Time) (n int) {
	for _, e := range q.messages {
		if e.inFlight(now) {
			n++
		}
	}
	return n
}

// visible lists what may be handed out. Of a FIFO queue's group that is nothing
// while somebody has a message of it, and nothing behind one that is delayed; and
// a group's messages come together, as SQS prefers. A FIFO queue looks through the
// first messages only, whosever they are: those that nobody may have stand before
// others, who wait though they are free.
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
