package stream

import (
	"context"
	"time"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/shared/base/retry"
)

// Conditions under which records are abandoned, in Lambda's words.
const (
	retriesExhausted = "RetryAttemptsExhausted"
	ageExceeded      = "RecordAgeExceeded"
)

// batch is a batch of records and the state of its delivery.
type batch struct {
	entries  []*entry
	invoked  int // number of invocations
	failures int // number of failed invocations that count as attempts
	pauses   int // number of consecutive pauses
	last     *lambda.Result
}

// deliver returns when all records are finished, or when ctx ends.
func (l *lane) deliver(ctx context.Context, entries []*entry) {
	work := []batch{{entries: entries}}
	for len(work) > 0 && ctx.Err() == nil {
		work = append(l.try(ctx, work[0]), work[1:]...)
	}
}

// try invokes the function once and returns the remaining batches.
func (l *lane) try(ctx context.Context, b batch) []batch {
	if b = l.dropExpired(ctx, b); len(b.entries) == 0 {
		return nil
	}
	result, err := l.opts.Invoker.Invoke(ctx, l.function.LogicalID, payload(b.entries))
	if ctx.Err() != nil {
		return []batch{b}
	}
	if err != nil { // the function was not started: retried until the records are too old
		l.opts.Log.WarnContext(ctx, "failed to invoke a function for a table's stream; retrying", "function", l.function.LogicalID, "error", err)
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
	l.opts.Log.WarnContext(ctx, "function failed to process a batch of a table's stream", "function", l.function.LogicalID, "records", len(b.entries),
		"first", b.entries[0].Sequence, "answer", string(result.Payload))
	return l.remaining(ctx, b, done)
}

// remaining returns the remaining batches after a batch failed whose first records are
// done. Splitting a batch is no attempt, as Lambda documents.
func (l *lane) remaining(ctx context.Context, b batch, done int) []batch {
	switch {
	case l.BisectOnError && done > 0: // split at the record that the function reported
		return l.pause(ctx, batch{entries: b.entries, invoked: b.invoked, failures: b.failures, last: b.last})
	case l.BisectOnError && len(b.entries) > 1:
		half := len(b.entries) / 2
		left := batch{entries: b.entries[:half], invoked: b.invoked, failures: b.failures, last: b.last}
		right := batch{entries: b.entries[half:], invoked: b.invoked, failures: b.failures, last: b.last}
		return append(l.pause(ctx, left), right)
	}
	b.failures++
	if l.MaxRetries >= 0 && b.failures > l.MaxRetries {
		l.abandon(ctx, b, retriesExhausted)
		return nil
	}
	return l.pause(ctx, b)
}

// pause waits, longer each consecutive time.
func (l *lane) pause(ctx context.Context, b batch) []batch {
	rest := l.opts.FirstPause
	for range b.pauses {
		rest = min(2*rest, l.opts.MaxPause)
	}
	b.pauses++
	_ = retry.Sleep(ctx, rest) // the caller checks ctx
	return []batch{b}
}

// dropExpired abandons records older than the mapping allows.
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
		l.abandon(ctx, expired, ageExceeded)
		b.entries = b.entries[n:]
	}
	return b
}
