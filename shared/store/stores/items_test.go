package stores_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestItems(t *testing.T) {
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	mustStart(t, s, startOf(t, "s", "r1", "go"))
	ref := refOf("s", "r1")
	t.Run("content in many segments is read back whole", func(t *testing.T) {
		it := mustBegin(t, s, ref, "mine")
		var want strings.Builder
		for range 40 {
			part := strings.Repeat("wörd ", 30)
			want.WriteString(part)
			mustFlush(t, it, part)
		}
		mustFlush(t, it, strings.Repeat("x", 60<<10)) // more than one frame
		want.WriteString(strings.Repeat("x", 60<<10))
		again, err := s.Runs.OpenItem(t.Context(), ref, "mine")
		if err != nil || again == nil || again.Offset() != it.Offset() {
			t.Fatalf("open: %v, %v", again, err)
		}
		if diff := cmp.Diff(string(it.Content().Snapshot()), string(again.Content().Snapshot())); diff != "" {
			t.Error(diff)
		}
		mustFlush(t, again, "from another")
		mustFlush(t, it, " and the first") // reads what the other wrote
		want.WriteString("from another and the first")
		if _, err := s.Runs.BeginItem(t.Context(), ref, whole(t, "next")); err != nil { // completes the previous item
			t.Fatal(err)
		}
		items := mustThread(t, s, "s").Items
		if got := texts(items)[1]; got != "2:"+want.String() {
			t.Errorf("got %d bytes, want %d", len(got), want.Len())
		}
		if items[1].ID != "mine" || items[1].Status != session.EventCompleted {
			t.Errorf("the item is %s, %s", items[1].ID, items[1].Status)
		}
	})
	t.Run("a delta that breaks a rule changes nothing", func(t *testing.T) {
		it := mustBegin(t, s, ref, "strict")
		mustFlush(t, it, "ok")
		_, err := it.Flush(t.Context(), []content.Delta{{Text: "no"}, {Part: 5, Text: "gap"}})
		wantKind(t, err, fault.Invalid)
		wantKind(t, flush(t.Context(), it, strings.Repeat("x", run.MaxItem)), fault.TooLarge)
		mustFlush(t, it, "!")
		if items := mustThread(t, s, "s").Items; texts(items)[len(items)-1] != "4:ok!" {
			t.Errorf("got %s", texts(items)[len(items)-1])
		}
	})
	t.Run("a complete event's state takes effect", func(t *testing.T) {
		it := mustBegin(t, s, ref, "stateful")
		mustFlush(t, it, "x")
		e := stateEvent(t, "r1", map[string]any{"a": 1, "user:b": 2})
		e.ID = "stateful"
		if _, err := it.Complete(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if got := merged(t, s, alice, "s"); got != `{"a":1,"user:b":2}` {
			t.Errorf("state %s", got)
		}
		mustEnd(t, s, ref, run.Completed, nil)
		mustRewind(t, s, "s", "r1")
		if got := merged(t, s, alice, "s"); got != `{}` {
			t.Errorf("state after a rewind %s", got)
		}
	})
}

func TestItems_others(t *testing.T) {
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	mustAppend(t, s, alice, "s", event(t, "", "i0", "before"))
	mustStart(t, s, startOf(t, "s", "r1", "go"))
	ref := refOf("s", "r1")
	it := mustBegin(t, s, ref, "")
	mustFlush(t, it, "a")
	mustAppend(t, s, alice, "s", event(t, "", "i9", "meanwhile"))
	mustFlush(t, it, "b")
	t.Run("others append while an item streams", func(t *testing.T) {
		wantThread(t, s, "s", "in_progress", "1:before", "2:go", "3:ab (in_progress)", "4:meanwhile")
	})
	t.Run("a fork takes over everything except the item", func(t *testing.T) {
		if f := mustFork(t, s, "s", "fork", nil); f.HeadSeq != 3 {
			t.Errorf("head_seq %d, want 3", f.HeadSeq)
		}
		wantThread(t, s, "fork", "idle", "1:before", "2:go", "3:meanwhile")
	})
	t.Run("a failed rewind cancels no run", func(t *testing.T) {
		r := session.Rewind{UserID: alice, SessionID: "s", Before: "unknown", Nonce: mustID(t), CancelRun: true}
		_, err := s.History.Rewind(t.Context(), r)
		wantKind(t, err, fault.NotFound)
		wantThread(t, s, "s", "in_progress", "1:before", "2:go", "3:ab (in_progress)", "4:meanwhile")
	})
	t.Run("a rewind is refused until the run ends", func(t *testing.T) {
		r := session.Rewind{UserID: alice, SessionID: "s", Before: "r1", Nonce: mustID(t)}
		_, err := s.History.Rewind(t.Context(), r)
		wantKind(t, err, fault.Conflict)
		r.CancelRun = true
		if _, err := s.History.Rewind(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		wantThread(t, s, "s", "idle", "1:before")
	})
	t.Run("another user is refused", func(t *testing.T) {
		_, err := s.Runs.Run(t.Context(), run.Ref{UserID: bob, SessionID: "s", RunID: "r1"})
		wantKind(t, err, fault.Forbidden)
		_, err = s.Runs.Run(t.Context(), refOf("s", "unknown"))
		wantKind(t, err, fault.NotFound)
		_, err = s.Runs.Start(t.Context(), startOf(t, "nowhere", "r", "x"))
		wantKind(t, err, fault.NotFound)
	})
}

func TestItems_when_answers_are_lost(t *testing.T) {
	s := losing(t, 0.2)
	mustCreate(t, s, alice, "s", nil)
	mustStart(t, s, startOf(t, "s", "r1", "go"))
	it := mustBegin(t, s, refOf("s", "r1"), "")
	var want strings.Builder
	for i := range 60 {
		text := strings.Repeat(string(rune('a'+i%26)), 1+i*7%120)
		want.WriteString(text)
		mustFlush(t, it, text)
	}
	mustEnd(t, s, refOf("s", "r1"), run.Completed, nil)
	th := mustThread(t, s, "s")
	if got := texts(th.Items)[1]; got != "2:"+want.String() || th.Items[1].Status != session.EventCompleted {
		t.Errorf("got %q (%s)\nwant 2:%s", got, th.Items[1].Status, want.String())
	}
	if _, err := json.Marshal(th.Items); err != nil {
		t.Error(err)
	}
}

func TestItems_of_a_deleted_session(t *testing.T) {
	s := newStore(t)
	for name, text := range map[string]string{"in the last segment": "late", "behind it": strings.Repeat("c", 900)} {
		t.Run(name, func(t *testing.T) {
			id := mustID(t)
			mustCreate(t, s, alice, id, nil)
			mustStart(t, s, startOf(t, id, "r1", "go"))
			it := mustBegin(t, s, refOf(id, "r1"), "")
			mustFlush(t, it, strings.Repeat("a", 500))
			if err := s.Sessions.Delete(t.Context(), alice, id); err != nil {
				t.Fatal(err)
			}
			wantKind(t, flush(t.Context(), it, text), fault.NotFound)
		})
	}
}
