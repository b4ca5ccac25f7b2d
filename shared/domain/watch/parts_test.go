package watch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

// An item in progress of any size is split into messages that fit and reproduce its
// content: the snapshot first, then only deltas, each beginning where the previous
// one ended.
func TestInParts(t *testing.T) {
	large := 0
	property.Check(t, func(t *rapid.T) {
		deltas := drawDeltas(t)
		whole, err := content.ResumeDraft(json.RawMessage(mustSnapshot(t, deltas)))
		if err != nil {
			t.Fatal(err)
		}
		e := session.Event{
			ID: "e7", Seq: 7, Status: session.EventInProgress, Deltas: int64(len(deltas)),
			Fields: map[string]json.RawMessage{"content": whole.Snapshot(), "extra": json.RawMessage(`"kept"`)},
		}
		if !watch.SnapshotOf(1, e).Fits() {
			large++
		}
		messages, err := watch.InParts(watch.SnapshotOf(1, e), "model", deltas)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(fold(t, messages).Snapshot()); got != string(whole.Snapshot()) {
			t.Fatalf("it is made into %d bytes, want %d", len(got), len(whole.Snapshot()))
		}
		from := rapid.Int64Range(1, int64(len(deltas))).Draw(t, "from")
		m := watch.SnapshotOf(1, e)
		m.Prev = watch.Cursor{Epoch: 1, Seq: 7, Offset: from}
		for _, rest := range watch.InDeltas(m, deltas) {
			if frame := mustFrame(t, rest); rest.Prev != m.Prev || !strings.HasPrefix(frame, `{"type":"item.delta"`) {
				t.Fatalf("after %s comes %.100s", m.Prev, frame)
			}
			m.Prev = rest.Cursor
		}
		if m.Prev.Offset != int64(len(deltas)) {
			t.Fatalf("it ends at %s of %d", m.Prev, len(deltas))
		}
	})
	if t.Logf("%d items did not fit a message", large); large < 20 {
		t.Error("too few")
	}
}

func drawDeltas(t *rapid.T) []content.Delta {
	letter := rapid.SampledFrom([]string{"x", "é", "\x01", `"`})
	var out []content.Delta
	part := 0
	for range rapid.IntRange(1, 60).Draw(t, "deltas") {
		d := content.Delta{Part: part, Text: strings.Repeat(letter.Draw(t, "letter"), rapid.SampledFrom([]int{0, 1, 100, 15_000, 19_000}).Draw(t, "length"))}
		if rapid.IntRange(0, 9).Draw(t, "next part") == 0 && len(out) > 0 {
			part++
			d = content.Delta{Part: part, Call: &content.CallDelta{ID: "c", Name: "search", ArgsText: d.Text}}
			out = append(out, d)
			part++
			d = content.Delta{Part: part, Thought: true}
		}
		if len(out) > 0 && out[len(out)-1].Part == d.Part {
			d.Thought = out[len(out)-1].Thought
		}
		out = append(out, d)
	}
	return out
}

func mustFrame(t *rapid.T, m watch.Message) string {
	frame, err := watch.Frame(m, "s")
	if err != nil || len(frame) > watch.MaxMessage {
		t.Fatalf("a frame of %d bytes: %v", len(frame), err)
	}
	return string(frame)
}

// fold applies messages about one item.
func fold(t *rapid.T, messages []watch.Message) *content.Draft {
	first := messages[0]
	draft, err := content.ResumeDraft(first.Item.Fields["content"])
	if err != nil || !strings.HasPrefix(mustFrame(t, first), `{"type":"item.snapshot"`) {
		t.Fatalf("it begins with %.100s: %v", mustFrame(t, first), err)
	}
	at, until := first.Cursor, *first.Offset
	if first.Until != nil {
		until = *first.Until
	}
	for _, m := range messages[1:] {
		if frame := mustFrame(t, m); m.Prev != at || !strings.HasPrefix(frame, `{"type":"item.delta"`) {
			t.Fatalf("after %s comes %.100s", at, frame)
		}
		if err := draft.Append(*m.Delta, ""); err != nil {
			t.Fatal(err)
		}
		at = m.Cursor
	}
	if at.Offset != until {
		t.Fatalf("it ends at %s, not at %d", at, until)
	}
	return draft
}
