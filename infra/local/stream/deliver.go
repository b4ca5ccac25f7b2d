package stream

import (
	"context"
	"time"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/shared/base/sleep"
)

// Why records are given up, in Lambda's words.
const (
	retriesExhausted = "RetryAttemptsExhausted"
	ageExceeded      = "RecordAgeExceeded"
)

// batch is some records and what became of them so far.
type batch struct {
	entries  []*entry
	invoked  int // times that a function got it
	failures int // of those that count as tries
	pauses   int // in a row
	last     *lambda.Result
}

// deliver ends when all of the records are done with, or when ctx ends.
func (l *lane) deliver(ctx context.Context, entries []*entry) {
	work := []batch{{entries: entries}}
	for len(work) > 0 && ctx.Err() == nil {
		work = append(l.try(ctx, work[0]), work[1:]...)
	}
}

// try invokes the function once and returns what is left to do.
func (l *lane) try(ctx context.Context, b batch) []batch {
	if b = l.dropExpired(ctx, b); len(b.entries) == 0 {
		return nil
	}
	result, err := l.opts.Invoker.Invoke(ctx, l.function.LogicalID, payload(b.entries))
	if ctx.Err() != nil {
		return []batch{b}
	}
	if err != nil { // not even begun: tried until the records are too old
		l.opts.Log.WarnContext(ctx, "cannot invoke for a stream", "function", l.function.LogicalID, "error", err)
		return l.pause(ctx, b)
	}
	result.Collect()
	b.invoked, b.last = b.invoked+1, result
	done := l.accepted(result, b.entries)
	l.progress.finish(b.entries[:done]...)
	b.entries = b.entries[done:]
	if len(b.entries) == 0 {
		return nil
	}
	l.opts.Log.WarnContext(ctx, "a batch of a stream failed", "function", l.function.LogicalID, "records", len(b.entries),
		"first", b.entries[0].Sequence, "answer", string(result.Payload))
	return l.after(ctx, b, done)
}

// after decides how a batch goes on that failed, after its first records were
// done. Splitting a batch is no try, as Lambda documents.
func (l *lane) after(ctx context.Context, b batch, done int) []batch {
	switch {
	case l.BisectOnError && done > 0: // split where the function said
		return l.pause(ctx, batch{entries: b.entries, invoked: b.invoked, failures: b.failures, last: b.last})
	case l.BisectOnError && len(b.entries) > 1:
		half := len(b.entries) / 2
		left := batch{entries: b.entries[:half], invoked: b.invoked, failures: b.failures, last: b.last}
		right := batch{entries: b.entries[half:], invoked: b.invoked, failures: b.failures, last: b.last}
		return append(l.pause(ctx, left), right)
	}
	b.failures++
	if l.MaxRetries >= 0 && b.failures > l.MaxRetries {
		l.giveUp(ctx, b, retriesExhausted)
		return nil
	}
	return l.pause(ctx, b)
}

// pause waits, longer each time in a row.
func (l *lane) pause(ctx context.Context, b batch) []batch {
	rest := l.opts.FirstPause
	for range b.pauses {
		rest = min(2*rest, l.opts.MostPause)
	}
	b.pauses++
	_ = sleep.For(ctx, rest) // what comes next looks at ctx itself
	return []batch{b}
}

// dropExpired gives the records up that are older than the mapping allows.
func (l *lane) dropExpired(ctx context.Context, b batch) batch {
	if l.MaxRecordAge == 0 {
		return b
	}
	n := 0
	for n < len(b.entries) && time.Since(b.entries[n].Arrived()) > l.MaxRecordAge {
		n++
	}
	if n > 0 {
		expired := b
		expired.entries = b.entries[:n]
		l.giveUp(ctx, expired, ageExceeded)
		b.entries = b.entries[n:]
	}
	return b
}
