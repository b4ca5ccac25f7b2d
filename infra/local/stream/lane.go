package stream

import (
	"bytes"
	"context"
	"time"

	"github.com/rethread/rethread/infra/local/lambda"
)

// Lambda hands a function 6 MB at most, this envelope included.
const (
	payloadHead = `{"Records":[`
	payloadTail = `]}`
)

// lane delivers the records of some items, batch after batch. A lane that stands
// still does not hold up the others.
type lane struct {
	*consumer
	in      chan []*entry
	waiting []*entry // read, but not in a batch yet
}

// run ends when in is closed and all is done with, or when ctx ends.
func (l *lane) run(ctx context.Context) {
	for {
		entries := l.collect(ctx)
		if len(entries) == 0 {
			return
		}
		l.deliver(ctx, entries)
		l.room.Release(int64(len(entries)))
	}
}

// collect waits for a record and takes those that come with it: as many as are
// there, or as come within the batching window, up to a batch's limits.
func (l *lane) collect(ctx context.Context) []*entry {
	if len(l.waiting) == 0 && !l.receive(ctx) {
		return nil
	}
	var window <-chan time.Time
	if l.BatchWindow > 0 {
		window = time.After(l.BatchWindow)
	}
	var entries []*entry
	size := len(payloadHead) + len(payloadTail)
	for len(entries) < l.BatchSize && (len(l.waiting) > 0 || l.receiveMore(ctx, window)) {
		next := l.waiting[0]
		size += len(next.JSON) + len(",")
		if size > lambda.MaxRequestBytes && len(entries) > 0 {
			break
		}
		entries, l.waiting = append(entries, next), l.waiting[1:]
	}
	if ctx.Err() != nil {
		return nil
	}
	return entries
}

// receive waits for records. It says no when there will be none.
func (l *lane) receive(ctx context.Context) bool {
	select {
	case l.waiting = <-l.in: // nil once it is closed
	case <-ctx.Done():
	}
	return len(l.waiting) > 0
}

// receiveMore says no when the batch should not wait any longer.
func (l *lane) receiveMore(ctx context.Context, window <-chan time.Time) bool {
	if window == nil {
		select {
		case l.waiting = <-l.in:
		default:
		}
		return len(l.waiting) > 0
	}
	select {
	case l.waiting = <-l.in:
	case <-window:
	case <-ctx.Done():
	}
	return len(l.waiting) > 0
}

// payload is the event that a function gets.
func payload(entries []*entry) []byte {
	var out bytes.Buffer
	out.WriteString(payloadHead)
	for i, e := range entries {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(e.JSON)
	}
	out.WriteString(payloadTail)
	return out.Bytes()
}
