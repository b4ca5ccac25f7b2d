// Package play runs commands side by side, with their output one after the other.
package play

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// grace is how long a command may take to end after an interrupt.
const grace = 20 * time.Second

var errFailed = errors.New("steps failed")

// Step is a command with a name.
type Step struct {
	Name    string
	Command []string
}

// All runs steps in their order, as many at once as given. It writes the output of
// each when it has ended, under its name and its seconds. After a failure it starts
// no further ones, and returns an error that names those that failed.
func All(ctx context.Context, steps []Step, atOnce int, out io.Writer) error {
	r := &run{steps: steps, out: out}
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for s, ok := r.next(ctx); ok; s, ok = r.next(ctx) {
				r.play(ctx, s)
			}
		})
	}
	wg.Wait()
	if len(r.failed) > 0 {
		return fmt.Errorf("%w: %s", errFailed, strings.Join(r.failed, ", "))
	}
	return ctx.Err()
}

type run struct {
	mu     sync.Mutex
	steps  []Step // not yet started
	failed []string
	out    io.Writer
}

func (r *run) next(ctx context.Context) (Step, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.steps) == 0 || len(r.failed) > 0 || ctx.Err() != nil {
		return Step{}, false
	}
	s := r.steps[0]
	r.steps = r.steps[1:]
	return s, true
}

func (r *run) play(ctx context.Context, s Step) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = grace
	began := time.Now()
	err := cmd.Run()
	r.mu.Lock()
	defer r.mu.Unlock()
	outcome := "passed"
	if err != nil {
		outcome = "FAILED, " + err.Error()
		r.failed = append(r.failed, s.Name)
	}
	if _, err := fmt.Fprintf(r.out, "== %s: %s after %.0f s\n%s", s.Name, outcome, time.Since(began).Seconds(), said.Bytes()); err != nil {
		r.failed = append(r.failed, s.Name+" (cannot print: "+err.Error()+")")
	}
}
