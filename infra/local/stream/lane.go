package stream

import (
	"bytes"
	"context"
	"time"

	"github.com/rethread/rethread/infra/local/lambda"
)

// Lambda's limit of 6 MB for an event, including this envelope.
const (
	payloadHead = `{"Records":[`
	payloadTail = `]}`
)

// lane delivers the records of some items, batch by batch. A blocked lane does not
// delay the others.
type lane struct {
	*consumer
	in      chan []*entry
	waiting []*entry // read, but not yet in a batch
}

// run returns when in is closed and all records are finished, or when ctx ends.
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

// collect waits for a record and batches it with those that are available or
// arrive within the batching window, up to the limits of a batch.
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

// receive waits for records. It reports false when there will be none.
func (l *lane) receive(ctx context.Context) bool {
	select {
	case l.waiting = <-l.in: // nil once the channel is closed
	case <-ctx.Done():
	}
	return len(l.waiting) > 0
}

// receiveMore reports false when the batch should not wait any longer.
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

// payload is the function's event.
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
