package watch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

func TestLog_Snapshot(t *testing.T) {
	t.Parallel()
	log, prev := watch.Log{SessionID: "s", Epoch: 2, Head: 9, Offset: 7}, watch.Cursor{Epoch: 2, Seq: 4}
	for name, c := range map[string]struct {
		event    session.Event
		streamed bool
		want     int64 // the cursor's offset
	}{
		"an event": {event: session.Event{Seq: 5}},
		"the newest event has the offset of the log":        {event: session.Event{Seq: 9}, want: 7},
		"a streamed item at the cursor includes its end":    {event: session.Event{Seq: 5, Deltas: 3}, streamed: true, want: 4},
		"a streamed item without deltas includes its end":   {event: session.Event{Seq: 9}, streamed: true, want: 1},
		"an item in progress has the offset of its content": {event: session.Event{Seq: 9, Deltas: 3, Status: session.EventInProgress}, streamed: true, want: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := log.Snapshot(c.event, prev, c.streamed)
			want := watch.Message{
				Type: watch.Snapshot, SessionID: "s", Item: &c.event, Offset: &c.event.Deltas, Prev: prev,
				Cursor: watch.Cursor{Epoch: 2, Seq: c.event.Seq, Offset: c.want},
			}
			if diff := cmp.Diff(want, m); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessage_MustSplit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status session.EventStatus
		bytes  int
		want   bool
	}{
		"a small item in progress": {session.EventInProgress, 1, false},
		"a large item in progress": {session.EventInProgress, watch.MaxMessage, true},
		"a large complete item":    {session.EventCompleted, watch.MaxMessage, false},
	} {
		content := json.RawMessage(`"` + strings.Repeat("x", c.bytes) + `"`)
		e := session.Event{Seq: 5, Status: c.status, Fields: map[string]json.RawMessage{"content": content}}
		if got := watch.SnapshotOf(1, e).MustSplit(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	deltas := make([]content.Delta, 4)
	for i := range deltas {
		deltas[i] = content.Delta{Text: strings.Repeat("x", watch.MaxMessage/2)}
	}
	e := session.Event{
		ID: "e5", Seq: 5, Status: session.EventInProgress, Deltas: 4, Fields: map[string]json.RawMessage{},
	}
	m := watch.Log{SessionID: "s", Head: 5}.Snapshot(e, watch.Cursor{Seq: 4}, true)
	at := func(seq, offset int64) *watch.Cursor { return &watch.Cursor{Seq: seq, Offset: offset} }
	parts := []string{"item.snapshot 0.4.0", "item.delta 0.5.1", "item.delta 0.5.2", "item.delta 0.5.3"}
	for name, c := range map[string]struct {
		cursor *watch.Cursor
		want   []string // types of messages, and the cursor that each continues
	}{
		"no cursor: in parts":                   {nil, parts},
		"a cursor at another entry: in parts":   {at(4, 2), parts},
		"a cursor before all deltas: in parts":  {at(5, 0), parts},
		"a cursor beyond the deltas: in parts":  {at(5, 5), parts},
		"a cursor within: the remaining deltas": {at(5, 2), parts[2:]},
		"a cursor at the end: the newest delta": {at(5, 4), parts[3:]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, err := watch.Split(m, deltas, c.cursor)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, m := range messages {
				got = append(got, string(m.Type)+" "+m.Prev.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLog_Status(t *testing.T) {
	t.Parallel()
	log := watch.Log{SessionID: "s", Epoch: 2, Head: 9, Offset: 7}
	end, before := watch.Cursor{Epoch: 2, Seq: 9, Offset: 7}, watch.Cursor{Epoch: 2, Seq: 8, Offset: 3}
	within := watch.Cursor{Epoch: 2, Seq: 9, Offset: 5}
	problem := run.NewProblem("boom", "it broke")
	failed := &run.Run{ID: "r1", Error: problem}
	for name, c := range map[string]struct {
		prev   watch.Cursor
		status session.Status
		active string
		last   *run.Run
		want   watch.Message
	}{
		"covers the log up to its head": {
			before, session.Idle, "", nil, watch.Message{Cursor: end, Status: session.Idle},
		},
		"stays at a cursor at the head": {
			within, session.Idle, "", nil, watch.Message{Cursor: within, Status: session.Idle},
		},
		"carries the active run": {
			end, session.InProgress, "r2", nil, watch.Message{Cursor: end, Status: session.InProgress, RunID: "r2"},
		},
		"carries the failed run and its error": {
			end, session.Failed, "", failed, watch.Message{Cursor: end, Status: session.Failed, RunID: "r1", Error: problem},
		},
		"says that the failed run is kept": {
			end, session.Failed, "", &run.Run{ID: "r1", Error: problem, OnFailed: run.Keep},
			watch.Message{Cursor: end, Status: session.Failed, RunID: "r1", Error: problem, OnFailed: run.Keep},
		},
		"carries no run if the failed one is unknown": {
			end, session.Failed, "", nil, watch.Message{Cursor: end, Status: session.Failed},
		},
		"carries no error of an earlier run": {
			end, session.Idle, "", failed, watch.Message{Cursor: end, Status: session.Idle},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.want.Type, c.want.SessionID, c.want.Prev = watch.Status, "s", c.prev
			if diff := cmp.Diff(c.want, log.Status(c.prev, c.status, c.active, c.last)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
	want := watch.Message{Type: watch.Reload, SessionID: "s", Prev: before, Cursor: end, Reason: watch.ReasonBehind}
	if diff := cmp.Diff(want, log.Reload(before, watch.ReasonBehind)); diff != "" {
		t.Errorf("reload (-want +got):\n%s", diff)
	}
}
