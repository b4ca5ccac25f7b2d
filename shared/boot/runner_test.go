package boot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// runner is the function with its own table and one agent, whose behaviour is answer.
type runner struct {
	execute func(context.Context, run.Ref) error
	store   *stores.Store
	now     atomic.Int64 // added to the time, as a time.Duration
	calls   atomic.Int64
}

func TestRunner(t *testing.T) {
	t.Run("stores what the agent streams", func(t *testing.T) {
		r := newRunner(t, func(rw http.ResponseWriter, req *http.Request) {
			var in struct{ Events []json.RawMessage }
			if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
				t.Error(err)
			}
			send(rw, "item", `{"id":"answer-%d"}`, len(in.Events))
			for _, word := range []string{"seen ", "so ", "far: "} {
				send(rw, "delta", `{"part":0,"text":%q}`, word)
			}
			send(rw, "delta", `{"part":0,"text":"%d"}`, len(in.Events))
			send(rw, "event", `{"actions":{"state_delta":{"turns":%d}}}`, len(in.Events))
			send(rw, "done", `{}`)
		})
		for _, id := range []string{"first", "second"} {
			ref := r.mustStart(t, id)
			r.mustExecute(t, ref)
			r.mustExecute(t, ref) // delivered again
			r.wantRun(t, ref, run.Completed, "")
		}
		if n := r.calls.Load(); n != 2 {
			t.Errorf("the agent was called %d times, want 2", n)
		}
		want := []string{"first", "seen so far: 1", "second", "seen so far: 3"}
		if diff := cmp.Diff(want, r.mustTexts(t)); diff != "" {
			t.Errorf("the session (-want +got):\n%s", diff)
		}
		state, err := r.store.Sessions.State(t.Context(), "alice", "s")
		if err != nil || string(state.Merged["turns"]) != "3" {
			t.Errorf("state %s, %v", state.Merged["turns"], err)
		}
	})
	t.Run("keeps the output and the error of a failed agent", func(t *testing.T) {
		r := newRunner(t, func(rw http.ResponseWriter, _ *http.Request) {
			send(rw, "delta", `{"part":0,"text":"half "}`)
			send(rw, "delta", `{"part":0,"text":"a word"}`)
			send(rw, "error", `{"code":"overloaded","message":"come back later"}`)
		})
		ref := r.mustStart(t, "hello")
		r.mustExecute(t, ref)
		r.wantRun(t, ref, run.Failed, "overloaded")
		if diff := cmp.Diff([]string{"hello", "half a word"}, r.mustTexts(t)); diff != "" {
			t.Errorf("the session (-want +got):\n%s", diff)
		}
	})
	t.Run("closes the connection to a silent agent on cancellation", func(t *testing.T) {
		asked, closed := make(chan struct{}), make(chan struct{})
		r := newRunner(t, func(rw http.ResponseWriter, req *http.Request) {
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				t.Error(err)
			}
			send(rw, "delta", `{"part":0,"text":"hm"}`)
			close(asked)
			<-req.Context().Done()
			close(closed)
		})
		ref := r.mustStart(t, "hello")
		done := make(chan error, 1)
		go func() { done <- r.execute(t.Context(), ref) }()
		<-asked
		if _, err := r.store.Runs.Cancel(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("execute: %v", err)
		}
		<-closed
		r.wantRun(t, ref, run.Cancelled, "")
	})
	t.Run("ends the run when its job is repeated after a crash", func(t *testing.T) {
		r := newRunner(t, func(http.ResponseWriter, *http.Request) {})
		ref := r.mustStart(t, "hello")
		if _, err := r.store.Runs.Claim(t.Context(), ref, run.Claimant{Worker: "crashed"}); err != nil {
			t.Fatal(err)
		}
		r.mustExecute(t, ref)
		r.wantRun(t, ref, run.InProgress, "")
		r.now.Store(int64(run.Lease + time.Second))
		r.mustExecute(t, ref)
		r.wantRun(t, ref, run.Failed, run.CodeLost)
		if n := r.calls.Load(); n != 0 {
			t.Errorf("the agent was called %d times", n)
		}
	})
	t.Run("continues the run when its job is repeated after a crash, if the agent allows it", func(t *testing.T) {
		asked := make(chan map[string]any, 1)
		r := newRunner(t, func(rw http.ResponseWriter, req *http.Request) {
			var in map[string]any
			if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
				t.Error(err)
			}
			asked <- in
			send(rw, "delta", `{"part":0,"text":"the rest"}`)
			send(rw, "done", `{}`)
		})
		ref := r.mustStart(t, "hello")
		once := func(string) int { return 1 }
		if _, err := r.store.Runs.Claim(t.Context(), ref, run.Claimant{Worker: "crashed", Continuations: once}); err != nil {
			t.Fatal(err)
		}
		r.mustExecute(t, ref)
		r.wantRun(t, ref, run.InProgress, "")
		r.now.Store(int64(run.Lease + time.Second))
		r.mustExecute(t, ref)
		r.wantRun(t, ref, run.Completed, "")
		if in := <-asked; in["continuation"] != 1.0 || in["run_id"] != ref.RunID {
			t.Errorf("asked with %v", in)
		}
		if diff := cmp.Diff([]string{"hello", "the rest"}, r.mustTexts(t)); diff != "" {
			t.Errorf("the session (-want +got):\n%s", diff)
		}
	})
	t.Run("accepts an event without a run", func(t *testing.T) {
		newRunner(t, nil).mustExecute(t, run.Ref{UserID: "alice", SessionID: "s", RunID: "none"})
	})
}

func newRunner(t *testing.T, answer http.HandlerFunc) *runner {
	t.Helper()
	r := &runner{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		r.calls.Add(1)
		rw.Header().Set("Content-Type", "text/event-stream")
		answer(rw, req)
	}))
	t.Cleanup(server.Close)
	configured, err := agentconfig.Parse(fmt.Sprintf(`{"demo":{"type":"http","url":%q}}`, server.URL), nil)
	if err != nil {
		t.Fatal(err)
	}
	agents := agent.New(configured)
	t.Cleanup(agents.Close)
	r.store = stores.New(storetest.Engine(t),
		stores.WithClock(func() time.Time { return time.Now().Add(time.Duration(r.now.Load())) }))
	r.execute = boot.Runner(&run.Worker{
		Store: r.store.Runs, Sessions: r.store.Runs, Agents: agents, NewID: uuid.NewString, Log: slog.New(slog.DiscardHandler),
		Pace: run.Pace{CheckEvery: 100 * time.Millisecond},
	})
	n := session.New{ID: "s", UserID: "alice", Nonce: "n"}
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.Sessions.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return r
}

// send sends a server-sent event; the client may be gone.
func send(rw http.ResponseWriter, kind, format string, args ...any) {
	if _, err := fmt.Fprintf(rw, "event: %s\ndata: "+format+"\n\n", append([]any{kind}, args...)...); err == nil {
		_ = http.NewResponseController(rw).Flush()
	}
}

// mustStart starts a run whose input says its id.
func (r *runner) mustStart(t *testing.T, id string) run.Ref {
	t.Helper()
	ref := run.Ref{UserID: "alice", SessionID: "s", RunID: id}
	content, err := json.Marshal(map[string]any{"role": "user", "parts": []any{map[string]any{"text": id}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.store.Runs.Start(t.Context(), run.Start{Ref: ref, Mode: run.Managed, Input: []session.Event{
		{InvocationID: id, Author: "user", Fields: map[string]json.RawMessage{"content": content}},
	}})
	if err != nil {
		t.Fatalf("start run %s: %v", id, err)
	}
	return ref
}

func (r *runner) mustExecute(t *testing.T, ref run.Ref) {
	t.Helper()
	if err := r.execute(t.Context(), ref); err != nil {
		t.Fatalf("execute: %v", err)
	}
}

func (r *runner) wantRun(t *testing.T, ref run.Ref, status run.Status, code string) {
	t.Helper()
	got, err := r.store.Runs.Run(t.Context(), ref)
	if err != nil {
		t.Fatalf("read run: %v", err)
	}
	have := ""
	if got.Error != nil {
		have = got.Error.Code
	}
	if got.Status != status || have != code {
		t.Errorf("the run is %s %q, want %s %q", got.Status, have, status, code)
	}
}

// mustTexts returns the texts that the session shows, one for each event.
func (r *runner) mustTexts(t *testing.T) []string {
	t.Helper()
	page, err := r.store.Sessions.Events(t.Context(), "alice", "s", session.EventQuery{View: session.Effective, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range page.Events {
		var content struct{ Parts []struct{ Text string } }
		if err := json.Unmarshal(e.Fields["content"], &content); err != nil || len(content.Parts) != 1 {
			t.Fatalf("event %+v: %v", e, err)
		}
		out = append(out, content.Parts[0].Text)
	}
	return out
}
