package responsesconvert_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// minCases is how many cuts of streams the property has to try.
const minCases = 200

type object = map[string]any

// script is a run: its events as they are at each moment.
type script [][]session.Event

// drawScript draws a run whose events grow piece by piece.
func drawScript(t *rapid.T) script {
	input := session.Event{Seq: 1, ID: "i", InvocationID: "r", Author: "user", Fields: map[string]json.RawMessage{
		"content":          json.RawMessage(`{"role":"user","parts":[{"text":"Hi"}]}`),
		run.FrontEndMember: json.RawMessage(`{"tools":[{"name":"theirs"}]}`),
	}}
	events := []session.Event{input}
	out := script{slices.Clone(events)}
	for seq := range int64(rapid.IntRange(0, 3).Draw(t, "events")) {
		parts := rapid.SliceOfN(rapid.Custom(drawPart), 0, 3).Draw(t, "parts")
		e := session.Event{Seq: seq + 2, ID: fmt.Sprint("e_", seq), InvocationID: "r", Author: "helper", Status: session.EventInProgress}
		events = append(events, e)
		for n := range parts {
			for _, so := range parts[n].grows {
				events[len(events)-1].Fields = fields(append(texts(parts[:n]), so))
				out = append(out, slices.Clone(events))
			}
		}
		events[len(events)-1].Status = session.EventCompleted
		events[len(events)-1].Fields = fields(texts(parts))
		if slices.ContainsFunc(parts, func(p part) bool { return strings.Contains(p.whole, "theirs") }) {
			events[len(events)-1].Fields["long_running_tool_ids"] = json.RawMessage(`["theirs"]`)
		}
		out = append(out, slices.Clone(events))
	}
	return out
}

// part is a part of an event: as it is in the end, and as it was before.
type part struct {
	whole string
	grows []string
}

func drawPart(t *rapid.T) part {
	kind := rapid.SampledFrom([]string{"text", "thought", "theirs", "own", "file", "other"}).Draw(t, "kind")
	switch kind {
	case "text", "thought":
		pieces := rapid.SliceOfN(rapid.StringMatching(`[a-zé☃😀 ]{1,4}`), 0, 4).Draw(t, "text")
		var p part
		said := ""
		for _, piece := range append([]string{""}, pieces...) {
			said += piece
			p.whole = mustJSON(object{"text": said, "thought": kind == "thought"})
			p.grows = append(p.grows, p.whole)
		}
		return p
	case "theirs", "own":
		args := `{ "a": "x y\" z", "b": [1, 2] }`
		var p part
		for _, n := range []int{0, 5, 12, len(args)} {
			p.grows = append(p.grows, mustJSON(object{"function_call": object{"id": kind, "name": kind, "args_text": args[:n]}}))
		}
		p.whole = mustJSON(object{"function_call": object{"id": kind, "name": kind, "args": json.RawMessage(args)}})
		return p
	case "file":
		return part{whole: `{"inline_data":{"mime_type":"image/png","data":"AAAA"}}`}
	}
	return part{whole: `{"executable_code":{"code":"1"}}`}
}

func texts(parts []part) []string {
	var out []string
	for _, p := range parts {
		out = append(out, p.whole)
	}
	return out
}

func fields(parts []string) map[string]json.RawMessage {
	return map[string]json.RawMessage{"content": json.RawMessage(`{"role":"model","parts":[` + strings.Join(parts, ",") + `]}`)}
}

func mustJSON(v any) string {
	raw, err := jsonx.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func id() responsesconvert.ID { return responsesconvert.ID{SessionID: "s", RunID: "r"} }

// play streams a script from one of its moments on, after a sequence number.
func (s script) play(from int, after int64) []responsesconvert.Event {
	events := responsesconvert.NewStream(id(), after)
	r := run.Run{ID: "r", SessionID: "s", Agent: "helper", Status: run.InProgress}
	out := events.Begin(r, s[from])
	for _, own := range s[from:] {
		out = append(out, events.Update(own)...)
	}
	r.Status = run.Completed
	return append(out, events.Finish(r)...)
}

// joined returns a stream with the deltas that follow each other as one, and without
// sequence numbers of deltas but the last.
func joined(events []responsesconvert.Event) []responsesconvert.Event {
	var out []responsesconvert.Event
	for _, e := range events {
		e = maps.Clone(e)
		if n := len(out); n > 0 && e["delta"] != nil && e.Type() == out[n-1].Type() && e["item_id"] == out[n-1]["item_id"] {
			e["delta"] = out[n-1]["delta"].(string) + e["delta"].(string)
			out = out[:n-1]
		}
		out = append(out, e)
	}
	return out
}

// A stream that is cut anywhere, any number of times, and read on by another process,
// which sees a later moment of the run, gives what an uncut one does.
func TestStream_cut(t *testing.T) {
	t.Parallel()
	cases := 0
	property.Check(t, func(t *rapid.T) {
		s := drawScript(t)
		want := s.play(0, -1)
		last := int64(-1)
		for _, e := range want {
			if now := e["sequence_number"].(int64); now <= last {
				t.Fatalf("%v follows %d", e, last)
			} else {
				last = now
			}
		}
		final := want[len(want)-1]["response"].(object)
		mustBuild(t, want, final["output"].([]responsesconvert.Item))

		var got []responsesconvert.Event
		from, after := 0, int64(-1)
		for range rapid.IntRange(1, 4).Draw(t, "cuts") {
			cases++
			part := s.play(from, after)
			if len(part) == 0 {
				break
			}
			part = part[:rapid.IntRange(0, len(part)).Draw(t, "cut")]
			got = append(got, part...)
			if len(part) > 0 {
				after = part[len(part)-1]["sequence_number"].(int64)
			}
			from = rapid.IntRange(from, len(s)-1).Draw(t, "later")
		}
		got = append(got, s.play(from, after)...)
		if diff := cmp.Diff(joined(want), joined(got)); diff != "" {
			t.Fatalf("cut differs (-uncut +cut):\n%s", diff)
		}
	})
	t.Logf("%d streams", cases)
	if cases < minCases {
		t.Errorf("only %d streams", cases)
	}
}

// mustBuild checks that a reader who applies the events has the items of the response.
func mustBuild(t *rapid.T, events []responsesconvert.Event, want []responsesconvert.Item) {
	t.Helper()
	var items []responsesconvert.Item
	open := map[any]string{}
	for _, e := range events {
		switch kind := e.Type(); {
		case kind == "response.output_item.added":
			if e["output_index"] != len(items) {
				t.Fatalf("%v after %d items", e, len(items))
			}
			items = append(items, e["item"].(responsesconvert.Item))
		case kind == "response.output_item.done":
			items[e["output_index"].(int)] = e["item"].(responsesconvert.Item)
		case strings.HasSuffix(kind, ".delta"):
			open[e["item_id"]] += e["delta"].(string)
		case strings.HasSuffix(kind, "text.done"):
			if e["text"] != open[e["item_id"]] {
				t.Fatalf("%v after %q", e, open[e["item_id"]])
			}
		case kind == "response.function_call_arguments.done":
			if e["arguments"] != open[e["item_id"]] {
				t.Fatalf("%v after %q", e, open[e["item_id"]])
			}
		}
	}
	if diff := cmp.Diff(want, items, equateEmpty()); diff != "" {
		t.Fatalf("the items differ (-response +stream):\n%s", diff)
	}
}

func equateEmpty() cmp.Option {
	return cmp.FilterValues(func(a, b []responsesconvert.Item) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore())
}

// An agent's final message may differ from what was streamed: then the events that end
// its items repair what the reader has.
func TestStream_other_end(t *testing.T) {
	t.Parallel()
	streaming := []session.Event{{
		Seq: 2, ID: "e", InvocationID: "r", Author: "helper", Status: session.EventInProgress,
		Fields: fields([]string{`{"text":"thinking","thought":true}`, `{"text":"a long beginning"}`}),
	}}
	for name, parts := range map[string][]string{
		"another text":  {`{"text":"thinking","thought":true}`, `{"text":"short"}`},
		"another kind":  {`{"text":"short"}`, `{"function_call":{"id":"c","name":"own","args":{}}}`},
		"fewer parts":   {`{"text":"short"}`},
		"without parts": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := slices.Clone(streaming)
			ended[0].Status, ended[0].Fields = session.EventCompleted, fields(parts)
			events := script{streaming, ended}.play(0, -1)
			items := map[any]any{}
			for _, e := range events {
				if e.Type() == "response.output_item.done" {
					items[e["output_index"]] = e["item"]
				}
			}
			final := events[len(events)-1]["response"].(object)["output"].([]responsesconvert.Item)
			if len(final) != len(parts) || events[len(events)-1].Type() != "response.completed" {
				t.Errorf("the response has %v", final)
			}
			for i, item := range final {
				if i > 0 && cmp.Diff(item, items[i]) != "" {
					t.Errorf("item %d ends as %v, want %v", i, items[i], item)
				}
			}
			for i := 1; i < len(events); i++ {
				if events[i]["sequence_number"].(int64) <= events[i-1]["sequence_number"].(int64) {
					t.Errorf("%v follows %v", events[i], events[i-1])
				}
			}
		})
	}
}
