package watch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// deltaMessage is a delta as a client decodes it.
type deltaMessage struct {
	Cursor, Prev watch.Cursor
	Delta        content.Delta
}

func mustDelta(t *rapid.T, frame string) deltaMessage {
	var m deltaMessage
	if err := json.Unmarshal([]byte(frame), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func mustSnapshot(t *rapid.T, deltas []content.Delta) string {
	c := content.NewDraft("model")
	for _, d := range deltas {
		if err := c.Append(d, ""); err != nil {
			t.Fatal(err)
		}
	}
	return string(c.Snapshot())
}

func TestFrame(t *testing.T) {
	large := func(bytes int) watch.Message {
		text, err := json.Marshal(strings.Repeat("x", bytes))
		if err != nil {
			t.Fatal(err)
		}
		return watch.Message{
			Type:   watch.ItemCompleted,
			Cursor: watch.Cursor{Epoch: 1, Seq: 5, Offset: 3}, Prev: watch.Cursor{Epoch: 1, Seq: 5, Offset: 3},
			Item: &session.Event{ID: "e5", Fields: map[string]json.RawMessage{"text": text}},
		}
	}
	t.Run("text is not escaped for HTML", func(t *testing.T) {
		frame, err := watch.Frame(watch.Message{Type: watch.DeltaType, Delta: &content.Delta{Text: "<b>&"}}, "s")
		if err != nil || !strings.Contains(string(frame), `"text":"<b>&"`) {
			t.Errorf("got %s, %v", frame, err)
		}
	})
	t.Run("sends a message of the maximum size", func(t *testing.T) {
		frame, err := watch.Frame(large(watch.MaxMessage-400), "s")
		if err != nil || len(frame) < watch.MaxMessage-400 || len(frame) > watch.MaxMessage {
			t.Errorf("%d bytes, %v", len(frame), err)
		}
	})
	t.Run("leaves out the inputs of a queue that is too large", func(t *testing.T) {
		q := run.Queue{Version: 2, Starts: []run.Queued{{RunID: "r2", Agent: "a", Time: 7, Input: []session.Event{*large(watch.MaxMessage).Item}}}}
		frame, err := watch.Frame(watch.QueueOf(q, watch.Cursor{Epoch: 1, Seq: 5}), "s")
		if err != nil {
			t.Fatal(err)
		}
		want := `{"type":"thread.queue","session_id":"s","cursor":"1.5.0","prev":"1.5.0","queue_version":2,` +
			`"queued":[{"run_id":"r2","agent":"a","queued_time":7}],"truncated":true}`
		if diff := cmp.Diff(want, string(frame)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("says that a queue is empty", func(t *testing.T) {
		frame, err := watch.Frame(watch.QueueOf(run.Queue{Version: 2}, watch.Cursor{}), "s")
		if err != nil || !strings.Contains(string(frame), `"queue_version":2,"queued":[]}`) {
			t.Errorf("got %s, %v", frame, err)
		}
	})
	t.Run("turns a message that is too large into a reload with the same cursor", func(t *testing.T) {
		frame, err := watch.Frame(large(watch.MaxMessage), "s")
		if err != nil {
			t.Fatal(err)
		}
		want := `{"type":"thread.reload","session_id":"s","cursor":"1.5.3","prev":"1.5.3","reason":"item_too_large"}`
		if diff := cmp.Diff(want, string(frame)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
