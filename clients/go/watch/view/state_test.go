package view_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
)

// script passes messages to a state and checks what it shows.
type script struct {
	t   *testing.T
	s   *view.State
	now time.Time
}

// begun returns a state with a thread of the items.
func begun(t *testing.T, cursor string, items ...view.Event) *script {
	t.Helper()
	sc := &script{t: t, s: view.NewState(), now: time.UnixMilli(1_800_000_000_000)}
	sc.s.Replace(view.Thread{Items: items, Cursor: mustCursor(cursor), Status: view.Idle}, sc.now)
	return sc
}

func mustCursor(text string) view.Cursor {
	c, err := view.ParseCursor(text)
	if err != nil {
		panic(err)
	}
	return c
}

func ev(seq int64, status view.EventStatus, texts ...string) view.Event {
	parts := []any{}
	for _, text := range texts {
		parts = append(parts, map[string]any{"text": text})
	}
	content, err := json.Marshal(map[string]any{"role": "model", "parts": parts})
	if err != nil {
		panic(err)
	}
	return view.Event{
		ID: fmt.Sprint("e", seq), Seq: seq, Status: status,
		Fields: map[string]json.RawMessage{"content": content},
	}
}

func whole(seq int64, text string) view.Event { return ev(seq, view.EventCompleted, text) }

func (sc *script) apply(messages ...view.Message) {
	for _, m := range messages {
		sc.s.Apply(m, sc.now)
	}
}

// about returns a message with a cursor and prev.
func about(kind view.Type, cursor, prev string) view.Message {
	return view.Message{Type: kind, Cursor: mustCursor(cursor), Prev: mustCursor(prev)}
}

func brings(kind view.Type, cursor, prev string, e view.Event) view.Message {
	m := about(kind, cursor, prev)
	m.Item, m.ItemID = &e, e.ID
	return m
}

func adds(cursor, prev, text string) view.Message {
	m := about(view.TypeDelta, cursor, prev)
	m.ItemID, m.Delta = fmt.Sprint("e", m.Cursor.Seq), &view.Delta{Text: &text}
	return m
}

func ends(cursor, prev string, status view.Status) view.Message {
	m := about(view.TypeStatus, cursor, prev)
	m.Status, m.RunID = status, "r1"
	if status == view.Failed {
		m.Error = &view.Problem{Code: "x", Message: "y"}
	}
	return m
}

func rewinds(cursor, prev string, toSeq int64) view.Message {
	m := about(view.TypeRewound, cursor, prev)
	m.ToSeq = &toSeq
	return m
}

func reloads(cursor, prev, reason string) view.Message {
	m := about(view.TypeReload, cursor, prev)
	m.Reason = reason
	return m
}

func (sc *script) want(items ...string) {
	sc.t.Helper()
	var got []string
	for _, e := range sc.s.Show().Items {
		var c struct{ Parts []struct{ Text string } }
		if err := json.Unmarshal(e.Fields["content"], &c); err != nil {
			sc.t.Fatal(err)
		}
		var text strings.Builder
		for _, p := range c.Parts {
			text.WriteString(p.Text)
		}
		if e.Status != view.EventCompleted {
			text.WriteString(" (" + string(e.Status) + ")")
		}
		got = append(got, fmt.Sprintf("%d:%s", e.Seq, &text))
	}
	if !slices.Equal(got, items) {
		sc.t.Errorf("it shows %q, want %q", got, items)
	}
}

func (sc *script) wantCursor(want string) {
	sc.t.Helper()
	if got := sc.s.Cursor().String(); got != want {
		sc.t.Errorf("the cursor is %s, want %s", got, want)
	}
}

// wantRepair checks that a repair is due after a time; 0 is never.
func (sc *script) wantRepair(in time.Duration) {
	sc.t.Helper()
	at, due := sc.s.RepairAt()
	if due != (in > 0) || due && at.Sub(sc.now) != in {
		sc.t.Errorf("repair in %s (%v), want %s", at.Sub(sc.now), due, in)
	}
}

func (sc *script) wantThread(want bool) {
	sc.t.Helper()
	if sc.s.NeedsThread() != want {
		sc.t.Errorf("needs a thread: %v", !want)
	}
}

func TestItems(t *testing.T) {
	t.Run("deltas continue an item, and completion replaces it", func(t *testing.T) {
		sc := begun(t, "0.0.0")
		sc.apply(brings(view.TypeSnapshot, "0.1.0", "0.0.0", ev(1, view.EventInProgress)), adds("0.1.1", "0.1.0", "a"))
		sc.apply(adds("0.1.2", "0.1.1", "b"), adds("0.1.1", "0.1.0", "again"))
		sc.want("1:ab (in_progress)")
		sc.wantCursor("0.1.2")
		sc.apply(brings(view.TypeCompleted, "0.1.2", "0.1.2", whole(1, "other")), adds("0.1.3", "0.1.2", "late"))
		sc.want("1:other")
		sc.wantCursor("0.1.2")
	})
	t.Run("a message that arrives early waits", func(t *testing.T) {
		sc := begun(t, "0.0.0")
		sc.apply(
			adds("0.2.2", "0.2.1", "b"), brings(view.TypeSnapshot, "0.3.0", "0.2.0", whole(3, "three")),
			adds("0.2.1", "0.2.0", "a"), brings(view.TypeSnapshot, "0.2.0", "0.1.0", ev(2, view.EventInProgress)),
		)
		sc.want()
		sc.wantRepair(view.Hold)
		sc.apply(brings(view.TypeSnapshot, "0.1.0", "0.0.0", whole(1, "one")))
		sc.want("1:one", "2:ab (in_progress)", "3:three")
		sc.wantRepair(0)
		sc.wantCursor("0.2.2")
	})
	t.Run("a delta that overlaps the content waits for a snapshot", func(t *testing.T) {
		sc := begun(t, "0.1.3", ev(1, view.EventInProgress, "abc"))
		sc.apply(adds("0.1.5", "0.1.2", "cde"))
		sc.want("1:abc (in_progress)")
		sc.wantRepair(view.Hold)
		sc.s.Repairing(sc.now)
		sc.apply(brings(view.TypeSnapshot, "0.1.5", "0.1.3", ev(1, view.EventInProgress, "abcde")))
		sc.want("1:abcde (in_progress)")
		sc.wantRepair(0)
	})
	t.Run("an older snapshot changes nothing", func(t *testing.T) {
		sc := begun(t, "0.1.3", ev(1, view.EventInProgress, "abc"))
		sc.apply(brings(view.TypeSnapshot, "0.1.1", "0.0.0", ev(1, view.EventInProgress, "a")))
		sc.want("1:abc (in_progress)")
		sc.apply(brings(view.TypeFailed, "0.1.3", "0.1.3", ev(1, view.EventFailed, "abc")))
		sc.apply(brings(view.TypeSnapshot, "0.1.3", "0.0.0", ev(1, view.EventInProgress, "abc")))
		sc.want("1:abc (failed)")
	})
	t.Run("an item without an offset in the thread is repaired", func(t *testing.T) {
		sc := begun(t, "0.2.0", ev(1, view.EventInProgress, "abc"), whole(2, "two"))
		if at, due := sc.s.RepairAt(); !due || at.After(sc.now) {
			t.Error("the repair is not due at once")
		}
		sc.wantCursor("0.0.0")
		sc.apply(brings(view.TypeSnapshot, "0.1.0", "0.0.0", ev(1, view.EventInProgress)))
		sc.want("1:abc (in_progress)", "2:two")
		sc.apply(brings(view.TypeSnapshot, "0.1.4", "0.0.0", ev(1, view.EventInProgress, "abcd")))
		sc.apply(adds("0.1.5", "0.1.4", "e"))
		sc.want("1:abcde (in_progress)", "2:two")
		sc.wantRepair(0)
	})
	t.Run("the completion of an unknown item is a gap", func(t *testing.T) {
		sc := begun(t, "0.0.0")
		sc.apply(brings(view.TypeCompleted, "0.1.4", "0.1.4", whole(1, "one")))
		sc.want()
		sc.wantRepair(view.Hold)
	})
}

func TestRepair(t *testing.T) {
	t.Run("the delay doubles with each repair that does not help", func(t *testing.T) {
		sc := begun(t, "0.0.0")
		sc.apply(brings(view.TypeSnapshot, "0.2.0", "0.1.0", whole(2, "two")))
		for _, wait := range []time.Duration{1, 1, 2, 4, 8, 16, 32, 32} {
			sc.wantRepair(wait * view.Hold)
			sc.now, _ = sc.s.RepairAt()
			sc.s.Repairing(sc.now)
		}
		sc.apply(brings(view.TypeSnapshot, "0.1.0", "0.0.0", whole(1, "one")))
		sc.apply(brings(view.TypeSnapshot, "0.4.0", "0.3.0", whole(4, "four")))
		sc.wantRepair(view.Hold)
	})
	t.Run("an item without deltas is repaired from before its position", func(t *testing.T) {
		sc := begun(t, "0.1.0", whole(1, "one"))
		sc.apply(brings(view.TypeSnapshot, "0.2.0", "0.1.0", ev(2, view.EventInProgress)))
		sc.wantCursor("0.1.0")
	})
	t.Run("too many held messages are repaired at once", func(t *testing.T) {
		sc := begun(t, "0.0.0")
		for i := range int64(1001) {
			sc.apply(brings(view.TypeSnapshot, fmt.Sprintf("0.%d.0", i+2), fmt.Sprintf("0.%d.0", i+1), whole(i+2, "x")))
		}
		if at, due := sc.s.RepairAt(); !due || at.After(sc.now) {
			t.Error("the repair is not due at once")
		}
	})
	t.Run("a message that could not be parsed is repaired", func(t *testing.T) {
		sc := begun(t, "0.0.0")
		sc.s.Missed(sc.now)
		sc.wantRepair(view.Hold)
		sc.s.Repairing(sc.now)
		sc.wantRepair(0)
	})
}

func TestStatus(t *testing.T) {
	t.Run("a status that a catch-up has passed applies when it arrives", func(t *testing.T) {
		sc := begun(t, "0.1.0", whole(1, "one"))
		sc.apply(ends("0.1.0", "0.1.0", view.InProgress))
		sc.apply(brings(view.TypeSnapshot, "0.3.0", "0.1.0", whole(3, "three")), ends("0.2.0", "0.1.0", view.Failed))
		got := sc.s.Show()
		if got.Status != view.Failed || got.RunID != "r1" || got.Error == nil {
			t.Errorf("got %+v", got)
		}
		sc.apply(ends("0.1.0", "0.1.0", view.InProgress))
		if got := sc.s.Show().Status; got != view.Failed {
			t.Errorf("an older status was applied: %s", got)
		}
	})
	t.Run("a failed run may be kept", func(t *testing.T) {
		sc := begun(t, "0.1.0", whole(1, "one"))
		failed := ends("0.2.0", "0.1.0", view.Failed)
		failed.OnFailed = view.Keep
		sc.apply(failed)
		if !sc.s.Show().Kept {
			t.Error("the kept run is not shown as such")
		}
		sc.apply(ends("0.3.0", "0.2.0", view.InProgress), ends("0.4.0", "0.3.0", view.Failed))
		if sc.s.Show().Kept {
			t.Error("another run that failed is shown as kept")
		}
	})
	t.Run("a rewind makes the session idle", func(t *testing.T) {
		sc := begun(t, "0.2.0", whole(1, "one"), whole(2, "two"))
		sc.apply(ends("0.3.0", "0.2.0", view.Failed), rewinds("1.4.0", "0.3.0", 1))
		if got := sc.s.Show(); got.Status != view.Idle || got.RunID != "" || got.Error != nil || got.Epoch != 1 {
			t.Errorf("got %+v", got)
		}
		sc.want("1:one")
	})
	t.Run("accepts positions without a status and unknown message types", func(t *testing.T) {
		sc := begun(t, "0.0.0")
		sc.apply(about(view.TypeStatus, "0.1.0", "0.0.0"), about("thread.renamed", "0.2.0", "0.1.0"))
		sc.wantCursor("0.2.0")
	})
}

func TestRewinds(t *testing.T) {
	t.Run("completes an item kept by a rewind with messages of the previous epoch", func(t *testing.T) {
		sc := begun(t, "0.2.1", whole(1, "one"), ev(2, view.EventInProgress, "a"))
		sc.apply(
			ends("0.3.0", "0.2.0", view.Idle), brings(view.TypeSnapshot, "0.4.0", "0.3.0", whole(4, "four")),
			rewinds("1.5.0", "0.4.0", 3), brings(view.TypeFailed, "0.2.1", "0.2.1", ev(2, view.EventFailed, "a")),
		)
		sc.want("1:one", "2:a (failed)")
	})
	t.Run("messages of the next epoch wait for the rewind", func(t *testing.T) {
		sc := begun(t, "0.1.0", whole(1, "one"))
		sc.apply(brings(view.TypeSnapshot, "1.3.0", "1.2.0", whole(3, "three")))
		sc.want("1:one")
		sc.apply(rewinds("1.2.0", "0.1.0", 0))
		sc.want("3:three")
	})
	t.Run("needs the thread if the connection ends after a rewind, which may restore items", func(t *testing.T) {
		sc := begun(t, "0.1.0", whole(1, "one"))
		sc.s.Lost()
		sc.wantThread(false)
		sc.apply(rewinds("1.2.0", "0.1.0", 1))
		sc.s.Lost()
		sc.wantThread(true)
	})
}

func TestReload(t *testing.T) {
	back := reloads("1.2.0", "1.2.0", view.ReasonEpoch)
	t.Run("requests the thread and holds messages until then", func(t *testing.T) {
		sc := begun(t, "0.1.0", whole(1, "one"))
		sc.apply(rewinds("1.2.0", "0.1.0", 0), back, brings(view.TypeSnapshot, "1.3.0", "1.2.0", whole(3, "three")))
		sc.wantThread(true)
		sc.s.Replace(view.Thread{Items: []view.Event{whole(1, "back")}, Cursor: mustCursor("1.2.0")}, sc.now)
		sc.wantThread(false)
		sc.want("1:back", "3:three")
		sc.apply(back)
		sc.wantThread(false)
	})
	for name, c := range map[string]struct {
		m    view.Message
		want bool
	}{
		"too far behind":                        {reloads("1.9.0", "1.1.0", view.ReasonBehind), true},
		"recreated session with the same id":    {reloads("1.1.0", "1.3.0", view.ReasonEpoch), true},
		"known rewind":                          {reloads("1.2.0", "1.2.0", view.ReasonEpoch), false},
		"unknown rewind":                        {reloads("2.4.0", "2.4.0", view.ReasonEpoch), true},
		"final item":                            {reloads("1.1.0", "1.0.0", view.ReasonSize), false},
		"hidden item":                           {reloads("1.2.0", "1.1.0", view.ReasonSize), false},
		"item in progress":                      {reloads("1.3.5", "1.3.5", view.ReasonSize), true},
		"item not received yet":                 {reloads("1.4.0", "1.3.0", view.ReasonSize), true},
		"reason from before the thread's epoch": {reloads("0.9.0", "0.1.0", view.ReasonGone), false},
	} {
		t.Run(name, func(t *testing.T) {
			sc := begun(t, "1.3.5", whole(1, "one"), ev(3, view.EventInProgress, "three"))
			sc.apply(c.m)
			sc.wantThread(c.want)
		})
	}
}

func TestDeleted(t *testing.T) {
	sc := begun(t, "0.1.0", whole(1, "one"))
	sc.apply(view.Message{Type: view.TypeDeleted}, brings(view.TypeSnapshot, "0.2.0", "0.1.0", whole(2, "two")))
	sc.s.Lost()
	sc.want("1:one")
	if !sc.s.Deleted() || !sc.s.Show().Deleted || sc.s.NeedsThread() {
		t.Error("Deleted reports false")
	}
}

func TestParseMessage(t *testing.T) {
	for name, frame := range map[string]string{
		"not JSON":                  `{`,
		"without type":              `{"cursor":"0.1.0"}`,
		"invalid cursor":            `{"type":"thread.status","cursor":"1"}`,
		"snapshot without an item":  `{"type":"item.snapshot","cursor":"0.1.0"}`,
		"item without an author":    `{"type":"item.snapshot","cursor":"0.1.0","item":{"id":"e"}}`,
		"delta without content":     `{"type":"item.delta","cursor":"0.1.0","item_id":"e"}`,
		"invalid delta":             `{"type":"item.delta","cursor":"0.1.0","item_id":"e","delta":{"part":-1,"text":""}}`,
		"rewind without a position": `{"type":"thread.rewound","cursor":"1.2.0","prev":"0.1.0"}`,
	} {
		t.Run("rejects "+name, func(t *testing.T) {
			if m, err := view.ParseMessage([]byte(frame)); err == nil {
				t.Errorf("got %+v", m)
			}
		})
	}
	t.Run("accepts a null prev and unknown members", func(t *testing.T) {
		m, err := view.ParseMessage([]byte(`{"type":"thread.status","cursor":"0.1.0","prev":null,"run_id":null,"later":1}`))
		if err != nil || m.Cursor.Seq != 1 || m.Prev != (view.Cursor{}) {
			t.Errorf("got %+v, %v", m, err)
		}
	})
}
