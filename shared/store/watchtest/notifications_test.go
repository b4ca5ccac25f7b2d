package watchtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
)

// collector collects the events for receivers, from the table's stream.
type collector struct {
	store   *stores.Store
	records *tableChanges
	session string
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	engine, records := newTable()
	return &collector{store: stores.New(engine), records: records}
}

// in returns the collector of a new session; earlier events have been read.
func (s *collector) in(t *testing.T) *collector {
	t.Helper()
	s = &collector{store: s.store, records: s.records, session: uuid.NewString()}
	n := session.New{ID: s.session, UserID: watched, Nonce: "n"}
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Sessions.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	s.wantEvents(t, "session.created  0")
	return s
}

// events returns the events since the last call.
func (s *collector) events(t *testing.T) []notification.Event {
	t.Helper()
	var all []notification.Event
	for _, c := range s.records.next() {
		events, err := s.store.Watching.Notifications(t.Context(), c.Change)
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.store.Watching.Notifications(t.Context(), c.Change)
		if diff := cmp.Diff(events, again); diff != "" || err != nil {
			t.Errorf("read again, it differs: %v\n%s", err, diff)
		}
		all = append(all, events...)
	}
	return all
}

// wantEvents compares the events: types, runs and positions.
func (s *collector) wantEvents(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, e := range s.events(t) {
		if e.ID == "" || e.Time == 0 || e.Log == "" && e.SessionID == "" {
			t.Errorf("got %+v", e)
		}
		got = append(got, fmt.Sprintf("%s %s %d", e.Type, e.RunID, e.Seq))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func (s *collector) mustStart(t *testing.T) run.Ref {
	t.Helper()
	ref := run.Ref{UserID: watched, SessionID: s.session, RunID: "r1"}
	start := run.Start{Ref: ref, Mode: run.Managed, Input: []session.Event{spoken("user", "hello"), spoken("user", "there")}}
	if _, err := s.store.Runs.Start(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	return ref
}

func (s *collector) mustItem(t *testing.T, ref run.Ref) run.Item {
	t.Helper()
	it, err := s.store.Runs.BeginItem(t.Context(), ref, session.Event{Author: "agent", Fields: map[string]json.RawMessage{
		"content": json.RawMessage(`{"role":"model"}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := it.Flush(t.Context(), []content.Delta{{Text: "so"}}); err != nil {
		t.Fatal(err)
	}
	return it
}

func (s *collector) mustEnd(t *testing.T, ref run.Ref, status run.Status) {
	t.Helper()
	if _, err := s.store.Runs.End(t.Context(), ref, status, nil); err != nil && !errors.Is(err, fault.Of(fault.Conflict)) {
		t.Fatal(err)
	}
}

func spoken(author, text string) session.Event {
	return session.Event{Author: author, Fields: map[string]json.RawMessage{
		"content": json.RawMessage(fmt.Sprintf(`{"parts":[{"text":%q}]}`, text)),
	}}
}

func TestNotifications(t *testing.T) {
	all := newCollector(t)
	t.Run("a run begins, emits deltas and whole events, and ends", func(t *testing.T) {
		s := all.in(t)
		ref := s.mustStart(t)
		it := s.mustItem(t, ref)
		if _, err := it.Complete(t.Context(), spoken("agent", "so")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.store.Runs.AppendEvents(t.Context(), ref, []session.Event{spoken("agent", "a"), spoken("agent", "b")}); err != nil {
			t.Fatal(err)
		}
		s.mustEnd(t, ref, run.Completed)
		s.wantEvents(t,
			"run.started r1 2", "item.completed r1 3", "item.completed r1 4", "item.completed r1 5", "run.completed r1 6")
	})
	t.Run("an item that the end of its run completes precedes that end", func(t *testing.T) {
		s := all.in(t)
		ref := s.mustStart(t)
		s.mustItem(t, ref)
		s.mustEnd(t, ref, run.Completed)
		got := map[string]bool{}
		ended := false
		for _, e := range s.events(t) {
			if ended && !got[e.ID] {
				t.Errorf("%+v is after the end", e)
			}
			got[e.ID] = true
			ended = ended || e.Type.EndsRun()
		}
		if !ended || len(got) != 3 {
			t.Errorf("%d events, and the end among them: %v", len(got), ended)
		}
	})
	t.Run("a failed item is complete too", func(t *testing.T) {
		s := all.in(t)
		ref := s.mustStart(t)
		s.mustItem(t, ref)
		if _, err := s.store.Runs.Cancel(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		s.wantEvents(t, "run.started r1 2", "item.completed r1 3", "item.completed r1 3", "run.cancelled r1 4")
	})
	t.Run("events outside of a run are not sent", func(t *testing.T) {
		s := all.in(t)
		e := spoken("user", "hello")
		e.InvocationID = "i"
		a := session.Append{SessionID: s.session, UserID: watched, Events: []session.Event{e}}
		if _, _, err := s.store.Sessions.Append(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		s.mustStart(t)
		s.wantEvents(t, "run.started r1 3")
	})
	t.Run("a task that waits and is cancelled", func(t *testing.T) {
		s := all.in(t)
		link := task.Link{TaskID: "t1", UserID: watched, SessionID: s.session, Agent: "helper", Runs: []string{"t1"}}
		if err := s.store.Tasks.AddLink(t.Context(), link, watched); err != nil {
			t.Fatal(err)
		}
		for range 2 { // once is enough
			if err := s.store.Tasks.CancelLink(t.Context(), watched, "t1", 9); err != nil {
				t.Fatal(err)
			}
		}
		s.mustStart(t)
		s.wantEvents(t, "task.cancelled t1 0", "run.started r1 2")
	})
}
