package watchtest_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e/pageclient"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// TestFarBehindAnOpenItem covers an item in progress that is followed by more entries
// than a catch-up sends: a client that has read the thread gets later messages, and
// is not asked to read it again and again.
func TestFarBehindAnOpenItem(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1000, 50} { // all on a page, or the item on another one
		for _, ends := range []string{"", "before", "after"} {
			t.Run(fmt.Sprintf("in pages of %d, its end comes %s subscribing", limit, ends), func(t *testing.T) {
				testFar(t, limit, ends)
			})
		}
	}
}

func testFar(t *testing.T, limit int, ends string) {
	t.Helper()
	engine, _ := newTable()
	f := newFunctions(engine)
	w := &page{watching: watching{t: t, store: f.store, id: uuid.NewString()}, functions: f, client: pageclient.New()}
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.create(ctx))
	ref := run.Ref{UserID: watched, SessionID: w.id, RunID: "run"}
	_, err := f.store.Runs.Start(ctx, run.Start{Ref: ref, Mode: run.Managed, Input: []session.Event{w.event("ask")}})
	must(err)
	w.active = &ref
	must(w.begin(ctx, nil))
	flush := func(text string) {
		_, err := w.item.Flush(ctx, []content.Delta{{Text: text}})
		must(err)
	}
	flush("so ")
	for range 3 {
		events := make([]session.Event, 60)
		for i := range events {
			events[i] = w.event("by another ")
		}
		must(w.appendAll(ctx, events...))
	}
	read := func() {
		thread, found, err := w.get(ctx, limit)
		if must(err); !found {
			t.Fatal("there is no thread")
		}
		must(w.client.ReadThread(thread...))
	}
	read()
	if ends == "before" {
		must(w.finish(ctx, nil))
	} else {
		flush("and on")
	}
	must(w.subscribe(ctx))
	if ends == "after" {
		must(w.finish(ctx, nil))
		w.lanes = nil // the connection broke
		if w.client.Lacks(); !w.client.NeedsThread() {
			t.Error("it needs no thread")
		}
		read()
		must(w.subscribe(ctx))
	}
	for _, frames := range w.lanes {
		for _, frame := range frames[1:] {
			var m struct{ Type string }
			must(json.Unmarshal(frame, &m))
			if m.Type == "thread.reload" {
				t.Fatalf("got %s", frame)
			}
			must(w.client.Hear(frame, w.now))
		}
	}
	text := "so and on"
	if ends == "before" {
		text = "so "
	}
	got := w.client.Items[1]
	raw, err := json.Marshal(got.Event["content"])
	must(err)
	if want := fmt.Sprintf(`{"parts":[{"text":%q}],"role":"model"}`, text); string(raw) != want {
		t.Errorf("the client has %s, want %s", raw, want)
	}
	if status := map[bool]string{true: "in_progress", false: "completed"}[ends == ""]; got.Event["status"] != status {
		t.Errorf("the item is %v", got.Event["status"])
	}
}
