package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestExecute(t *testing.T) {
	t.Run("the agent gets the whole history, the state and the user", func(t *testing.T) {
		r := newRecorder()
		var got run.Request
		w := newWorker(r, func(_ context.Context, req run.Request, _ func(run.Output) error) error {
			got = req
			return nil
		})
		events := []session.Event{{Seq: 1}, {Seq: 2}, {Seq: 3}, {Seq: 4}, {Seq: 7}}
		w.Sessions = &history{events: events}
		mustExecute(t, w)
		want := run.Request{
			RunID: "r", SessionID: "s", UserID: "alice", AppName: "app", Agent: "demo", Events: events, LogID: "log", Epoch: 7,
			State: session.Values{"user:name": json.RawMessage(`"Ada"`)},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
		wantEnd(t, r, "completed")
	})
	t.Run("a request with a limited history has the newest turns and says so", func(t *testing.T) {
		r := newRecorder()
		var got run.Request
		limit := run.HistoryLimit{Turns: 7, Bytes: 1000}
		sessions := &history{events: []session.Event{{Seq: 9}}}
		w := newWorker(r, nil)
		w.Sessions, w.Agents = sessions, limited{func(_ context.Context, req run.Request, _ func(run.Output) error) error {
			got = req
			return nil
		}, limit}
		mustExecute(t, w)
		if sessions.limit != limit || !got.Truncated || len(got.Events) != 1 || got.Epoch != 7 || got.LogID != "log" {
			t.Errorf("read with %+v; the request is %+v", sessions.limit, got)
		}
		wantEnd(t, r, "completed")
	})
	t.Run("an agent's own words are logged only if they are asked for", func(t *testing.T) {
		for _, asked := range []bool{false, true} {
			var logged strings.Builder
			w := newWorker(newRecorder(), func(context.Context, run.Request, func(run.Output) error) error {
				return quotingError{}
			})
			w.Log, w.LogAgentErrors = slog.New(slog.NewTextHandler(&logged, nil)), asked
			mustExecute(t, w)
			if strings.Contains(logged.String(), "what you said") != asked || !strings.Contains(logged.String(), "refused") {
				t.Errorf("asked for %v, logged\n%s", asked, logged.String())
			}
		}
	})
	t.Run("the agent of a session that names none gets the default name", func(t *testing.T) {
		r := newRecorder()
		r.agent = ""
		mustExecute(t, newWorker(r, func(_ context.Context, req run.Request, _ func(run.Output) error) error {
			if req.Agent != "default" {
				t.Errorf("told %q", req.Agent)
			}
			return nil
		}))
		wantEnd(t, r, "completed")
	})
	t.Run("whole events are appended as they arrive", func(t *testing.T) {
		r := newRecorder()
		mustExecute(t, newWorker(r, func(_ context.Context, _ run.Request, emit func(run.Output) error) error {
			return errors.Join(emit(whole("a", "one", false)), emit(whole("", "two", false)))
		}))
		if diff := cmp.Diff([]string{"Claim", "Append", "Append", "End"}, r.names()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if e := r.all("Append")[0].event; e.InvocationID != "r" || e.ID != "a" {
			t.Errorf("appended %+v", e)
		}
	})
	t.Run("an event completes the item in progress and drops its pending deltas", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder()
			mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
				return errors.Join(says(ctx, emit, 0, "a", "b"), emit(whole("other", "abc", true)))
			}))
			if diff := cmp.Diff([]string{"Claim", "Begin", "Flush", "Complete", "End"}, r.names()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if c := r.all("Complete")[0]; c.event.ID != "i1" || text(c.event) != "abc" {
				t.Errorf("completed with %+v", c.event)
			}
		})
	})
	t.Run("an item completed before any delta is one event", func(t *testing.T) {
		r := newRecorder()
		mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
			return errors.Join(says(ctx, emit, 0), emit(whole("", "abc", true)))
		}))
		if diff := cmp.Diff([]string{"Claim", "Append", "End"}, r.names()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if id := r.all("Append")[0].id; id != "i1" {
			t.Errorf("appended as %q, want the item's own id", id)
		}
	})
	t.Run("a new item, or the end, completes the one in progress", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder()
			mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
				return errors.Join(says(ctx, emit, 0, "a", "b"), says(ctx, emit, 0, "c", "d"))
			}))
			want := []string{"Claim", "Begin", "Flush", "Complete", "Begin", "Flush", "Complete", "End"}
			if diff := cmp.Diff(want, r.names()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			for i, want := range []string{"ab", "cd"} {
				if e := r.all("Complete")[i].event; text(e) != want || e.Author != "demo" || e.InvocationID != "r" {
					t.Errorf("completed with %+v, want text %q", e, want)
				}
			}
			wantEnd(t, r, "completed")
		})
	})
	t.Run("the store assigns an id to an item without one", func(t *testing.T) {
		r := newRecorder()
		mustExecute(t, newWorker(r, func(_ context.Context, _ run.Request, emit func(run.Output) error) error {
			return errors.Join(emit(run.Output{Item: &run.ItemStart{Author: "demo"}}), emit(run.Output{Delta: &content.Delta{Text: "a"}}))
		}))
		if id := r.all("Complete")[0].event.ID; id != "made" {
			t.Errorf("completed %q", id)
		}
	})
	t.Run("an item without deltas leaves nothing behind", func(t *testing.T) {
		r := newRecorder()
		mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
			return says(ctx, emit, 0)
		}))
		if diff := cmp.Diff([]string{"Claim", "End"}, r.names()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

func TestExecuteClaims(t *testing.T) {
	never := func(context.Context, run.Request, func(run.Output) error) error {
		t.Error("the agent was called")
		return errors.New("called")
	}
	t.Run("reads a run of another worker, which ends it if that worker died", func(t *testing.T) {
		r := newRecorder()
		r.refuse = refusing("Claim", fault.New(fault.Conflict, "another worker executes the run"))
		mustExecute(t, newWorker(r, never))
		if len(r.ops) != 2 || r.ops[1].name != "Run" {
			t.Errorf("calls: %+v", r.ops)
		}
	})
	t.Run("a deleted run is done", func(t *testing.T) {
		for _, gone := range []error{fault.Missing("Run"), fault.NotYours("session")} {
			r := newRecorder()
			r.refuse = refusing("Claim", gone)
			mustExecute(t, newWorker(r, never))
		}
	})
	t.Run("an unreachable store causes another delivery", func(t *testing.T) {
		for _, name := range []string{"Claim", "Run", "End"} {
			r := newRecorder()
			down := errors.New("no route to host")
			r.refuse = func(called string) error {
				if called == "Claim" && name == "Run" {
					return fault.New(fault.Conflict, "another worker executes the run")
				}
				return refusing(name, down)(called)
			}
			w := newWorker(r, func(context.Context, run.Request, func(run.Output) error) error { return nil })
			if err := w.Execute(t.Context(), theRun); !errors.Is(err, down) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func refusing(name string, err error) func(string) error {
	return func(called string) error {
		if called == name {
			return err
		}
		return nil
	}
}

func whole(id, content string, completes bool) run.Output {
	raw, err := json.Marshal(map[string]any{"role": "model", "parts": []any{map[string]any{"text": content}}})
	if err != nil {
		panic(err)
	}
	return run.Output{
		Event:     &session.Event{ID: id, Author: "demo", Fields: map[string]json.RawMessage{"content": raw}},
		Completes: completes,
	}
}

// text returns the text of an event's parts.
func text(e session.Event) string {
	var content struct{ Parts []struct{ Text string } }
	if json.Unmarshal(e.Fields["content"], &content) != nil {
		return "no content"
	}
	var all strings.Builder
	for _, p := range content.Parts {
		all.WriteString(p.Text)
	}
	return all.String()
}

// quotingError is an agent's error that quotes the conversation.
type quotingError struct{}

func (quotingError) Error() string  { return "refused: what you said is odd" }
func (quotingError) Logged() string { return "refused" }
