package watch_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

func ptr[T any](v T) *T { return &v }

// said returns an event at a seq with a status.
func said(seq int64, status session.EventStatus, deltas int64) session.Event {
	return session.Event{
		ID: "e", Seq: seq, Status: status, Deltas: deltas, InvocationID: "r1", Author: "agent",
		Fields: map[string]json.RawMessage{"content": json.RawMessage(`{"role":"model"}`)},
	}
}

// runEnd returns the event that ends a run.
func runEnd(text string) session.Event {
	e := said(3, session.EventCompleted, 0)
	return e.With("run", json.RawMessage(text))
}

func TestMessages(t *testing.T) {
	t.Parallel()
	first, second := said(3, session.EventCompleted, 0), said(4, session.EventCompleted, 0)
	placed := first
	placed.TaskID = "t1"
	open := said(3, session.EventInProgress, 7)
	shown := said(3, session.EventInProgress, 0).With("content", json.RawMessage(`{"role":"model","parts":[]}`))
	whole, failed := said(3, session.EventCompleted, 7), said(3, session.EventFailed, 7)
	delta := content.Delta{Text: "so"}
	at := func(seq, offset int64) watch.Cursor { return watch.Cursor{Epoch: 2, Seq: seq, Offset: offset} }
	snapshot := func(e session.Event, prev watch.Cursor) watch.Message {
		return watch.Message{
			Type: watch.Snapshot, Cursor: at(e.Seq, e.Deltas), Prev: prev, Item: &e, ItemID: "e", Offset: &e.Deltas,
		}
	}
	final := func(typ watch.Type, e session.Event) watch.Message {
		return watch.Message{Type: typ, Cursor: at(3, 8), Prev: at(3, 7), Item: &e, ItemID: "e", Offset: ptr(int64(7))}
	}
	problem := &run.Problem{Code: "agent_failed", Message: "no"}
	mark := runEnd(`{"id":"r1","status":"failed","error":{"code":"agent_failed","message":"no"},"on_failed":"keep"}`)
	mark.Status = session.EventFailed
	for name, c := range map[string]struct {
		change watch.Change
		want   []watch.Message
	}{
		"nothing of interest": {watch.Change{}, nil},
		"the queue changes": {
			watch.Change{Queue: &watch.Queue{Queue: run.Queue{Version: 3, Starts: []run.Queued{{
				RunID: "r2", Agent: "a", Time: 7, Input: []session.Event{
					{Author: "user", InvocationID: "r2", Fields: map[string]json.RawMessage{"content": json.RawMessage(`{}`)}},
					{ID: "mine", Author: "user", InvocationID: "r2"},
				},
			}}}, At: at(4, 0)}},
			[]watch.Message{{
				Type: watch.QueueType, Cursor: at(4, 0), Prev: at(4, 0), QueueVersion: 3,
				Queued: &[]run.Shown{{
					RunID: "r2", Agent: "a", QueuedTime: 7,
					Input: []json.RawMessage{json.RawMessage(`{"author":"user","content":{}}`), json.RawMessage(`{"author":"user","id":"mine"}`)},
				}},
			}},
		},
		"the queue is empty again": {
			watch.Change{Queue: &watch.Queue{Queue: run.Queue{Version: 4}, At: at(4, 0)}},
			[]watch.Message{{Type: watch.QueueType, Cursor: at(4, 0), Prev: at(4, 0), QueueVersion: 4, Queued: &[]run.Shown{}}},
		},
		"the session is deleted":        {watch.Change{Deleted: true}, []watch.Message{{Type: watch.Deleted}}},
		"events are consecutive":        {appended(watch.Entry{Epoch: 2, PrevOffset: 5, Events: []session.Event{first, second}}), []watch.Message{snapshot(first, at(2, 5)), snapshot(second, at(3, 0))}},
		"an item starts without deltas": {appended(watch.Entry{Epoch: 2, Events: []session.Event{open}}), []watch.Message{snapshot(shown, at(2, 0))}},
		"the input of a run": {
			appended(watch.Entry{Epoch: 2, Events: []session.Event{first}, Began: "r1"}),
			[]watch.Message{snapshot(first, at(2, 0)), {
				Type: watch.Status, Cursor: at(3, 0), Prev: at(3, 0), Status: session.InProgress, RunID: "r1",
			}},
		},
		"a hidden entry covers its positions": {
			appended(watch.Entry{Epoch: 2, PrevOffset: 5, Events: []session.Event{first, second}, Hidden: true}),
			[]watch.Message{{Type: watch.Status, Cursor: at(4, 0), Prev: at(2, 5)}},
		},
		"the position of a task is covered": {
			appended(watch.Entry{Epoch: 2, Events: []session.Event{placed}}),
			[]watch.Message{{Type: watch.Status, Cursor: at(3, 0), Prev: at(2, 0)}},
		},
		"a run ends": {
			appended(watch.Entry{Epoch: 2, Events: []session.Event{runEnd(`{"id":"r1","status":"cancelled"}`)}, Ended: "r1", Hidden: true}),
			[]watch.Message{{Type: watch.Status, Cursor: at(3, 0), Prev: at(2, 0), Status: session.Idle, RunID: "r1"}},
		},
		"a run fails": {
			appended(watch.Entry{Epoch: 2, Events: []session.Event{runEnd(`{"id":"r1","status":"failed","error":{"code":"agent_failed","message":"no"}}`)}, Ended: "r1", Hidden: true}),
			[]watch.Message{{Type: watch.Status, Cursor: at(3, 0), Prev: at(2, 0), Status: session.Failed, RunID: "r1", Error: problem}},
		},
		"the end of a run that is kept is shown": {
			appended(watch.Entry{Epoch: 2, PrevOffset: 5, Events: []session.Event{mark}, Ended: "r1"}),
			[]watch.Message{snapshot(mark, at(2, 5)), {
				Type: watch.Status, Cursor: at(3, 0), Prev: at(3, 0), Status: session.Failed, RunID: "r1", Error: problem, OnFailed: run.Keep,
			}},
		},
		"a rewind continues from the previous epoch": {
			appended(watch.Entry{Epoch: 2, PrevOffset: 5, Events: []session.Event{first}, Rewind: &watch.Rewind{ToSeq: 1}}),
			[]watch.Message{
				{Type: watch.Rewound, Cursor: at(3, 0), Prev: watch.Cursor{Epoch: 1, Seq: 2, Offset: 5}, ToSeq: ptr(int64(1)), Epoch: ptr(int64(2))},
				{Type: watch.Status, Cursor: at(3, 0), Prev: at(3, 0), Status: session.Idle},
			},
		},
		"a rewind that restores items is a reload": {
			appended(watch.Entry{Epoch: 2, Events: []session.Event{first}, Rewind: &watch.Rewind{ToSeq: 1, Back: true}}),
			[]watch.Message{{Type: watch.Reload, Cursor: at(3, 0), Prev: watch.Cursor{Epoch: 1, Seq: 2}, Reason: watch.ReasonEpoch}},
		},
		"an item is saved while it is in progress": {completed(watch.Entry{Epoch: 2, Events: []session.Event{open}}), nil},
		"an item is complete":                      {completed(watch.Entry{Epoch: 2, Offset: 8, Events: []session.Event{whole}}), []watch.Message{final(watch.ItemCompleted, whole)}},
		"an item failed":                           {completed(watch.Entry{Epoch: 2, Offset: 8, Events: []session.Event{failed}}), []watch.Message{final(watch.ItemFailed, failed)}},
		"deltas": {
			watch.Change{Grown: &watch.Growth{Epoch: 2, Seq: 3, ItemID: "e", First: 6, Deltas: []content.Delta{delta, delta}}},
			[]watch.Message{
				{Type: watch.DeltaType, Cursor: at(3, 6), Prev: at(3, 5), ItemID: "e", Offset: ptr(int64(6)), Delta: &delta},
				{Type: watch.DeltaType, Cursor: at(3, 7), Prev: at(3, 6), ItemID: "e", Offset: ptr(int64(7)), Delta: &delta},
			},
		},
		"an item is closed": {watch.Change{Grown: &watch.Growth{Epoch: 2, Seq: 3, First: 6}}, []watch.Message{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := watch.Messages(c.change)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("messages (-want +got): %v\n%s", err, diff)
			}
		})
	}
	t.Run("the end of a run that cannot be decoded", func(t *testing.T) {
		t.Parallel()
		_, err := watch.Messages(appended(watch.Entry{Events: []session.Event{runEnd(`"no run"`)}, Ended: "r1"}))
		if err == nil {
			t.Error("it is told all the same")
		}
	})
}

func appended(e watch.Entry) watch.Change  { return watch.Change{Appended: &e} }
func completed(e watch.Entry) watch.Change { return watch.Change{Completed: &e} }

// TestMessagesFollowOneAnother checks that the messages of any entries follow the
// rule that clients rely on: each begins where the previous one ends, so that a
// client with all of them has missed nothing.
func TestMessagesAreConsecutive(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		entry := watch.Entry{Epoch: 1}
		at := watch.Cursor{Epoch: 1}
		for range rapid.IntRange(1, 8).Draw(t, "entries") {
			entry.PrevOffset, entry.Events, entry.Began = at.Offset, nil, ""
			for range rapid.IntRange(1, 3).Draw(t, "events") {
				entry.Events = append(entry.Events, said(at.Seq+1+int64(len(entry.Events)), session.EventCompleted, 0))
			}
			entry.Hidden = rapid.Bool().Draw(t, "hidden")
			if rapid.Bool().Draw(t, "begins a run") {
				entry.Began = "r1"
			}
			messages, err := watch.Messages(appended(entry))
			if err != nil || len(messages) == 0 {
				t.Fatalf("%+v gives %v, %v", entry, messages, err)
			}
			for _, m := range messages {
				if m.Prev != at || m.Cursor.Before(at) {
					t.Fatalf("%+v does not follow %v", m, at)
				}
				at = m.Cursor
			}
			if last := entry.Events[len(entry.Events)-1].Seq; at.Seq != last {
				t.Fatalf("the messages end at %v, the entry at %d", at, last)
			}
		}
	})
}
