package stores_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/stores"
)

// mustCatchUp returns the messages for a watcher of session "s" that continues from a position,
// as they would be sent.
func mustCatchUp(t *testing.T, s *stores.Store, from watch.From) []watch.Message {
	t.Helper()
	messages, err := s.Watching.CatchUp(t.Context(), alice, "s", from)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// kinds returns the types of messages as sent, with their cursors.
func kinds(t *testing.T, messages []watch.Message) []string {
	t.Helper()
	out := []string{}
	for _, m := range messages {
		kind := string(m.Type)
		if frame, err := watch.Frame(m, "s"); err != nil {
			t.Fatal(err)
		} else if !strings.HasPrefix(string(frame), `{"type":"`+kind) {
			kind = string(watch.Reload)
		}
		out = append(out, kind+" "+m.Cursor.String())
	}
	return out
}

func cursorOf(th run.Thread) watch.From {
	return watch.From{Cursor: &watch.Cursor{Epoch: th.Session.Epoch, Seq: th.Seq, Offset: th.Offset}}
}

// A watcher of an item that is larger than a message, and that follows the
// protocol, makes progress or gets no more than a status.
func TestCatchUp_of_an_item_larger_than_a_message(t *testing.T) {
	s := newStore(t)
	mustCreate(t, s, alice, "s", nil)
	mustStart(t, s, startOf(t, "s", "r1", "go"))
	ref := refOf("s", "r1")
	it := mustBegin(t, s, ref, "mine")
	for range 8 {
		mustFlush(t, it, strings.Repeat("x", 40_000)) // three deltas each
	}
	wantKinds := func(t *testing.T, from watch.From, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, kinds(t, mustCatchUp(t, s, from))); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	}
	t.Run("sends an item in progress in parts", func(t *testing.T) {
		messages := mustCatchUp(t, s, watch.From{})
		size := 0
		for i, m := range messages[:len(messages)-1] {
			if frame, err := watch.Frame(m, "s"); err != nil || len(frame) > watch.MaxMessage {
				t.Fatalf("%d bytes, %v", len(frame), err)
			}
			if i == 0 {
				draft, err := content.ResumeDraft(m.Item.Fields["content"])
				if err != nil || m.Type != watch.Snapshot || m.Until == nil || *m.Until != 24 {
					t.Fatalf("it begins with %+v, %v", m, err)
				}
				size = draft.Size()
				continue
			}
			if m.Type != watch.DeltaType || m.Prev != messages[i-1].Cursor {
				t.Errorf("after %s: %s %s", messages[i-1].Cursor, m.Prev, m.Type)
			}
			size += m.Delta.Size()
		}
		if last := messages[len(messages)-1]; size != 320_000 || last.Status != session.InProgress {
			t.Errorf("%d bytes, %+v", size, last)
		}
	})
	t.Run("sends only the remaining deltas to a watcher that has some", func(t *testing.T) {
		// A watcher that has all deltas gets the newest one again, as a sign that
		// the item is still in progress.
		wantKinds(t, cursorOf(mustThread(t, s, "s")), "item.delta 0.2.24", "thread.status 0.2.24")
		before := watch.From{Cursor: &watch.Cursor{Seq: 2, Offset: 22}}
		wantKinds(t, before, "item.delta 0.2.24", "thread.status 0.2.24")
	})
	mustFlush(t, it, "!")
	if _, err := it.Complete(t.Context(), whole(t, strings.Repeat("x", 320_000)+"!")); err != nil {
		t.Fatal(err)
	}
	t.Run("asks to reload a complete item, and sends a status after that", func(t *testing.T) {
		wantKinds(t, watch.From{Cursor: &watch.Cursor{Seq: 2, Offset: 25}}, "thread.reload 0.2.26", "thread.status 0.2.26")
		wantKinds(t, cursorOf(mustThread(t, s, "s")), "thread.status 0.2.26")
	})
	mustAppend(t, s, alice, "s", event(t, "", "other", "meanwhile"))
	t.Run("sends no complete item to a watcher after it while the run continues", func(t *testing.T) {
		wantKinds(t, watch.From{Cursor: &watch.Cursor{Seq: 2, Offset: 26}}, "item.snapshot 0.3.0", "thread.status 0.3.0")
		wantKinds(t, cursorOf(mustThread(t, s, "s")), "thread.status 0.3.0")
	})
	if _, err := s.Runs.End(t.Context(), ref, run.Completed, nil); err != nil {
		t.Fatal(err)
	}
	t.Run("sends no complete item after the end of the run", func(t *testing.T) {
		wantKinds(t, cursorOf(mustThread(t, s, "s")), "thread.status 0.4.0")
	})
}
