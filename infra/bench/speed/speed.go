// Package speed compares the store's appends with bare conditional puts through the same
// engine at the same concurrency. Times depend on the machine, so results are ratios; the
// two kinds of work alternate, so that both meet the same load of other processes.
package speed

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// Scenario is a number of writers, each of which appends one event after the other.
type Scenario struct {
	Name    string
	Writers int
	// Shared means that all writers append to one session; otherwise each has its own.
	Shared bool
	// Own means that each writer of a shared session has an invocation of its own.
	Own bool
}

// Scenarios are those of `make speed`.
func Scenarios() []Scenario {
	return []Scenario{
		{Name: "1 session", Writers: 1},
		{Name: "8 sessions", Writers: 8},
		{Name: "32 sessions", Writers: 32},
		{Name: "32 writers of one session and invocation", Writers: 32, Shared: true},
		{Name: "32 writers of one session, each with its invocation", Writers: 32, Shared: true, Own: true},
	}
}

// Plan is how long to measure.
type Plan struct {
	// Slice is how long each kind of work runs before the other, Rounds how often.
	Slice  time.Duration
	Rounds int
}

// Result is what a scenario took.
type Result struct {
	Scenario

	Bare, Appends time.Duration // for one write, on average over all writers
	Wait          Waits         // of appends, refused ones included
	Usage         capacity.Usage
	Appended      int
	Refused       int // appends that got 429
}

// Ratio returns the throughput of appends as a share of that of bare puts.
func (r Result) Ratio() float64 { return float64(r.Bare) / float64(r.Appends) }

// Measure plays a scenario in an engine.
func Measure(ctx context.Context, engine table.Engine, s Scenario, plan Plan) (Result, error) {
	meter := &capacity.Meter{}
	b := &bench{store: stores.New(meter.Around(engine)), engine: engine, user: "user-" + uuid.NewString(), scenario: s}
	if err := b.create(ctx); err != nil {
		return Result{}, err
	}
	out := Result{Scenario: s}
	var bare, appends work
	for round := range plan.Rounds + 1 {
		puts, err := b.during(ctx, plan.Slice, b.put)
		if err != nil {
			return Result{}, err
		}
		before := meter.Total()
		appended, err := b.during(ctx, plan.Slice, b.append)
		if err != nil {
			return Result{}, err
		}
		if round == 0 { // compilers and caches warm up
			continue
		}
		bare, appends = bare.plus(puts), appends.plus(appended)
		u := meter.Total().Sub(before)
		out.Usage.Reads += u.Reads
		out.Usage.Writes += u.Writes
		out.Usage.Requests += u.Requests
	}
	out.Bare, out.Appends = bare.each(), appends.each()
	out.Appended, out.Refused, out.Wait = appends.done, appends.refused, appends.waits
	return out, nil
}

// work is what writers did in some time.
type work struct {
	took          time.Duration
	done, refused int
	waits         Waits
}

func (w work) plus(v work) work {
	return work{w.took + v.took, w.done + v.done, w.refused + v.refused, append(w.waits, v.waits...)}
}

func (w work) each() time.Duration { return w.took / time.Duration(max(1, w.done)) }

// during lets all writers work until the time is over. Work that has begun is completed.
func (b *bench) during(ctx context.Context, slice time.Duration, do func(ctx context.Context, writer int) (refused bool, err error)) (work, error) {
	var mu sync.Mutex
	var out work
	var failed error
	var over atomic.Bool
	began := time.Now()
	timer := time.AfterFunc(slice, func() { over.Store(true) })
	defer timer.Stop()
	var writers sync.WaitGroup
	for n := range b.scenario.Writers {
		writers.Go(func() {
			for !over.Load() {
				start := time.Now()
				refused, err := do(ctx, n)
				mu.Lock()
				out.waits = append(out.waits, time.Since(start))
				switch {
				case err != nil:
					failed = fmt.Errorf("writer %d: %w", n, err)
					over.Store(true)
				case refused:
					out.refused++
				default:
					out.done++
				}
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	out.took = time.Since(began)
	return out, failed
}
