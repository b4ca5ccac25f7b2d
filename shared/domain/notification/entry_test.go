package notification_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/session"
)

// by is the attribution in these tests.
func by() notification.Attribution {
	return notification.Attribution{UserID: "alice", SessionID: "s", Agent: "helper", Chain: []string{"a1", "a2"}}
}

// of adds that attribution to an event.
func of(e notification.Event) notification.Event {
	e.UserID, e.SessionID, e.Agent, e.Chain, e.Depth = "alice", "s", "helper", []string{"a1", "a2"}, 2
	return e
}

func event(seq int64, status session.EventStatus) session.Event {
	return session.Event{InvocationID: "r1", Seq: seq, Status: status}
}

func TestOfEntry(t *testing.T) {
	t.Parallel()
	a := by()
	two := []session.Event{event(3, session.EventCompleted), event(4, session.EventCompleted)}
	open := []session.Event{event(3, session.EventInProgress)}
	ending := func(run string) []session.Event {
		return []session.Event{event(5, session.EventCompleted).With("run", json.RawMessage(run))}
	}
	item := func(id string, seq int64) notification.Event {
		return notification.Event{ID: id, Type: notification.ItemCompleted, Log: "l", RunID: "r1", Seq: seq, Time: 7}
	}
	end := func(typ notification.Type, code string) notification.Event {
		return of(notification.Event{ID: "l.5", Type: typ, Log: "l", RunID: "r1", Seq: 5, Time: 7, Error: code})
	}
	for name, c := range map[string]struct {
		entry notification.Entry
		want  []notification.Event
	}{
		"plain events":          {notification.Entry{New: true, Events: two}, nil},
		"whole events of a run": {notification.Entry{New: true, OfRun: true, Events: two}, []notification.Event{item("l.3", 3), item("l.4", 4)}},
		"an item begins":        {notification.Entry{New: true, OfRun: true, Events: open}, nil},
		"an item goes on":       {notification.Entry{Events: open}, nil},
		"an item is complete":   {notification.Entry{Events: two[:1]}, []notification.Event{item("l.3", 3)}},
		"an item's event has no attribution, whatever the change": {notification.Entry{By: &a, Events: two[:1]}, []notification.Event{item("l.3", 3)}},
		"a run begins after its input": {
			notification.Entry{New: true, By: &a, Began: "r1", Events: two},
			[]notification.Event{of(notification.Event{ID: "l.4", Type: notification.RunStarted, Log: "l", RunID: "r1", Seq: 4, Time: 7})},
		},
		"an imported run":    {notification.Entry{New: true, Began: "r1", Events: two}, nil},
		"a run is complete":  {notification.Entry{New: true, By: &a, Ended: "r1", Events: ending(`{"status":"completed"}`)}, []notification.Event{end(notification.RunCompleted, "")}},
		"a run is cancelled": {notification.Entry{New: true, By: &a, Ended: "r1", Events: ending(`{"status":"cancelled"}`)}, []notification.Event{end(notification.RunCancelled, "")}},
		"a run fails":        {notification.Entry{New: true, By: &a, Ended: "r1", Events: ending(`{"status":"failed","error":{"code":"worker_lost"}}`)}, []notification.Event{end(notification.RunFailed, "worker_lost")}},
		"a run ends after its item": {
			notification.Entry{New: true, By: &a, Ended: "r1", Open: 3, Events: ending(`{"status":"completed"}`)},
			[]notification.Event{item("l.3", 3), end(notification.RunCompleted, "")},
		},
		"a rewind": {
			notification.Entry{New: true, By: &a, Marker: true, Events: []session.Event{event(5, session.EventCompleted).With("actions", json.RawMessage(`{"rewind_before_invocation_id":"r0"}`))}},
			[]notification.Event{of(notification.Event{ID: "l.5", Type: notification.SessionRewound, Log: "l", Seq: 5, Time: 7, Before: "r0"})},
		},
		"an attributed entry that is not a milestone": {notification.Entry{New: true, By: &a, Events: two}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.entry.Log, c.entry.Time = "l", 7
			got, err := notification.OfEntry(c.entry)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("events (-want +got): %v\n%s", err, diff)
			}
		})
	}
	for name, entry := range map[string]notification.Entry{
		"a run's end that cannot be decoded": {New: true, By: &a, Ended: "r1", Events: ending(`1`)},
		"a rewind that cannot be decoded":    {New: true, By: &a, Marker: true, Events: two},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := notification.OfEntry(entry); err == nil {
				t.Errorf("it gives %+v", got)
			}
		})
	}
}
