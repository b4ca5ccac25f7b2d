package frontendtest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// Worker acts as the worker of a run.
type Worker struct {
	Ref run.Ref

	store *stores.Store
	item  run.Item
}

// Work waits for a run to be dispatched and begins an item of it.
func (r *Rig) Work(t testing.TB) *Worker {
	t.Helper()
	select {
	case ref := <-r.Started:
		if _, err := r.Store.Runs.Claim(t.Context(), ref, run.Claimant{}); err != nil {
			t.Fatal(err)
		}
		w := &Worker{store: r.Store, Ref: ref}
		w.Begin(t)
		return w
	case <-time.After(maxWait):
		t.Fatal("no run began")
		return nil
	}
}

// Begin begins another item of the run.
func (w *Worker) Begin(t testing.TB) {
	t.Helper()
	e := session.Event{Author: "helper", Fields: map[string]json.RawMessage{"content": json.RawMessage(`{"role":"model"}`)}}
	var err error
	if w.item, err = w.store.Runs.BeginItem(t.Context(), w.Ref, e); err != nil {
		t.Fatal(err)
	}
}

// Write adds a text to the item.
func (w *Worker) Write(t testing.TB, text string) {
	t.Helper()
	if _, err := w.item.Flush(t.Context(), []content.Delta{{Text: text}}); err != nil {
		t.Fatal(err)
	}
}

// CompleteItem completes the item with these parts. change changes the event before; it
// may be nil.
func (w *Worker) CompleteItem(t testing.TB, parts string, change func(*session.Event)) {
	t.Helper()
	e := session.Event{Author: "helper", Fields: map[string]json.RawMessage{
		"content": json.RawMessage(`{"role":"model","parts":[` + parts + `]}`),
	}}
	if change != nil {
		change(&e)
	}
	if _, err := w.item.Complete(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

// Complete completes the item with these parts, and the run.
func (w *Worker) Complete(t testing.TB, parts string, change func(*session.Event)) {
	t.Helper()
	w.CompleteItem(t, parts, change)
	if _, err := w.store.Runs.End(t.Context(), w.Ref, run.Completed, nil); err != nil {
		t.Fatal(err)
	}
}

// Fail ends the run with an error.
func (w *Worker) Fail(t testing.TB, code string) {
	t.Helper()
	if _, err := w.store.Runs.End(t.Context(), w.Ref, run.Failed, run.NewProblem(code, "it failed")); err != nil {
		t.Fatal(err)
	}
}

// StartQueued starts the next queued run of one of alice's sessions.
func (r *Rig) StartQueued(t testing.TB, sessionID string) {
	t.Helper()
	started, err := r.Store.Runs.StartQueued(t.Context(), Alice, sessionID)
	if err != nil || started == nil {
		t.Fatalf("no queued run begins: %v", err)
	}
	r.Started <- run.Ref{UserID: Alice, SessionID: sessionID, RunID: started.ID}
}
