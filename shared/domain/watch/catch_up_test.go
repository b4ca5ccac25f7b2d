package watch_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

func TestLog_AtCursor(t *testing.T) {
	t.Parallel()
	log := watch.Log{Epoch: 2, Head: 150, Base: 50}
	for name, c := range map[string]struct {
		at   watch.Cursor
		seen watch.SeenEntry
		want watch.Start
	}{
		"another epoch":                   {at: watch.Cursor{Epoch: 1, Seq: 100}, want: watch.Start{Reason: watch.ReasonEpoch}},
		"beyond the head":                 {at: watch.Cursor{Epoch: 2, Seq: 151}, want: watch.Start{Reason: watch.ReasonEpoch}},
		"the head":                        {at: watch.Cursor{Epoch: 2, Seq: 150}, want: watch.Start{After: 150}},
		"what a fork took over":           {at: watch.Cursor{Epoch: 2, Seq: 50}, seen: watch.SeenEntry{InProgress: true}, want: watch.Start{After: 50}},
		"too far behind":                  {at: watch.Cursor{Epoch: 2, Seq: 49}, want: watch.Start{After: 49, Reason: watch.ReasonBehind}},
		"an item in progress":             {at: watch.Cursor{Epoch: 2, Seq: 150}, seen: watch.SeenEntry{InProgress: true}, want: watch.Start{After: 149, Streamed: 150}},
		"an item that has grown since":    {at: watch.Cursor{Epoch: 2, Seq: 150, Offset: 3}, seen: watch.SeenEntry{Streamed: true, Offset: 4}, want: watch.Start{After: 149, Streamed: 150}},
		"an item in its final form":       {at: watch.Cursor{Epoch: 2, Seq: 150, Offset: 4}, seen: watch.SeenEntry{Streamed: true, Offset: 4, Open: 9}, want: watch.Start{After: 150}},
		"an item in progress before it":   {at: watch.Cursor{Epoch: 2, Seq: 149}, seen: watch.SeenEntry{Open: 51}, want: watch.Start{After: 50}},
		"an item in progress long before": {at: watch.Cursor{Epoch: 2, Seq: 149}, seen: watch.SeenEntry{Open: 50}, want: watch.Start{After: 149, Distant: 50}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := log.AtCursor(c.at, func(seq int64) (watch.SeenEntry, error) {
				if seq != c.at.Seq {
					t.Errorf("reads the entry at %d", seq)
				}
				return c.seen, nil
			})
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("start (-want +got): %v\n%s", err, diff)
			}
		})
	}
	lost := errors.New("lost")
	if _, err := log.AtCursor(watch.Cursor{Epoch: 2, Seq: 100}, func(int64) (watch.SeenEntry, error) {
		return watch.SeenEntry{}, lost
	}); !errors.Is(err, lost) {
		t.Errorf("an entry that cannot be read: %v", err)
	}
}

func TestLog_AtItem(t *testing.T) {
	t.Parallel()
	log := watch.Log{Head: 150}
	for seq, want := range map[int64]watch.Start{
		0: {Reason: watch.ReasonGone}, 150: {After: 149}, 51: {After: 50}, 50: {After: 49, Reason: watch.ReasonBehind},
	} {
		if diff := cmp.Diff(want, log.AtItem(seq)); diff != "" {
			t.Errorf("at %d (-want +got):\n%s", seq, diff)
		}
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	event := func(seq int64, status session.EventStatus, bytes int) session.Event {
		return session.Event{Seq: seq, Status: status, Fields: map[string]json.RawMessage{
			"content": json.RawMessage(`"` + strings.Repeat("x", bytes) + `"`),
		}}
	}
	const done, large = session.EventCompleted, watch.MaxMessage
	cursor := &watch.Cursor{Seq: 3}
	for name, c := range map[string]struct {
		events []session.Event
		cursor *watch.Cursor
		want   int
	}{
		"all without a cursor":                   {events: []session.Event{event(1, done, large), event(2, done, 1)}, want: 2},
		"what fits is sent again":                {events: []session.Event{event(1, done, 1), event(3, done, 1)}, cursor: cursor, want: 2},
		"what does not fit is not, nor the rest": {events: []session.Event{event(1, done, large), event(2, done, 1), event(3, done, large)}, cursor: cursor, want: 1},
		"an item in progress is":                 {events: []session.Event{event(1, session.EventInProgress, large), event(2, done, 1)}, cursor: cursor, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := watch.Unknown(1, c.events, c.cursor)
			if diff := cmp.Diff(c.events[len(c.events)-c.want:], got); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
		})
	}
}
