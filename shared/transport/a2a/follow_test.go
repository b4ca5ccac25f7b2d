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

// Whatever happens to its messages on the way, a stream sends the whole answer
// while it is generated, and ends with the task's state.
func TestStreamDespiteFaults(t *testing.T) {
	t.Parallel()
	isDelta := func(m watch.Message, remainder int64) bool {
		return m.Type == watch.DeltaType && *m.Offset%2 == remainder
	}
	for _, test := range []struct {
		name    string
		carry   func() func(*fakeFanOut, watch.Message)
		reopens bool
		refuse  int // number of connections
	}{
		{"without faults", func() func(*fakeFanOut, watch.Message) { return (*fakeFanOut).send }, false, 0},
		{"lost deltas", func() func(*fakeFanOut, watch.Message) {
			return func(n *fakeFanOut, m watch.Message) {
				if !isDelta(m, 1) {
					n.send(m)
				}
			}
		}, true, 0},
		{"duplicate messages", func() func(*fakeFanOut, watch.Message) {
			return func(n *fakeFanOut, m watch.Message) { n.send(m); n.send(m) }
		}, false, 0},
		{"reordered deltas", func() func(*fakeFanOut, watch.Message) {
			var slow *watch.Message
			return func(n *fakeFanOut, m watch.Message) {
				if isDelta(m, 1) {
					slow = &m
					return
				}
				n.send(m)
				if slow != nil {
					n.send(*slow)
					slow = nil
				}
			}
		}, false, 0},
		{"reloads", func() func(*fakeFanOut, watch.Message) {
			return func(n *fakeFanOut, m watch.Message) {
				if isDelta(m, 0) {
					m = watch.Message{
						Type: watch.Reload, SessionID: m.SessionID, Cursor: m.Cursor, Prev: m.Prev, Reason: watch.ReasonBehind,
					}
				}
				n.send(m)
			}
		}, true, 0},
		{"lost connections", func() func(*fakeFanOut, watch.Message) {
			return func(n *fakeFanOut, m watch.Message) {
				if isDelta(m, 0) {
					n.disconnectAll()
				}
				n.send(m)
			}
		}, true, 0},
		{"refused connections", func() func(*fakeFanOut, watch.Message) { return (*fakeFanOut).send }, true, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, test.carry())
			r.fanOut.refusals = test.refuse
			received := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.message("hello")))
			w := r.mustWork(t)
			all := ""
			for _, words := range [][]string{{"one ", "two "}, {"three ", "four "}} {
				for range 2 {
					for _, word := range words { // a loss is noticed with the next message
						w.write(t, word)
						all += word
					}
					received.untilText(t, all)
				}
				w.completeItem(t)
				w.beginItem(t)
			}
			w.endRun(t, run.Completed, nil)
			received.mustEndAs(t, r, lib.TaskStateCompleted)
			if len(received.closing) != 2 {
				t.Errorf("%d of 2 artifacts were closed", len(received.closing))
			}
			if n := r.fanOut.count(); test.reopens != (n > 1) {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestStreamOfARun(t *testing.T) {
	t.Parallel()
	t.Run("fails after its worker has died", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(*fakeFanOut, watch.Message) {}) // no messages: nothing happens
		received := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.message("hello")))
		w := r.mustWork(t)
		w.write(t, "half")
		r.clock.add(2 * run.Lease)
		received.mustEndAs(t, r, lib.TaskStateFailed)
	})
	t.Run("ends although the last message was lost", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(n *fakeFanOut, m watch.Message) {
			if m.Type != watch.Status {
				n.send(m)
			}
		})
		received := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.message("hello")))
		w := r.mustWork(t)
		w.write(t, "all")
		w.endRun(t, run.Failed, run.NewProblem("boom", "it broke"))
		received.mustEndAs(t, r, lib.TaskStateFailed)
	})
	t.Run("ends although no connection can be opened", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*fakeFanOut).send)
		r.fanOut.refusals = 1000
		received := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.message("hello")))
		w := r.mustWork(t)
		w.write(t, "all")
		w.completeItem(t)
		w.endRun(t, run.Completed, nil)
		received.mustEndAs(t, r, lib.TaskStateCompleted)
	})
	t.Run("is cancelled by a rewind", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*fakeFanOut).send)
		received := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.message("hello")))
		w := r.mustWork(t)
		w.write(t, "gone")
		received.untilText(t, "gone")
		if _, err := r.store.History.Rewind(t.Context(), session.Rewind{
			UserID: alice, SessionID: r.context, Before: w.ref.RunID, CancelRun: true, Nonce: "marker",
		}); err != nil {
			t.Fatal(err)
		}
		if last := received.end(t); last != lib.TaskStateCanceled {
			t.Errorf("the stream ends with %s", last)
		}
	})
	t.Run("ends when the session is deleted", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*fakeFanOut).send)
		received := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.message("hello")))
		r.mustWork(t).write(t, "gone")
		received.untilText(t, "gone")
		if err := r.store.Sessions.Delete(t.Context(), alice, r.context); err != nil {
			t.Fatal(err)
		}
		<-received.over
		if received.err == nil {
			t.Errorf("the stream ends with %s", received.last)
		}
	})
	t.Run("continues after input, or ends when the waiting task is cancelled", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, (*fakeFanOut).send)
		asking := r.listen(t, r.client.SendStreamingMessage(t.Context(), r.message("hello")))
		r.mustWork(t).askUser(t)
		if last := asking.end(t); last != lib.TaskStateInputRequired {
			t.Fatalf("the stream ends with %s", last)
		}
		id := asking.first.ID
		joined := r.listen(t, r.client.SubscribeToTask(t.Context(), &lib.SubscribeToTaskRequest{ID: id}))
		joined.untilText(t, "")
		more := r.message("yes")
		more.Message.TaskID = id
		more.Config = &lib.SendMessageConfig{ReturnImmediately: true}
		if _, err := r.client.SendMessage(t.Context(), more); err != nil {
			t.Fatal(err)
		}
		w := r.mustWork(t)
		w.write(t, "and on")
		joined.untilText(t, "and on")
		w.askUser(t)
		joined.untilState(t, lib.TaskStateInputRequired)
		if _, err := r.client.CancelTask(t.Context(), &lib.CancelTaskRequest{ID: id}); err != nil {
			t.Fatal(err)
		}
		joined.mustEndAs(t, r, lib.TaskStateCanceled)
	})
}

// askUser completes a run with a function call that its user has to answer.
func (w *worker) askUser(t *testing.T) {
	t.Helper()
	w.n++
	e := agentEvent(fmt.Sprintf(`{"function_call":{"id":"call%d","name":"confirm","args":{}}}`, w.n))
	if _, err := w.store.Runs.AppendEvents(t.Context(), w.ref, []session.Event{e}); err != nil {
		t.Fatal(err)
	}
	w.endRun(t, run.Completed, nil)
}

// agentEvent returns an event of the agent with one part.
func agentEvent(part string) session.Event {
	return session.Event{Author: "helper", Fields: map[string]json.RawMessage{
		"content": json.RawMessage(`{"role":"model","parts":[` + part + `]}`),
	}}
}

// listen reads a stream in the background.
func (r *rig) listen(t *testing.T, events iter.Seq2[lib.Event, error]) *listener {
	t.Helper()
	l := &listener{
		parts: map[lib.ArtifactID]string{}, closing: map[lib.ArtifactID]*lib.TaskArtifactUpdateEvent{},
		changed: make(chan struct{}), over: make(chan struct{}),
	}
	go func() {
		defer close(l.over)
		for e, err := range events {
			l.receive(e, err)
		}
	}()
	t.Cleanup(func() { <-l.over })
	return l
}

// mustEndAs waits for the stream's end and compares what it sent with the task.
func (l *listener) mustEndAs(t *testing.T, r *rig, want lib.TaskState) {
	t.Helper()
	last := l.end(t)
	task, err := r.client.GetTask(t.Context(), &lib.GetTaskRequest{ID: l.first.ID})
	if err != nil {
		t.Fatal(err)
	}
	if last != want || task.Status.State != want {
		t.Errorf("the stream ends with %s, the task is %s, want %s", last, task.Status.State, want)
	}
	var text strings.Builder
	for _, a := range task.Artifacts {
		if last := l.closing[a.ID]; last != nil && (last.Append || !cmp.Equal(last.Artifact.Parts, a.Parts)) {
			t.Errorf("the last update of an artifact must have all of it and replace: %+v has %+v", last, last.Artifact)
		}
		for _, p := range a.Parts {
			text.WriteString(p.Text())
		}
	}
	if diff := cmp.Diff(text.String(), l.text()); diff != "" {
		t.Errorf("(-task +stream):\n%s", diff)
	}
}
