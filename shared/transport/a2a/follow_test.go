package a2a_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// Whatever becomes of the news on their way, a stream tells the whole answer
// while it comes, and ends with what the task is.
func TestStream(t *testing.T) {
	t.Parallel()
	isDelta := func(m watch.Message, remainder int64) bool {
		return m.Type == watch.DeltaType && *m.Offset%2 == remainder
	}
	for _, test := range []struct {
		name   string
		carry  func() func(*newsroom, watch.Message)
		anew   bool // connections are opened anew
		refuse int  // connections
	}{
		{"nothing stands in the way", func() func(*newsroom, watch.Message) { return (*newsroom).tell }, false, 0},
		{"every other delta is lost", func() func(*newsroom, watch.Message) {
			return func(n *newsroom, m watch.Message) {
				if !isDelta(m, 1) {
					n.tell(m)
				}
			}
		}, true, 0},
		{"each message comes twice", func() func(*newsroom, watch.Message) {
			return func(n *newsroom, m watch.Message) { n.tell(m); n.tell(m) }
		}, false, 0},
		{"deltas overtake one another", func() func(*newsroom, watch.Message) {
			var slow *watch.Message
			return func(n *newsroom, m watch.Message) {
				if isDelta(m, 1) {
					slow = &m
					return
				}
				n.tell(m)
				if slow != nil {
					n.tell(*slow)
					slow = nil
				}
			}
		}, false, 0},
		{"the thread is to be read anew", func() func(*newsroom, watch.Message) {
			return func(n *newsroom, m watch.Message) {
				if isDelta(m, 0) {
					m = watch.Message{
						Type: watch.Reload, SessionID: m.SessionID, Cursor: m.Cursor, Prev: m.Prev, Reason: watch.ReasonBehind,
					}
				}
				n.tell(m)
			}
		}, true, 0},
		{"the connection dies", func() func(*newsroom, watch.Message) {
			return func(n *newsroom, m watch.Message) {
				if isDelta(m, 0) {
					n.cutAll()
				}
				n.tell(m)
			}
		}, true, 0},
		{"no connection can be had at first", func() func(*newsroom, watch.Message) { return (*newsroom).tell }, true, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, test.carry())
			r.news.refuses = test.refuse
			heard := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.say("hello")))
			w := r.mustWork(t)
			all := ""
			for _, words := range [][]string{{"one ", "two "}, {"three ", "four "}} {
				for range 2 {
					for _, word := range words { // what is lost shows with what comes after it
						w.says(t, word)
						all += word
					}
					heard.until(t, all)
				}
				w.completes(t)
				w.begins(t)
			}
			w.ends(t, run.Completed, nil)
			heard.mustEndAs(t, r, lib.TaskStateCompleted)
			if n := r.news.connections(); test.anew != (n > 1) {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestStreamOfARun(t *testing.T) {
	t.Parallel()
	t.Run("whose worker died it is told to have failed", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(*newsroom, watch.Message) {}) // no news come, since nothing happens
		heard := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.say("hello")))
		w := r.mustWork(t)
		w.says(t, "half")
		r.clock.add(2 * run.Lease)
		heard.mustEndAs(t, r, lib.TaskStateFailed)
	})
	t.Run("that ended without anybody's saying so it is told the end of", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(n *newsroom, m watch.Message) {
			if m.Type != watch.Status {
				n.tell(m)
			}
		})
		heard := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.say("hello")))
		w := r.mustWork(t)
		w.says(t, "all")
		w.ends(t, run.Failed, run.NewProblem("boom", "it broke"))
		heard.mustEndAs(t, r, lib.TaskStateFailed)
	})
	t.Run("that nothing can be heard of it is told the end of", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*newsroom).tell)
		r.news.refuses = 1000
		heard := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.say("hello")))
		w := r.mustWork(t)
		w.says(t, "all")
		w.completes(t)
		w.ends(t, run.Completed, nil)
		heard.mustEndAs(t, r, lib.TaskStateCompleted)
	})
	t.Run("that a rewind takes back it is told to be cancelled", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*newsroom).tell)
		heard := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.say("hello")))
		w := r.mustWork(t)
		w.says(t, "gone")
		heard.until(t, "gone")
		if _, err := r.store.Rewind(t.Context(), session.Rewind{
			UserID: alice, SessionID: r.context, Before: w.ref.RunID, CancelRun: true, Nonce: "marker",
		}); err != nil {
			t.Fatal(err)
		}
		if last := heard.end(t); last != lib.TaskStateCanceled {
			t.Errorf("it ends %s", last)
		}
	})
	t.Run("of a session that is deleted it ends", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*newsroom).tell)
		heard := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.say("hello")))
		r.mustWork(t).says(t, "gone")
		heard.until(t, "gone")
		if err := r.store.Delete(t.Context(), alice, r.context); err != nil {
			t.Fatal(err)
		}
		<-heard.over
		if heard.err == nil {
			t.Errorf("it ends %s", heard.last)
		}
	})
	t.Run("that asks its user it goes on with the answer, or ends when it is cancelled", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*newsroom).tell)
		asking := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.say("hello")))
		r.mustWork(t).asks(t)
		if last := asking.end(t); last != lib.TaskStateInputRequired {
			t.Fatalf("it ends %s", last)
		}
		id := asking.first.ID
		joined := r.listen(t, r.client.SubscribeToTask(t.Context(), &lib.SubscribeToTaskRequest{ID: id}))
		joined.until(t, "")
		more := r.say("yes")
		more.Message.TaskID = id
		more.Config = &lib.SendMessageConfig{ReturnImmediately: true}
		if _, err := r.client.SendMessage(t.Context(), more); err != nil {
			t.Fatal(err)
		}
		w := r.mustWork(t)
		w.says(t, "and on")
		joined.until(t, "and on")
		w.asks(t)
		joined.untilState(t, lib.TaskStateInputRequired)
		if _, err := r.client.CancelTask(t.Context(), &lib.CancelTaskRequest{ID: id}); err != nil {
			t.Fatal(err)
		}
		joined.mustEndAs(t, r, lib.TaskStateCanceled)
	})
}

// asks completes a run with a function call that its user is to answer.
func (w *worker) asks(t *testing.T) {
	t.Helper()
	w.n++
	e := said(fmt.Sprintf(`{"function_call":{"id":"call%d","name":"confirm","args":{}}}`, w.n))
	if _, err := w.store.AppendEvents(t.Context(), w.ref, []session.Event{e}); err != nil {
		t.Fatal(err)
	}
	w.ends(t, run.Completed, nil)
}

// said is an event of the agent with one part.
func said(part string) session.Event {
	return session.Event{Author: "helper", Fields: map[string]json.RawMessage{
		"content": json.RawMessage(`{"role":"model","parts":[` + part + `]}`),
	}}
}

// listen reads a stream in the background.
func (r *rig) listen(t *testing.T, events iter.Seq2[lib.Event, error]) *listener {
	t.Helper()
	l := &listener{parts: map[lib.ArtifactID]string{}, changed: make(chan struct{}), over: make(chan struct{})}
	go func() {
		defer close(l.over)
		for e, err := range events {
			l.hear(e, err)
		}
	}()
	t.Cleanup(func() { <-l.over })
	return l
}

// mustEndAs waits for the stream's end and compares what it told with the task.
func (l *listener) mustEndAs(t *testing.T, r *rig, want lib.TaskState) {
	t.Helper()
	last := l.end(t)
	task, err := r.client.GetTask(t.Context(), &lib.GetTaskRequest{ID: l.first.ID})
	if err != nil {
		t.Fatal(err)
	}
	if last != want || task.Status.State != want {
		t.Errorf("it ends %s, and the task is %s, not %s", last, task.Status.State, want)
	}
	var text strings.Builder
	for _, a := range task.Artifacts {
		for _, p := range a.Parts {
			text.WriteString(p.Text())
		}
	}
	if diff := cmp.Diff(text.String(), l.text()); diff != "" {
		t.Errorf("(-task +stream):\n%s", diff)
	}
}
