package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// toldError is an agent's error that decides how it is shown.
type toldError struct{}

func (toldError) Error() string         { return "told: a detail for the log" }
func (toldError) Problem() *run.Problem { return run.NewProblem("overloaded", "come back later") }

func TestExecuteFails(t *testing.T) {
	item := run.Output{Item: &run.ItemStart{ID: "i1", Author: "demo", Role: "model"}}
	delta := func(d content.Delta) run.Output { return run.Output{Delta: &d} }
	for name, c := range map[string]struct {
		outputs []run.Output
		err     error
		panics  bool
		end     string
		kept    string // text that is stored of the item in progress
	}{
		"with the agent's own problem":                {err: fmt.Errorf("call: %w", toldError{}), end: "failed overloaded"},
		"with any other error":                        {err: errors.New("secret"), end: "failed agent_failed"},
		"if the agent's client panics":                {panics: true, end: "failed agent_failed"},
		"at a delta without an item":                  {outputs: []run.Output{delta(content.Delta{Text: "x"})}, end: "failed agent_failed"},
		"at an event that completes nothing":          {outputs: []run.Output{whole("", "x", true)}, end: "failed agent_failed"},
		"at an output without anything":               {outputs: []run.Output{{}}, end: "failed agent_failed"},
		"keeping the output before the error":         {outputs: []run.Output{item, delta(content.Delta{Text: "a"}), delta(content.Delta{Text: "b"})}, err: toldError{}, end: "failed overloaded", kept: "ab"},
		"at a delta that does not fit":                {outputs: []run.Output{item, delta(content.Delta{Text: "a"}), delta(content.Delta{Text: "b"}), delta(content.Delta{Part: 7})}, end: "failed invalid_content", kept: "ab"},
		"at a call whose arguments are not an object": {outputs: []run.Output{item, delta(content.Delta{Call: &content.CallDelta{Name: "f", ArgsText: "{"}})}, end: "failed invalid_content"},
		"at an item that grows too large":             {outputs: []run.Output{item, delta(content.Delta{Text: "a"}), delta(content.Delta{Text: strings.Repeat("x", run.MaxItem)})}, end: "failed limit_exceeded", kept: "a"},
		"at an event that is too large for a page":    {outputs: []run.Output{whole("", strings.Repeat("x", session.PageBytes), false)}, end: "failed limit_exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecorder()
				mustExecute(t, newWorker(r, func(_ context.Context, _ run.Request, emit func(run.Output) error) error {
					for _, out := range c.outputs {
						if err := emit(out); err != nil {
							return err
						}
					}
					if c.panics {
						panic("a bug")
					}
					return c.err
				}))
				wantEnd(t, r, c.end)
				var kept strings.Builder
				for _, d := range r.flushed() {
					kept.WriteString(d.Text)
				}
				if kept.String() != c.kept {
					t.Errorf("kept %q, want %q", kept.String(), c.kept)
				}
				if len(r.all("Complete")) > 0 {
					t.Error("the item was completed")
				}
			})
		})
	}
	t.Run("after too many items", func(t *testing.T) {
		r := newRecorder()
		mustExecute(t, newWorker(r, func(_ context.Context, _ run.Request, emit func(run.Output) error) error {
			for {
				if err := emit(whole("", "x", false)); err != nil {
					return err
				}
			}
		}))
		wantEnd(t, r, "failed limit_exceeded")
		if n := len(r.all("Append")); n != run.MaxItems {
			t.Errorf("stored %d events, want %d", n, run.MaxItems)
		}
	})
	t.Run("if the agent is not configured", func(t *testing.T) {
		r := newRecorder()
		w := newWorker(r, nil)
		w.Agents = nobody{}
		mustExecute(t, w)
		wantEnd(t, r, "failed unknown_agent")
	})
}

type nobody struct{}

func (nobody) Agent(string) (run.Agent, bool) { return nil, false }

func TestExecuteStoreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		err error
		end string
	}{
		"a broken rule":            {fault.Field(fault.Invalid, "/actions", "is wrong"), "failed invalid_content"},
		"an id that is taken":      {fault.New(fault.Conflict, "the id is taken"), "failed invalid_content"},
		"output that is too large": {fault.New(fault.TooLarge, "the state would exceed"), "failed limit_exceeded"},
		"an unknown error":         {errors.New("throttled"), "failed storage_failed"},
		"a store that stays busy":  {fault.New(fault.Busy, "too many writers"), "failed storage_failed"},
		"a deleted session":        {fault.Missing("Session"), "0 ends"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecorder()
				r.refuse = refusing("Complete", c.err)
				mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
					if err := says(ctx, emit, 0, "a", "b"); err != nil {
						return err
					}
					if err := emit(whole("", "abc", true)); err != nil {
						return err
					}
					return errors.Join(emit(whole("", "never", false)), wait(ctx, time.Hour))
				}))
				wantEnd(t, r, c.end)
				if len(r.all("Append")) != 0 {
					t.Error("something was stored afterwards")
				}
			})
		})
	}
	t.Run("a session that cannot be read fails the run", func(t *testing.T) {
		r := newRecorder()
		w := newWorker(r, nil)
		w.Sessions = &history{err: errors.New("throttled")}
		mustExecute(t, w)
		wantEnd(t, r, "failed storage_failed")
	})
	t.Run("retries while the store is busy", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder()
			tries := 0
			r.refuse = func(name string) error {
				if name == "Append" {
					if tries++; tries < 3 {
						return fault.New(fault.Busy, "too many writers")
					}
				}
				return nil
			}
			mustExecute(t, newWorker(r, func(_ context.Context, _ run.Request, emit func(run.Output) error) error {
				return emit(whole("", "x", false))
			}))
			if diff := cmp.Diff([]string{"Claim", "Append", "Append", "Append", "End"}, r.names()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			wantEnd(t, r, "completed")
		})
	})
	t.Run("flushes only what is not stored after a busy store", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder()
			r.storedFirst = 1
			flushes := 0
			r.refuse = func(name string) error {
				if name == "Flush" {
					if flushes++; flushes == 2 {
						return fault.New(fault.Busy, "too many writers")
					}
				}
				return nil
			}
			mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
				return errors.Join(says(ctx, emit, 0, "a", "b"), emit(run.Output{Delta: &content.Delta{Part: 1, Text: "c"}}), wait(ctx, time.Minute))
			}))
			want := [][]content.Delta{{{Text: "a"}}, {{Text: "b"}, {Part: 1, Text: "c"}}, {{Part: 1, Text: "c"}}}
			var got [][]content.Delta
			for _, o := range r.all("Flush") {
				got = append(got, o.deltas)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("flushes (-want +got):\n%s", diff)
			}
			wantEnd(t, r, "completed")
		})
	})
	t.Run("waits as long as a busy store asks, at most a second, and gives up after 4 attempts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder()
			asked := []time.Duration{0, 600 * time.Millisecond, time.Minute, 0}
			var attempts []time.Time
			r.refuse = func(name string) error {
				if name != "Append" {
					return nil
				}
				f := fault.New(fault.Busy, "too many writers")
				f.RetryAfter = asked[len(attempts)]
				attempts = append(attempts, time.Now())
				return f
			}
			mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
				return errors.Join(emit(whole("", "x", false)), wait(ctx, time.Hour))
			}))
			wantEnd(t, r, "failed storage_failed")
			if len(attempts) != len(asked) {
				t.Fatalf("%d attempts, want %d", len(attempts), len(asked))
			}
			const jitter = 250 * time.Millisecond
			for i, least := range []time.Duration{jitter, 600 * time.Millisecond, time.Second} {
				if waited := attempts[i+1].Sub(attempts[i]); waited < least || waited >= least+jitter {
					t.Errorf("waited %s after attempt %d, want %s and up to %s more", waited, i+1, least, jitter)
				}
			}
		})
	})
}
