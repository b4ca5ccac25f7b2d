// Package play runs steps, counts their cases and the time of the processor, and holds
// them to their budgets.
package play

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

var (
	errFailed = errors.New("steps failed")
	errFew    = errors.New("too few cases")
)

// Kind says when a step runs.
type Kind string

// The kinds of steps.
const (
	First    Kind = "first"    // before all others, one after the other
	Computes Kind = "computes" // one at a time
	Waits    Kind = "waits"    // one at a time, beside one that computes
)

// Step is a part of the proof, with its budget.
type Step struct {
	Name      string
	Kind      Kind
	CPU       float64 // seconds of the processor
	Cases     int     // the least number
	Unchanged string  // where it passed with the same inputs; such a step is not run
}

// Result is what became of a step that ran.
type Result struct {
	Step  Step
	Wall  time.Duration
	CPU   time.Duration
	Cases int
	Err   error
}

// Run is a way to execute a step. It returns the time of the processor.
type Run func(ctx context.Context, s Step, out io.Writer) (time.Duration, error)

// All runs steps, and writes the output of each when it has ended. After a failure it
// starts no further ones. It ends with a table, and an error that names those that failed.
func All(ctx context.Context, steps []Step, run Run, out io.Writer) error {
	p := &player{run: run, out: out}
	began := time.Now()
	p.lane(ctx, steps, First)
	var lanes sync.WaitGroup
	for _, kind := range []Kind{Computes, Waits} {
		lanes.Go(func() { p.lane(ctx, steps, kind) })
	}
	lanes.Wait()
	_, err := io.WriteString(out, table(steps, p.results, time.Since(began)))
	if failed := p.failed(); len(failed) > 0 {
		err = errors.Join(err, fmt.Errorf("%w: %s", errFailed, strings.Join(failed, ", ")))
	}
	return errors.Join(err, ctx.Err())
}

type player struct {
	run     Run
	mu      sync.Mutex // guards what follows
	out     io.Writer
	results []Result
}

// lane runs the steps of a kind one after the other.
func (p *player) lane(ctx context.Context, steps []Step, kind Kind) {
	for _, s := range steps {
		if ctx.Err() != nil || len(p.failed()) > 0 {
			return
		}
		if s.Kind == kind && s.Unchanged == "" {
			p.play(ctx, s)
		}
	}
}

func (p *player) failed() (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.results {
		if r.Err != nil {
			names = append(names, r.Step.Name)
		}
	}
	return names
}

func (p *player) play(ctx context.Context, s Step) {
	var said bytes.Buffer
	began := time.Now()
	cpu, err := p.run(ctx, s, &said)
	r := Result{Step: s, Wall: time.Since(began), CPU: cpu, Cases: Cases(said.Bytes()), Err: err}
	if r.Err == nil && r.Cases < s.Cases {
		r.Err = fmt.Errorf("%w: %d of %d", errFew, r.Cases, s.Cases)
	}
	outcome := "passed"
	if r.Err != nil {
		outcome = "FAILED, " + r.Err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := fmt.Fprintf(p.out, "== %s: %s after %.0f s\n%s", s.Name, outcome, r.Wall.Seconds(), said.Bytes()); err != nil {
		r.Err = errors.Join(r.Err, fmt.Errorf("print the output: %w", err))
	}
	p.results = append(p.results, r)
}
