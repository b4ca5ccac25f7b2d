package aguiconvert_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/agui/aguiconvert"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// history draws the events of a session: runs of inputs, answers with thoughts, texts
// and calls, results and state.
func history(t *rapid.T, runs int) []session.Event {
	var out []session.Event
	for r := range runs {
		id := "r" + strconv.Itoa(r)
		out = append(out, event(id, len(out), "user", map[string]any{"role": "user", "parts": []any{map[string]any{"text": "hi"}}}))
		for range rapid.IntRange(0, 4).Draw(t, "events") {
			e := event(id, len(out), "helper", map[string]any{"role": "model", "parts": drawParts(t, len(out))})
			if rapid.Bool().Draw(t, "state") {
				e.StateDelta = session.Delta{rapid.SampledFrom([]string{"a", "b/c", "user:d"}).Draw(t, "key"): json.RawMessage(
					rapid.SampledFrom([]string{"1", "2", "null", `{"x":[1]}`}).Draw(t, "value"))}
			}
			if rapid.Bool().Draw(t, "activity") {
				e.Fields["ag_ui"] = json.RawMessage(`{"agent":"helper","activities":[{"message_id":"plan","activity_type":"PLAN","content":{"n":` +
					strconv.Itoa(len(out)) + `}}],"custom":[{"name":"c","value":null}]}`)
			}
			out = append(out, e)
		}
	}
	return out
}

// drawParts draws the parts of event n. Its calls have ids that are unique, or none, or
// short ones that may be another call's.
func drawParts(t *rapid.T, n int) []any {
	parts := []any{}
	for i := range rapid.IntRange(0, 4).Draw(t, "parts") {
		unique, answered := fmt.Sprintf("call-0123456789-%d-%d", n, i), fmt.Sprintf("call-0123456789-%d-0", rapid.IntRange(0, n).Draw(t, "of"))
		words := rapid.SampledFrom([]string{"", "one", "two three"}).Draw(t, "words")
		kind := rapid.SampledFrom([]string{"text", "thought", "call", "response", "file"}).Draw(t, "kind")
		if kind == "response" {
			unique = answered
		}
		id := rapid.SampledFrom([]string{"", "c1", unique, unique, unique, unique}).Draw(t, "id")
		name := rapid.SampledFrom([]string{"search", "ask", "ag_ui_interrupt"}).Draw(t, "name")
		switch kind {
		case "text":
			parts = append(parts, map[string]any{"text": words})
		case "thought":
			parts = append(parts, map[string]any{"text": words, "thought": true})
		case "call":
			parts = append(parts, map[string]any{"function_call": map[string]any{"id": id, "name": name, "args": map[string]any{"q": words}}})
		case "response":
			parts = append(parts, map[string]any{"function_response": map[string]any{"id": id, "name": name, "response": map[string]any{"result": words}}})
		case "file":
			parts = append(parts, map[string]any{"file_data": map[string]any{"file_uri": "https://example.com/a.png", "mime_type": "image/png"}})
		}
	}
	return parts
}

func event(run string, n int, author string, content any) session.Event {
	raw, err := jsonx.Marshal(content)
	if err != nil {
		panic(err)
	}
	return session.Event{
		ID: fmt.Sprintf("e%d", n), Seq: int64(n + 1), SessionID: "s", InvocationID: run, Author: author,
		Status: session.EventCompleted, Fields: map[string]json.RawMessage{"content": raw},
	}
}

// growing returns the steps in which an event of an agent is streamed: its parts so
// far, the last of them cut, and finally the event. Parts that do not grow come whole.
func growing(t *rapid.T, e session.Event) []session.Event {
	var c struct {
		Role  string           `json:"role"`
		Parts []map[string]any `json:"parts"`
	}
	if err := json.Unmarshal(e.Fields["content"], &c); err != nil {
		t.Fatal(err)
	}
	steps := []session.Event{}
	for i := range c.Parts {
		for range rapid.IntRange(0, 2).Draw(t, "steps") {
			parts := []any{}
			for _, p := range c.Parts[:i] {
				parts = append(parts, inProgress(p, 1000))
			}
			parts = append(parts, inProgress(c.Parts[i], len(steps)%4))
			one := e
			one.Status, one.StateDelta = session.EventInProgress, nil
			raw, err := jsonx.Marshal(map[string]any{"role": c.Role, "parts": parts})
			if err != nil {
				t.Fatal(err)
			}
			one.Fields = map[string]json.RawMessage{"content": raw}
			steps = append(steps, one)
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "differs") == 0 && len(steps) > 0 { // the final message is another one
		e.Fields = maps.Clone(e.Fields)
		e.Fields["content"] = json.RawMessage(`{"role":"model","parts":[{"text":"instead"}]}`)
	}
	return append(steps, e)
}

// inProgress returns a part as it is while its event is streamed, its text cut.
func inProgress(p map[string]any, n int) any {
	out := maps.Clone(p)
	if text, ok := p["text"].(string); ok {
		out["text"] = text[:min(n, len(text))]
	}
	if c, ok := p["function_call"].(map[string]any); ok {
		raw, err := json.MarshalIndent(c["args"], "", " ") // another form than the final one
		if err != nil {
			panic(err)
		}
		text := string(raw)
		out["function_call"] = map[string]any{"id": c["id"], "name": c["name"], "args_text": text[:min(n, len(text))]}
	}
	return out
}

// Whatever a run consists of, and in whatever pieces it comes, its stream is valid and
// gives the messages and the state that the session has afterwards, even if it has only
// the newest of the events before the run until it asks for all.
func TestStream_property(t *testing.T) {
	t.Parallel()
	var partial, older int
	property.CheckN(t, 2000, func(t *rapid.T) {
		events := history(t, rapid.IntRange(1, 3).Draw(t, "runs"))
		last := events[len(events)-1].InvocationID
		before, own := outputOf(events, last)
		state := session.Values{"a": json.RawMessage("0")}
		for _, e := range before {
			state.Apply(e.StateDelta.In(session.ScopeSession))
		}
		mustEndAlike(t, events)
		r := newReader()
		front := conversation.NewState(state, false)
		newest := conversation.History{Events: before}
		if rapid.Bool().Draw(t, "partial") {
			newest = conversation.Newest(before[rapid.IntRange(0, len(before)-1).Draw(t, "from"):], true)
		}
		s := aguiconvert.NewStream(newest, nil, front)
		fail := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		fail(r.read([]aguiconvert.Event{
			aguiconvert.RunStarted("s", last), aguiconvert.MessagesSnapshot(aguiconvert.Messages(conversation.NewThread(before))), aguiconvert.StateSnapshot(front),
		}))
		known := []session.Event{}
		for _, e := range own {
			known = append(known, e)
			if e.Author == "user" {
				continue
			}
			for _, step := range growing(t, e) {
				known[len(known)-1] = step
				if rapid.Bool().Draw(t, "seen") || step.Status != session.EventInProgress {
					sent, err := s.Update(slices.Clone(known))
					if errors.Is(err, conversation.ErrOlder) {
						older++
						newest.Partial = false
						s.Before(conversation.History{Events: before})
						sent, err = s.Update(slices.Clone(known))
					}
					fail(err)
					fail(r.read(sent))
				}
			}
		}
		if diff := r.same(aguiconvert.Messages(conversation.NewThread(slices.Concat(before, outputs(known))))); diff != "" {
			t.Fatal(diff)
		}
		if newest.Partial {
			partial++
		}
		over := run.Run{ID: last, SessionID: "s", Status: run.Completed}
		end, err := s.Finish(over)
		if errors.Is(err, conversation.ErrOlder) {
			older++
			newest.Partial = false
			s.Before(conversation.History{Events: before})
			end, err = s.Finish(over)
		}
		fail(err)
		fail(r.read(end))
		all := conversation.NewThread(slices.Concat(before, outputs(known)))
		if diff := cmp.Diff(aguiconvert.Finished(all, "s", last, true), end[len(end)-1]); diff != "" && newest.Partial {
			t.Fatalf("with the newest events the run ends otherwise: %s", diff)
		}
		for _, e := range known {
			for key, value := range e.StateDelta {
				state.Apply(session.Delta{key: value})
			}
		}
		if got, want := string(r.state), mustJSON(t, state); got != want {
			t.Fatalf("the state is %s, want %s", got, want)
		}
	})
	t.Logf("%d streams with the newest events only, %d that asked for all", partial, older)
	if partial < 100 || older < 100 {
		t.Errorf("%d streams with the newest events only and %d that asked for all are too few", partial, older)
	}
}

// mustEndAlike checks the answer to a request without anything new, of which the newest
// events may be enough.
func mustEndAlike(t *rapid.T, events []session.Event) {
	want := aguiconvert.Finished(conversation.NewThread(events), "s", "new", true)
	for from := 1; from < len(events); from++ {
		newest := conversation.Newest(events[from:], true).Thread()
		if diff := cmp.Diff(want, aguiconvert.Finished(newest, "s", "new", true)); diff != "" && newest.Ended() {
			t.Fatalf("the session ends otherwise from event %d on: %s", from, diff)
		}
	}
}

// outputOf returns the events before the output of a run, its input included, and the
// run's events.
func outputOf(events []session.Event, run string) (before, own []session.Event) {
	for _, e := range events {
		if e.InvocationID == run {
			own = append(own, e)
		}
		if e.InvocationID != run || e.Author == "user" {
			before = append(before, e)
		}
	}
	return before, own
}

func outputs(events []session.Event) []session.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e session.Event) bool { return e.Author == "user" })
}

func mustJSON(t *rapid.T, v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
