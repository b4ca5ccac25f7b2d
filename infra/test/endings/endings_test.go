package endings_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/frontendtest"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/a2a"
	"github.com/rethread/rethread/shared/transport/agui"
	"github.com/rethread/rethread/shared/transport/aisdk"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/openresponses"
)

// half is what the agent says before the middle, and whole all that it says. Both have a
// character at which some readers split lines.
const (
	half  = "one\u0085 "
	whole = half + "two"
)

// story is how a run goes on from the middle, and what each way of reading it tells.
type story struct {
	name   string
	queued bool
	goOn   func(t *testing.T, r *frontendtest.Rig, w *frontendtest.Worker)
	// live is what streams tell, from the beginning or the middle, and later what is read
	// when the run is over; "" is as live.
	live, later string
	said        string
	// otherwise is what a protocol tells that has no word for an end, by its name, and the
	// way if only that has none.
	otherwise map[string]end
}

func finished(reason string) func(*testing.T, *frontendtest.Rig, *frontendtest.Worker) {
	return func(t *testing.T, _ *frontendtest.Rig, w *frontendtest.Worker) {
		t.Helper()
		w.Write(t, "two")
		w.Complete(t, `{"text":"`+whole+`"}`, func(e *session.Event) { e.Fields["finish_reason"] = json.RawMessage(`"` + reason + `"`) })
	}
}

// unmarked are the protocols without a word for an answer that was cut off.
func unmarked() map[string]end {
	e := end{"completed", whole}
	return map[string]end{"AG-UI": e, "A2A 1.0": e, "A2A 0.3": e}
}

func stories() []story {
	return []story{
		{name: "completed", goOn: finished("stop"), live: "completed", said: whole},
		{name: "truncated", goOn: finished("length"), live: "truncated", said: whole, otherwise: unmarked()},
		{name: "refused", goOn: finished("content_filter"), live: "refused", said: whole, otherwise: unmarked()},
		{name: "failed", live: "failed", said: half, goOn: func(t *testing.T, _ *frontendtest.Rig, w *frontendtest.Worker) {
			t.Helper()
			w.Fail(t, "odd")
		}},
		{name: "cancelled", live: "cancelled", said: half, goOn: func(t *testing.T, r *frontendtest.Rig, w *frontendtest.Worker) {
			t.Helper()
			if _, err := r.Store.Runs.Cancel(t.Context(), w.Ref); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "lost worker", live: "failed", said: half, goOn: func(t *testing.T, r *frontendtest.Rig, _ *frontendtest.Worker) {
			t.Helper()
			r.Advance(2 * time.Minute)
		}},
		{
			name: "rewound while streaming", live: "cancelled", later: "gone", said: half,
			otherwise: map[string]end{
				// A response can still be read, a task without what it said.
				"Responses polled": {"cancelled", half}, "Responses reloaded": {"cancelled", half},
				"A2A 1.0 polled": {"cancelled", ""}, "A2A 1.0 reloaded": {"cancelled", ""},
				"A2A 0.3 polled": {"cancelled", ""}, "A2A 0.3 reloaded": {"cancelled", ""},
				"AG-UI reloaded":      {"completed", ""}, // an empty thread
				"the thread streamed": {"gone", ""}, "the thread resumed": {"gone", ""},
			},
			goOn: func(t *testing.T, r *frontendtest.Rig, w *frontendtest.Worker) {
				t.Helper()
				_, err := r.Store.History.Rewind(t.Context(), session.Rewind{
					SessionID: "s", UserID: frontendtest.Alice, Before: w.Ref.RunID, Nonce: "n", CancelRun: true,
				})
				if err != nil {
					t.Fatal(err)
				}
			},
		},
		{name: "queued, then begun", queued: true, goOn: finished("stop"), live: "completed", said: whole},
		{name: "question to the person", live: "asks", said: half, goOn: func(t *testing.T, _ *frontendtest.Rig, w *frontendtest.Worker) {
			t.Helper()
			w.Complete(t, `{"text":"`+half+`"},{"function_call":{"id":"c1","name":"pick","args":{}}}`, nil)
		}},
	}
}

// agents are those of the rig, whose function pick the client answers.
type agents struct{ frontend.Agents }

func (agents) AgentNames() []string         { return []string{"helper"} }
func (agents) Obeys(string) map[string]bool { return nil }
func (agents) ClientTools(string) []string  { return []string{"pick"} }

// newRig serves all protocols over one store.
func newRig(t *testing.T) *frontendtest.Rig {
	t.Helper()
	var r *frontendtest.Rig
	r = frontendtest.New(t, func(c frontend.Config) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("/agui/", agui.New(c))
		mux.Handle("/ai-sdk/", aisdk.New(c))
		mux.Handle("/v1/", openresponses.New(c, agents{c.Agents}))
		mux.HandleFunc("/a2a/", func(w http.ResponseWriter, req *http.Request) {
			a2a.New(c, a2a.Config{Tasks: r.Store.Tasks, Links: r.Store.Tasks}).ServeHTTP(w, req)
		})
		return mux
	}, "no type")
	if _, err := r.Store.Sessions.Create(t.Context(), session.New{ID: "s", UserID: frontendtest.Alice, Agent: "helper", Nonce: "n"}); err != nil {
		t.Fatal(err)
	}
	return r
}

// play plays a story in a protocol and returns what each way tells.
func play(t *testing.T, s story, p protocol) map[string]end {
	t.Helper()
	r := newRig(t)
	var before *frontendtest.Worker
	if s.queued {
		responses().start(t, r, false)
		before = r.Work(t)
	}
	first := p.start(t, r, s.queued)
	if first.Status != http.StatusOK {
		t.Fatalf("got %d %s", first.Status, first.Body)
	}
	if s.queued {
		before.Complete(t, `{"text":"before"}`, nil)
		r.StartQueued(t, "s")
	}
	w := r.Work(t)
	w.Write(t, half)
	first.untilSaid(t)
	middle := p.resume(t, r, first)
	if middle.Status != http.StatusOK {
		t.Fatalf("resumed: %d %s", middle.Status, middle.Body)
	}
	middle.untilSaid(t)
	s.goOn(t, r, w)
	return map[string]end{
		"streamed": first.end(t), "resumed": middle.end(t), "polled": p.poll(t, r, first), "reloaded": p.reload(t, r, first),
	}
}

// wanted returns what a way of reading a story in a protocol must tell.
func (s story) wanted(protocol, way string) end {
	e := end{s.live, s.said}
	if s.later != "" && (way == "polled" || way == "reloaded") {
		e.how = s.later
	}
	if e.how == "gone" {
		e.said = ""
	}
	if protocol == "AI SDK" && way == "reloaded" && e.how != "asks" && e.how != "gone" {
		e.how = "shown" // messages have no end
	}
	for _, name := range []string{protocol, protocol + " " + way} {
		if other, ok := s.otherwise[name]; ok {
			e = other
		}
	}
	return e
}

// wantCells is nine stories in six protocols and four ways, without two that A2A refuses.
const wantCells = 208

func TestEndings(t *testing.T) {
	t.Parallel()
	cells := make(chan int, 100)
	t.Run("table", func(t *testing.T) {
		t.Parallel()
		for _, s := range stories() {
			for _, p := range []protocol{thread(), overAGUI(), overAISDK(), responses(), a2aNew(), a2aOld()} {
				if s.queued && strings.HasPrefix(p.name, "A2A") {
					continue // A2A refuses a message while a run is in progress
				}
				t.Run(s.name+" in "+p.name, func(t *testing.T) {
					t.Parallel()
					ran := 0
					for way, got := range play(t, s, p) {
						ran++
						want := s.wanted(p.name, way)
						if got != want {
							t.Errorf("%s: %+v, want %+v", way, got, want)
						}
					}
					cells <- ran
				})
			}
		}
	})
	t.Cleanup(func() {
		close(cells)
		sum := 0
		for n := range cells {
			sum += n
		}
		t.Logf("%d cells", sum)
		if sum < wantCells && !t.Failed() {
			t.Errorf("only %d cells ran, want %d", sum, wantCells)
		}
	})
}
