// Package metrics counts what happens while an invocation is served: whoever
// sees it happen adds to the recorder in the context, and the invocation's end
// tells the sum. It knows no cloud; package emf writes for CloudWatch.
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

// The metrics. Durations are in milliseconds, all else is a count.
const (
	Latency      Name = "Latency"      // until an answer is there or, of one that streams, begins
	ServerErrors Name = "ServerErrors" // answers of status 500 and above

	ReadUnits  Name = "ReadUnits"  // of the table and its index, as DynamoDB counts them
	WriteUnits Name = "WriteUnits" // the same
	Conflicts  Name = "Conflicts"  // races for a place in a log, or for another item, that were lost and run again
	Throttles  Name = "Throttles"  // requests that an AWS service refused as too many

	// ItemsSkipped are items and changes of the table that could not be read, or
	// handled, and were passed over for the sake of the others.
	ItemsSkipped Name = "ItemsSkipped"

	PushDelay       Name = "PushDelay"       // from a change of the table until all who watch have it
	FramesPushed    Name = "FramesPushed"    // messages to connections
	ConnectionsGone Name = "ConnectionsGone" // found gone when there was something to tell

	Deliveries         Name = "Deliveries"         // that arrived
	DeliveriesDelayed  Name = "DeliveriesDelayed"  // tries that failed, to be repeated
	DeliveriesGivenUp  Name = "DeliveriesGivenUp"  // for good
	RunsStarted        Name = "RunsStarted"        // by a worker of this system
	RunsCompleted      Name = "RunsCompleted"      // the same
	RunsFailed         Name = "RunsFailed"         // the same
	RunsCut            Name = "RunsCut"            // cancelled, or replaced, while a worker was at it
	RunDuration        Name = "RunDuration"        // from the worker's beginning to the run's end
	TimeToFirstContent Name = "TimeToFirstContent" // from the agent's call to its first delta or event
)

// All is every metric.
func All() []Name {
	return []Name{
		Latency, ServerErrors, ReadUnits, WriteUnits, Conflicts, Throttles, ItemsSkipped, PushDelay, FramesPushed, ConnectionsGone,
		Deliveries, DeliveriesDelayed, DeliveriesGivenUp,
		RunsStarted, RunsCompleted, RunsFailed, RunsCut, RunDuration, TimeToFirstContent,
	}
}

// IsDuration reports whether a metric is one of milliseconds.
func (n Name) IsDuration() bool {
	switch n {
	case Latency, PushDelay, RunDuration, TimeToFirstContent:
		return true
	default:
		return false
	}
}

// incidental reports whether a metric is worth telling only beside others: work
// that found nothing to do reads the table as well.
func (n Name) incidental() bool { return n == ReadUnits || n == WriteUnits }

// Values are what was measured: of a duration each value, of all else the sum.
type Values map[Name][]float64

// Add adds what was measured elsewhere.
func (v Values) Add(more Values) {
	for name, values := range more {
		if known := v[name]; len(known) > 0 && !name.IsDuration() {
			v[name] = []float64{known[0] + values[0]}
		} else {
			v[name] = slices.Concat(known, values)
		}
	}
}

// Recorder takes what an invocation measures. It is safe for concurrent use.
type Recorder struct {
	mu     sync.Mutex
	values Values
}

type contextKey struct{}

// With returns a context in which measures go to the recorder that it returns too.
func With(ctx context.Context) (context.Context, *Recorder) {
	r := &Recorder{values: Values{}}
	return context.WithValue(ctx, contextKey{}, r), r
}

// Count adds to a count. Without a recorder it does nothing, as Took does.
func Count(ctx context.Context, name Name, n float64) {
	if r, ok := ctx.Value(contextKey{}).(*Recorder); ok && n != 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.values.Add(Values{name: {n}})
	}
}

// Took adds a duration.
func Took(ctx context.Context, name Name, d time.Duration) {
	if r, ok := ctx.Value(contextKey{}).(*Recorder); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.values.Add(Values{name: {float64(max(0, d)) / float64(time.Millisecond)}})
	}
}

// Recording reports whether anybody takes what is measured in a context.
func Recording(ctx context.Context) bool {
	_, ok := ctx.Value(contextKey{}).(*Recorder)
	return ok
}

// Values is what was measured so far, nil where that is not worth telling.
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
