package sessions_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/stores"
)

// mustSince is what a watcher is sent; every message as it is sent.
func mustSince(t *testing.T, s *stores.Store, id string, from watch.From) []watch.Message {
	t.Helper()
	messages, err := s.CatchUp(t.Context(), alice, id, from)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// kinds are the types of messages as they are sent, with their cursors.
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

// Who watches an item that is larger than a message, and keeps the rules, gets
// on or rests.
func TestSince_an_item_larger_than_a_message(t *testing.T) {
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
		if diff := cmp.Diff(want, kinds(t, mustSince(t, s, "s", from))); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	}
	t.Run("in progress it comes in parts", func(t *testing.T) {
		messages := mustSince(t, s, "s", watch.From{})
		size := 0
		for i, m := range messages[:len(messages)-1] {
			if frame, err := watch.Frame(m, "s"); err != nil || len(frame) > watch.MaxMessage {
				t.Fatalf("%d bytes, %v", len(frame), err)
			}
			if i == 0 {
				content, err := run.ResumeContent(m.Item.Fields["content"])
				if err != nil || m.Type != watch.Snapshot || m.Until == nil || *m.Until != 24 {
					t.Fatalf("it begins with %+v, %v", m, err)
				}
				size = content.Size()
				continue
			}
			if m.Type != watch.DeltaType || m.Prev != messages[i-1].Cursor {
				t.Errorf("after %s comes %s %s", messages[i-1].Cursor, m.Prev, m.Type)
			}
			size += m.Delta.Size()
		}
		if last := messages[len(messages)-1]; size != 320_000 || last.Status != session.InProgress {
			t.Errorf("%d bytes, %+v", size, last)
		}
	})
	t.Run("who holds some of it gets the rest alone", func(t *testing.T) {
		// Who has all of it gets the newest delta again, and so knows that it goes on.
		wantKinds(t, cursorOf(mustThread(t, s, "s")), "item.delta 0.2.24", "thread.status 0.2.24")
		before := watch.From{Cursor: &watch.Cursor{Seq: 2, Offset: 22}}
		wantKinds(t, before, "item.delta 0.2.24", "thread.status 0.2.24")
	})
	mustFlush(t, it, "!")
	if _, err := it.Complete(t.Context(), whole(t, strings.Repeat("x", 320_000)+"!")); err != nil {
		t.Fatal(err)
	}
	t.Run("once it is complete only the thread has it, and who has read that rests", func(t *testing.T) {
		wantKinds(t, watch.From{Cursor: &watch.Cursor{Seq: 2, Offset: 25}}, "thread.reload 0.2.26", "thread.status 0.2.26")
		wantKinds(t, cursorOf(mustThread(t, s, "s")), "thread.status 0.2.26")
	})
	mustAppend(t, s, alice, "s", event(t, "", "other", "meanwhile"))
	t.Run("and so does who stands behind it, as long as the run goes on", func(t *testing.T) {
		wantKinds(t, watch.From{Cursor: &watch.Cursor{Seq: 2, Offset: 26}}, "item.snapshot 0.3.0", "thread.status 0.3.0")
		wantKinds(t, cursorOf(mustThread(t, s, "s")), "thread.status 0.3.0")
	})
	if _, err := s.End(t.Context(), ref, run.Completed, nil); err != nil {
		t.Fatal(err)
	}
	t.Run("and when it has ended", func(t *testing.T) {
		wantKinds(t, cursorOf(mustThread(t, s, "s")), "thread.status 0.4.0")
	})
}
