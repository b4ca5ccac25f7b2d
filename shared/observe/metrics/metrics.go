// Package metrics collects measurements during an invocation: code adds to the recorder
// in the context, and the sums are written at the end of the invocation. It is
// independent of the cloud; emf.go writes them in the format of CloudWatch.
package metrics

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Name is a metric.
type Name string

// The metrics. Durations are in milliseconds, all others are counts.
const (
	Latency      Name = "Latency"      // until the response is complete or, if it is streamed, begins
	ServerErrors Name = "ServerErrors" // responses with status 500 or above

	ReadUnits  Name = "ReadUnits"  // of the table and its index, as DynamoDB counts them
	WriteUnits Name = "WriteUnits" // the same
	Conflicts  Name = "Conflicts"  // lost races for a log position or another item, which were retried
	Throttles  Name = "Throttles"  // requests throttled by an AWS service

	// ItemsSkipped counts items and changes of the table that could not be read or
	// handled and were skipped so that the others could be.
	ItemsSkipped Name = "ItemsSkipped"

	PushDelay       Name = "PushDelay"       // from a change of the table until all watchers have it
	FramesPushed    Name = "FramesPushed"    // messages to connections
	ConnectionsGone Name = "ConnectionsGone" // connections found closed when sending

	Deliveries         Name = "Deliveries"         // accepted by the receiver
	DeliveriesDelayed  Name = "DeliveriesDelayed"  // failed attempts that will be repeated
	DeliveriesGivenUp  Name = "DeliveriesGivenUp"  // abandoned deliveries
	RunsStarted        Name = "RunsStarted"        // by a worker of this system
	RunsCompleted      Name = "RunsCompleted"      // the same
	RunsFailed         Name = "RunsFailed"         // the same
	RunsCut            Name = "RunsCut"            // cancelled or replaced during execution
	RunsContinued      Name = "RunsContinued"      // taken over from a worker that was lost
	RunDuration        Name = "RunDuration"        // from the worker's start to the run's end
	TimeToFirstContent Name = "TimeToFirstContent" // from the agent's call to its first delta or event
)

// All returns all metrics.
func All() []Name {
	return []Name{
		Latency, ServerErrors, ReadUnits, WriteUnits, Conflicts, Throttles, ItemsSkipped, PushDelay, FramesPushed, ConnectionsGone,
		Deliveries, DeliveriesDelayed, DeliveriesGivenUp,
		RunsStarted, RunsCompleted, RunsFailed, RunsCut, RunsContinued, RunDuration, TimeToFirstContent,
	}
}

// IsDuration reports whether a metric is a duration in milliseconds.
func (n Name) IsDuration() bool {
	switch n {
	case Latency, PushDelay, RunDuration, TimeToFirstContent:
		return true
	default:
		return false
	}
}

// incidental reports whether a metric is written only together with others, because
// invocations without work read the table too.
func (n Name) incidental() bool { return n == ReadUnits || n == WriteUnits }

// Values holds measurements: each value of a duration, the sum of a count.
type Values map[Name][]float64

// Add adds other measurements.
func (v Values) Add(more Values) {
	for name, values := range more {
		if known := v[name]; len(known) > 0 && !name.IsDuration() {
			v[name] = []float64{known[0] + values[0]}
		} else {
			v[name] = slices.Concat(known, values)
		}
	}
}

// Recorder collects the measurements of an invocation. It is safe for concurrent use.
type Recorder struct {
	mu     sync.Mutex
	values Values
}

type contextKey struct{}

// With returns a context with a new recorder, and the recorder.
func With(ctx context.Context) (context.Context, *Recorder) {
	r := &Recorder{values: Values{}}
	return context.WithValue(ctx, contextKey{}, r), r
}

// Count adds n to a count. Without a recorder in ctx it does nothing.
func Count(ctx context.Context, name Name, n float64) {
	if r, ok := ctx.Value(contextKey{}).(*Recorder); ok && n != 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.values.Add(Values{name: {n}})
	}
}

// Took adds a duration. Without a recorder in ctx it does nothing.
func Took(ctx context.Context, name Name, d time.Duration) {
	if r, ok := ctx.Value(contextKey{}).(*Recorder); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.values.Add(Values{name: {float64(max(0, d)) / float64(time.Millisecond)}})
	}
}

// Recording reports whether a context has a recorder.
func Recording(ctx context.Context) bool {
	_, ok := ctx.Value(contextKey{}).(*Recorder)
	return ok
}

// Values returns the measurements so far, nil if there are only incidental ones.
func (r *Recorder) Values() Values {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.values {
		if !name.incidental() {
			return maps.Clone(r.values)
		}
	}
	return nil
}
