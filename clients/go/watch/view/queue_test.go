package view_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rethread/rethread/clients/go/watch/view"
)

// queues returns a message with the queued inputs of a version.
func queues(cursor string, version int64, ids ...string) view.Message {
	m := about(view.TypeQueue, cursor, cursor)
	m.QueueVersion, m.Queued = version, inputs(ids...)
	return m
}

func inputs(ids ...string) []view.Queued {
	out := []view.Queued{}
	for _, id := range ids {
		out = append(out, view.Queued{RunID: id, Input: []json.RawMessage{json.RawMessage(`{"author":"user"}`)}})
	}
	return out
}

// wantQueue checks the version and the ids of the queued inputs.
func (sc *script) wantQueue(version int64, ids ...string) {
	sc.t.Helper()
	s := sc.s.Show()
	var got []string
	for _, q := range s.Queued {
		got = append(got, q.RunID)
	}
	if s.QueueVersion != version || !slices.Equal(got, ids) {
		sc.t.Errorf("it shows %q of version %d, want %q of %d", got, s.QueueVersion, ids, version)
	}
}

func TestQueue(t *testing.T) {
	t.Run("the newest version wins, in any order and whatever its position", func(t *testing.T) {
		sc := begun(t, "3.9.0")
		sc.wantQueue(0)
		sc.apply(queues("3.9.0", 2, "a", "b"), queues("3.9.0", 1, "a"))
		sc.wantQueue(2, "a", "b")
		sc.apply(queues("4.20.3", 4, "b"), queues("1.1.0", 5, "b", "c"), queues("4.20.3", 4, "b"))
		sc.wantQueue(5, "b", "c")
		sc.wantRepair(0)
		sc.wantCursor("3.9.0")
		before := sc.s.Version()
		sc.apply(queues("3.9.0", 5, "b", "c"))
		if sc.s.Version() != before {
			t.Error("a duplicate changes the session")
		}
		sc.apply(queues("3.9.0", 6))
		sc.wantQueue(6)
	})
	t.Run("a reload brings no older list back", func(t *testing.T) {
		sc := begun(t, "0.9.0")
		sc.apply(queues("0.9.0", 3, "c"), reloads("1.10.0", "0.9.0", view.ReasonEpoch), queues("1.10.0", 5, "e"))
		sc.wantThread(true)
		sc.s.Replace(view.Thread{Cursor: mustCursor("1.10.0"), Queued: inputs("d"), QueueVersion: 4}, sc.now)
		sc.wantQueue(5, "e")
		sc.s.Replace(view.Thread{Cursor: mustCursor("1.10.0"), Queued: inputs("d"), QueueVersion: 4}, sc.now)
		sc.wantQueue(5, "e")
		sc.s.Replace(view.Thread{Cursor: mustCursor("1.10.0")}, sc.now)
		sc.wantQueue(5, "e")
	})
	t.Run("a list without inputs requires the thread once", func(t *testing.T) {
		cut := queues("0.9.0", 4, "x")
		cut.Truncated, cut.Queued[0].Input = true, nil
		sc := begun(t, "0.9.0")
		sc.apply(queues("0.9.0", 3, "c"), cut)
		sc.wantThread(true)
		sc.s.Replace(view.Thread{Cursor: mustCursor("0.9.0"), Queued: inputs("x"), QueueVersion: 4}, sc.now)
		sc.wantThread(false)
		sc.wantQueue(4, "x")
		sc.apply(cut)
		sc.wantThread(false)
		later := cut
		later.QueueVersion = 5
		sc.apply(later)
		sc.apply(later) // while the thread is read
		sc.s.Replace(view.Thread{Cursor: mustCursor("0.9.0"), Queued: inputs("x"), QueueVersion: 4}, sc.now)
		sc.wantThread(true)
		sc.s.Replace(view.Thread{Cursor: mustCursor("0.9.0"), Queued: inputs("x", "y"), QueueVersion: 6}, sc.now)
		sc.wantThread(false)
		sc.wantQueue(6, "x", "y")
	})
	t.Run("a deleted session has none", func(t *testing.T) {
		sc := begun(t, "0.9.0")
		sc.apply(queues("0.9.0", 3, "c"), about(view.TypeDeleted, "0.9.0", "0.9.0"), queues("0.9.0", 4, "d"))
		sc.wantQueue(0)
	})
	t.Run("the versions of a session made anew begin again", func(t *testing.T) {
		sc := begun(t, "0.9.0")
		sc.apply(queues("0.9.0", 7, "old"), reloads("0.2.0", "0.9.0", view.ReasonEpoch))
		sc.s.Replace(view.Thread{Cursor: mustCursor("0.2.0"), Queued: inputs("new"), QueueVersion: 1}, sc.now)
		sc.wantQueue(1, "new")
	})
	t.Run("of a thread's pages, the newest counts", func(t *testing.T) {
		first := view.Thread{Queued: inputs("a", "b"), QueueVersion: 2}
		last := view.Thread{Cursor: mustCursor("0.9.0"), Queued: inputs("b"), QueueVersion: 3}
		for _, page := range []view.Thread{last.Behind(first), first.Behind(last)} {
			sc := &script{t: t, s: view.NewState()}
			sc.s.Replace(page, sc.now)
			sc.wantQueue(3, "b")
		}
	})
}

func TestQueueIsParsed(t *testing.T) {
	const waiting = `{"run_id":"r","agent":"a","input":[{"author":"user","n": 1.50}],"queued_time":7}`
	sc := begun(t, "0.0.0")
	m, err := view.ParseMessage([]byte(`{"type":"thread.queue","cursor":"0.1.0","prev":"0.1.0","queue_version":2,"queued":[` + waiting + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	sc.apply(m)
	page, _, err := view.ParseThread(fmt.Appendf(nil, `{"data":{"cursor":"0.1.0","queue_version":2,"queued":[%s]}}`, waiting))
	if err != nil {
		t.Fatal(err)
	}
	other := begun(t, "0.0.0")
	other.s.Replace(page, other.now)
	for _, s := range []view.Session{sc.s.Show(), other.s.Show()} {
		got := fmt.Sprintf("%d %+v %s", s.QueueVersion, s.Queued, s.Queued[0].Input[0])
		if !strings.HasPrefix(got, "2 [{RunID:r Agent:a ") || !strings.HasSuffix(got, `QueuedTime:7}] {"author":"user","n": 1.50}`) {
			t.Errorf("it shows %s", got)
		}
	}
	if _, err := view.ParseMessage([]byte(`{"type":"thread.queue","cursor":"0.1.0","prev":"0.1.0","queued":[]}`)); err == nil {
		t.Error("a list without a version is accepted")
	}
}
