package run_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// continuing is an agent whose runs may be continued.
type continuing struct {
	agentFunc
	times int
}

func (c continuing) Continuations() int { return c.times }

func (c continuing) Agent(name string) (run.Agent, bool) {
	_, ok := c.agentFunc.Agent(name)
	return c, ok
}

func heard(id, content string, status session.EventStatus) session.Event {
	e := *whole(id, content, false).Event
	e.Status, e.InvocationID = status, "r"
	return e
}

func TestExecute_continues(t *testing.T) {
	t.Run("claims with what the agent's configuration allows", func(t *testing.T) {
		r := newRecorder()
		w := newWorker(r, nil)
		w.Agents = continuing{func(context.Context, run.Request, func(run.Output) error) error { return nil }, 3}
		mustExecute(t, w)
		if got := []int{r.claimant.May("demo"), r.claimant.May("another")}; got[0] != 3 || got[1] != 0 {
			t.Errorf("claimed with %v continuations, want 3 for the agent and 0 for one that is not configured", got)
		}
		w.Agents = continuing{nil, 1000}
		if got := r.claimant.May("demo"); got != run.MaxContinuations {
			t.Errorf("claimed with %d continuations, want %d", got, run.MaxContinuations)
		}
	})
	t.Run("the agent is told what was said", func(t *testing.T) {
		r := newRecorder()
		r.continuations = 2
		said := []session.Event{heard("a", "one", session.EventCompleted), heard("b", "tw", session.EventFailed)}
		var got run.Request
		w := newWorker(r, func(_ context.Context, req run.Request, emit func(run.Output) error) error {
			got = req
			return emit(whole("c", "three", false))
		})
		w.Sessions = &history{said: said}
		mustExecute(t, w)
		if got.Continuation != 2 || got.RunID != "r" {
			t.Errorf("called with %+v", got)
		}
		if diff := cmp.Diff(said, got.Said); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
		if n := r.all("Append")[0].event.Continuation(); n != 2 {
			t.Errorf("the event is of continuation %d, want 2", n)
		}
		for _, o := range r.ops {
			if o.name != "Claim" && o.ref.Continuation != 2 {
				t.Errorf("%s is of continuation %d, want 2", o.name, o.ref.Continuation)
			}
		}
		wantEnd(t, r, "completed")
	})
	t.Run("ids that an agent chooses again are replaced, unless the event is the same", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder()
			r.continuations = 1
			w := newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
				return errors.Join(
					emit(whole("a", "one", false)), emit(whole("b", "another", false)), emit(whole("c", "new", false)),
					says(ctx, emit, 0, "again"),
				)
			})
			w.Sessions = &history{said: []session.Event{
				heard("a", "one", session.EventCompleted), heard("b", "two", session.EventCompleted), heard("i1", "thr", session.EventFailed),
			}}
			mustExecute(t, w)
			var ids []string
			for _, o := range append(r.all("Append"), r.all("Begin")...) {
				ids = append(ids, o.id)
				if n := o.event.Continuation(); n != 1 {
					t.Errorf("%s is of continuation %d, want 1", o.name, n)
				}
			}
			if diff := cmp.Diff([]string{"a", "", "c", ""}, ids); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("what was said counts towards the limit of items", func(t *testing.T) {
		r := newRecorder()
		r.continuations = 1
		w := newWorker(r, func(_ context.Context, _ run.Request, emit func(run.Output) error) error {
			return errors.Join(emit(whole("", "last", false)), emit(whole("", "too many", false)))
		})
		w.Sessions = &history{said: make([]session.Event, run.MaxItems-1)}
		mustExecute(t, w)
		wantEnd(t, r, "failed limit_exceeded")
	})
	t.Run("a worker that was taken over stops without ending the run", func(t *testing.T) {
		for name, agent := range map[string]agentFunc{
			"at a write": func(_ context.Context, _ run.Request, emit func(run.Output) error) error {
				return emit(whole("", "late", false))
			},
			"while its agent is silent": func(ctx context.Context, _ run.Request, _ func(run.Output) error) error {
				return wait(ctx, time.Hour)
			},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRecorder()
					r.continuations = 1
					r.refuse = func(call string) error {
						if call == "Claim" || call == "Run" {
							return nil
						}
						return run.SupersededFault(theRun)
					}
					w := newWorker(r, func(ctx context.Context, req run.Request, emit func(run.Output) error) error {
						r.takeOver()
						return agent(ctx, req, emit)
					})
					mustExecute(t, w)
					if n := len(r.all("End")); n != 0 {
						t.Errorf("%d ends, want none: %v", n, r.names())
					}
				})
			})
		}
	})
}
