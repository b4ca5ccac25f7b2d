package stores_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// document is an export of a session that has a little of everything.
func document(t *testing.T) []byte {
	t.Helper()
	s := newStore(t)
	mustCreate(t, s, alice, "moved", session.Delta{"a": []byte("1"), "user:b": []byte("2")})
	mustAppend(t, s, alice, "moved", event(t, "own", "i1", "hello"), stateEvent(t, "i1", map[string]any{"a": 3}))
	mustPut(t, s, alice, "moved", "own", randomText(t, 10<<10))
	mustPut(t, s, alice, "moved", "user:shared", randomText(t, 10<<10))
	mustPut(t, s, alice, "moved", "user:shared", "small")
	if _, _, err := s.Tasks.Save(t.Context(), task.Save{SessionID: "moved", UserID: alice, Task: task.Task{
		ID: "t1", Bubbles: []byte(`[{"id":"b","type":"agent","text":"x"}]`),
	}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Feedback.AddFeedback(t.Context(), task.Feedback{
		ID: "f1", UserID: alice, SessionID: "moved", TaskID: "t1", Type: task.Up, CreatedTime: 1,
	}); err != nil {
		t.Fatal(err)
	}
	var doc bytes.Buffer
	if err := s.Archives.Export(t.Context(), alice, "moved", archive.NewWriter(&doc)); err != nil {
		t.Fatal(err)
	}
	return doc.Bytes()
}

func upload(t *testing.T, doc []byte) archive.Upload {
	t.Helper()
	part, err := archive.Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	return archive.Upload{UserID: bob, ImportID: "im", Number: 1, Digest: "d", Part: part}
}

var errCut = errors.New("the line was cut")

// cutAfter is a store that may make a number of calls.
func cutAfter(engine table.Engine, n int64) *stores.Store {
	var made atomic.Int64
	return before(engine, func(context.Context, hooks.Call) error {
		if made.Add(1) > n {
			return errCut
		}
		return nil
	})
}

func TestImport_broken_off(t *testing.T) {
	t.Parallel()
	doc := document(t)
	engine := storetest.Engine(t)
	whole := stores.New(engine)
	for n, landed := int64(1), false; !landed; n++ {
		_, err := cutAfter(engine, n).Archives.Import(t.Context(), upload(t, doc))
		if err != nil && !errors.Is(err, errCut) {
			t.Fatalf("cut after %d requests: %v", n, err)
		}
		_, gone := whole.Sessions.Get(t.Context(), bob, "moved")
		if landed = gone == nil; landed {
			break
		}
		if !errors.Is(gone, fault.Of(fault.NotFound)) {
			t.Fatalf("cut after %d requests: %v", n, gone)
		}
		mustBeNothing(t, whole, n)
		if n%2 == 0 { // the others continue what is stored
			mustSweepAll(t, engine, n)
		}
	}
	p, err := whole.Archives.Import(t.Context(), upload(t, doc))
	if err != nil || p.Session == nil {
		t.Fatalf("again: %+v, %v", p, err)
	}
	if got := mustEvents(t, whole, bob, "moved", session.EventQuery{}); len(got) != 3 {
		t.Errorf("%d events", len(got))
	}
	mustRead := func(name string, size int) {
		_, content, err := whole.Artifacts.Artifact(t.Context(), artifact.Ref{SessionID: "moved", UserID: bob, Name: name, Version: new(int64)})
		if err != nil || len(content) != size {
			t.Errorf("%s: %d bytes, %v", name, len(content), err)
		}
	}
	mustRead("own", 10<<10)
	mustRead("user:shared", 10<<10)
	if found, err := whole.Feedback.FindTask(t.Context(), bob, "t1"); err != nil || found != "moved" {
		t.Errorf("task in %q, %v", found, err)
	}
	if err := whole.Sessions.Delete(t.Context(), bob, "moved"); err != nil {
		t.Fatal(err)
	}
	report, err := whole.Lifecycle.Erase(t.Context(), bob)
	if err != nil || report.Removed.Imports != 1 || report.Removed.Artifacts != 2 {
		t.Errorf("erased %+v, %v", report, err)
	}
	mustSweepAll(t, engine, 0)
}

// mustBeNothing checks that nothing of an import is visible.
func mustBeNothing(t *testing.T, s *stores.Store, n int64) {
	t.Helper()
	list, err := s.Feedback.ListFeedback(t.Context(), task.FeedbackQuery{UserID: bob, Limit: 10})
	if err != nil || len(list.Feedback) > 0 {
		t.Errorf("cut after %d requests: feedback %+v, %v", n, list, err)
	}
	if found, err := s.Feedback.FindTask(t.Context(), bob, "t1"); !errors.Is(err, fault.Of(fault.NotFound)) {
		t.Errorf("cut after %d requests: task in %q, %v", n, found, err)
	}
	if all, err := s.Sessions.List(t.Context(), session.ListQuery{UserID: bob, Limit: 10}); err != nil || len(all.Sessions) > 0 {
		t.Errorf("cut after %d requests: %+v, %v", n, all, err)
	}
}

// mustSweepAll sweeps days later and checks that nothing remains.
func mustSweepAll(t *testing.T, engine table.Engine, n int64) {
	t.Helper()
	for day := 2; day < 5; day++ {
		s := stores.New(engine, stores.WithClock(func() time.Time { return time.Now().AddDate(0, 0, day) }))
		if _, err := s.Archives.SweepImports(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Lifecycle.SweepErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Lifecycle.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var left []string
	for _, key := range keysIn(t, engine) {
		if !strings.Contains(key, "ER#") && !strings.Contains(key, "UP#") {
			left = append(left, key)
		}
	}
	if len(left) > 0 {
		t.Errorf("cut after %d requests, and swept: %v", n, left)
	}
}

func TestImport_conflicts(t *testing.T) {
	t.Parallel()
	doc := document(t)
	s := newStore(t)
	mustCreate(t, s, bob, "other", session.Delta{"user:b": []byte(`"mine"`)})
	mustPut(t, s, bob, "other", "user:shared", "mine")
	u := upload(t, doc)
	p, err := s.Archives.Import(t.Context(), u)
	if err != nil || strings.Join(p.Kept, " ") != "user:b user:shared" {
		t.Fatalf("kept %v, %v", p.Kept, err)
	}
	_, content, err := s.Artifacts.Artifact(t.Context(), artifact.Ref{SessionID: "moved", UserID: bob, Name: "user:shared"})
	if err != nil || string(content) != "mine" {
		t.Errorf("got %q, %v", content, err)
	}
	again := upload(t, doc)
	again.ImportID = "another"
	if _, err := s.Archives.Import(t.Context(), again); !errors.Is(err, fault.Of(fault.Conflict)) {
		t.Errorf("an id that is taken: %v", err)
	}
	again.SessionID = "elsewhere"
	if p, err := s.Archives.Import(t.Context(), again); err != nil || p.Session.ID != "elsewhere" {
		t.Errorf("another id: %+v, %v", p, err)
	}
}

// A redelivered event is recognised by its id wherever in its batch it was
// appended.
func TestImport_redelivered(t *testing.T) {
	t.Parallel()
	from, to := newStore(t), newStore(t)
	mustCreate(t, from, alice, "batch", nil)
	batch := []session.Event{event(t, "one", "i1", "x"), event(t, "two", "i2", "x"), event(t, "three", "i3", "x")}
	mustAppend(t, from, alice, "batch", batch...)
	mustAppend(t, from, alice, "batch", event(t, "four", "i4", "x"))
	var doc bytes.Buffer
	if err := from.Archives.Export(t.Context(), alice, "batch", archive.NewWriter(&doc)); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Archives.Import(t.Context(), upload(t, doc.Bytes())); err != nil {
		t.Fatal(err)
	}
	for _, e := range batch {
		_, n, err := to.Sessions.Append(t.Context(), session.Append{SessionID: "batch", UserID: bob, Events: []session.Event{e}})
		if err != nil || n != 0 {
			t.Errorf("%s is appended once more: %d, %v", e.ID, n, err)
		}
	}
	for _, id := range []string{"i3", "i2", "i1"} {
		r := session.Rewind{SessionID: "batch", UserID: bob, Before: id, Nonce: id}
		if _, err := to.History.Rewind(t.Context(), r); err != nil {
			t.Errorf("rewind before %s: %v", id, err)
		}
	}
}

// A rewind to the initial state of an imported fork works even if hidden entries
// of the source followed that state and a rewind kept their changes.
func TestImport_hidden_changes_behind_the_initial_state(t *testing.T) {
	t.Parallel()
	from, to := newStore(t), newStore(t)
	mustCreate(t, from, alice, "s", session.Delta{"a": []byte("1"), "b": []byte("1")})
	first := mustEvents(t, from, alice, "s", session.EventQuery{})[0].InvocationID
	mustAppend(t, from, alice, "s", stateEvent(t, "hidden", map[string]any{"a": 2, "c": 2}))
	if _, err := from.History.Rewind(t.Context(), session.Rewind{
		SessionID: "s", UserID: alice, Before: "hidden", Scopes: []session.Scope{session.ScopeUser}, Nonce: "n",
	}); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, from, alice, "s", stateEvent(t, "shown", map[string]any{"d": 3}))
	mustFork(t, from, "s", "f", nil)
	var doc bytes.Buffer
	if err := from.Archives.Export(t.Context(), alice, "f", archive.NewWriter(&doc)); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Archives.Import(t.Context(), upload(t, doc.Bytes())); err != nil {
		t.Fatal(err)
	}
	for before, want := range map[string]session.Values{
		"shown": {"a": []byte("2"), "b": []byte("1"), "c": []byte("2")},
		first:   {"a": []byte("1"), "b": []byte("1")},
	} {
		for user, s := range map[string]*stores.Store{alice: from, bob: to} {
			if _, err := s.History.Rewind(t.Context(), session.Rewind{SessionID: "f", UserID: user, Before: before, Nonce: before}); err != nil {
				t.Fatal(err)
			}
			state, err := s.Sessions.State(t.Context(), user, "f")
			if diff := cmp.Diff(want, state.Session); diff != "" || err != nil {
				t.Errorf("before %s %s has (-want +got): %v\n%s", before, user, err, diff)
			}
		}
	}
}
