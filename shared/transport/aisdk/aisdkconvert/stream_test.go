package aisdkconvert_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/aisdk/aisdkconvert"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

func history(events ...session.Event) conversation.History {
	return conversation.History{Events: events}
}

// update is Stream.Update of a stream that has the whole history.
func update(t failer, s *aisdkconvert.Stream, events []session.Event) []aisdkconvert.Chunk {
	t.Helper()
	chunks, err := s.Update(events)
	if err != nil {
		t.Fatalf("a stream with the whole history gives %v", err)
	}
	return chunks
}

// finish is Stream.Finish of a run that is completed.
func finish(t failer, s *aisdkconvert.Stream) []aisdkconvert.Chunk {
	t.Helper()
	chunks, err := s.Finish(run.Run{Status: run.Completed})
	if err != nil {
		t.Fatalf("a run that is over gives %v", err)
	}
	return chunks
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func event(id, invocation, author, parts string) session.Event {
	return session.Event{ID: id, InvocationID: invocation, Author: author, Fields: map[string]json.RawMessage{
		"content": json.RawMessage(`{"role":"x","parts":[` + parts + `]}`),
	}}
}

// drawnPart draws a part of an agent's event; name makes ids of calls unique.
func drawnPart(t *rapid.T, name string) string {
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return fmt.Sprintf(`{"text":%q,"thought":true}`, rapid.StringMatching(`[a-z ]{0,8}`).Draw(t, "thought"))
	case 1:
		return fmt.Sprintf(`{"function_call":{"id":%q,"name":"look","args":{"q":%q}}}`, "c-"+name, rapid.StringMatching(`[a-z]{0,6}`).Draw(t, "q"))
	case 2:
		return fmt.Sprintf(`{"function_response":{"id":%q,"name":"look","response":{"result":"found"}}}`, "c-"+rapid.SampledFrom([]string{name, "o0-0", "o1-0"}).Draw(t, "of"))
	case 3:
		return `{"inline_data":{"mime_type":"image/png","data":"aGk="}}`
	}
	return fmt.Sprintf(`{"text":%q}`, rapid.StringMatching(`[a-z ]{0,8}`).Draw(t, "text"))
}

// drawnRun draws the complete events of a run.
func drawnRun(t *rapid.T) [][]string {
	events := make([][]string, rapid.IntRange(0, 4).Draw(t, "events"))
	for i := range events {
		for j := range rapid.IntRange(1, 4).Draw(t, "parts") {
			events[i] = append(events[i], drawnPart(t, fmt.Sprintf("o%d-%d", i, j)))
		}
	}
	return events
}

func joined(parts []string) string {
	out := ""
	for i, p := range parts {
		if i > 0 {
			out += ","
		}
		out += p
	}
	return out
}

// growing returns an event in progress: only its first parts, the last of which may be
// an unfinished or another text.
func growing(t *rapid.T, id string, parts []string, n int) session.Event {
	shown := append([]string{}, parts[:n]...)
	if n > 0 {
		var p struct {
			Text    *string
			Thought bool
			Call    *struct{ ID, Name string } `json:"function_call"`
		}
		if json.Unmarshal([]byte(parts[n-1]), &p) != nil {
			t.Fatal("a part is broken")
		}
		switch {
		case p.Text != nil:
			text := (*p.Text)[:rapid.IntRange(0, len(*p.Text)).Draw(t, "length")]
			if rapid.IntRange(0, 9).Draw(t, "other") == 0 {
				text = "other text"
			}
			shown[n-1] = fmt.Sprintf(`{"text":%q,"thought":%v}`, text, p.Thought)
		case p.Call != nil:
			shown[n-1] = fmt.Sprintf(`{"function_call":{"id":%q,"name":%q,"args_text":"{ \"q\""}}`, p.Call.ID, p.Call.Name)
		}
	}
	e := event(id, "r1", "helper", joined(shown))
	e.Status = session.EventInProgress
	return e
}

func shown(t *rapid.T, m any) any {
	raw, err := json.Marshal(m)
	var out any
	if err != nil || json.Unmarshal(raw, &out) != nil {
		t.Fatal("a message cannot be encoded")
	}
	return out
}

// mustFollow checks the rules of the protocol: what grows or ends was begun, and ids
// of texts in progress are unique.
func mustFollow(t *rapid.T, chunks []aisdkconvert.Chunk) {
	open, calls, steps := map[any]bool{}, map[any]bool{}, 0
	for i, c := range chunks {
		ok := true
		switch c.Type() {
		case "start":
			ok = i == 0
		case "start-step":
			steps++
			ok = steps == 1
		case "finish-step":
			steps--
			ok = steps == 0
		case "reset-step":
			open = map[any]bool{}
			ok = steps == 1
		case "text-start", "reasoning-start":
			ok = !open[c["id"]] && steps == 1
			open[c["id"]] = true
		case "text-delta", "reasoning-delta":
			ok = open[c["id"]] && c["delta"] != ""
		case "text-end", "reasoning-end":
			ok = open[c["id"]]
			delete(open, c["id"])
		case "tool-input-start":
			ok = steps == 1
			calls[c["toolCallId"]] = true
		case "tool-input-delta", "tool-input-available", "tool-input-error", "tool-output-available", "tool-output-error":
			ok = calls[c["toolCallId"]]
		case "finish", "abort", "error":
			ok = i == len(chunks)-1 && steps == 0 && len(open) == 0
		}
		if !ok {
			t.Fatalf("chunk %d, %v, breaks a rule in %v", i, c, chunks)
		}
	}
}

func TestStreamEndsWithTheMessageOfAReload(t *testing.T) {
	t.Parallel()
	property.CheckN(t, 2000, func(t *rapid.T) {
		input := event("u1", "r1", "user", `{"text":"hello"}`)
		drawn := drawnRun(t)
		stream, chunks, err := aisdkconvert.NewStream(aisdkconvert.Start{SessionID: "s", RunID: "r1", Before: history(input)})
		if err != nil {
			t.Fatal(err)
		}
		done := []session.Event{}
		for i, parts := range drawn {
			id := fmt.Sprintf("o%d", i)
			arrived := 0
			for range rapid.IntRange(0, 3).Draw(t, "updates") {
				arrived = rapid.IntRange(arrived, len(parts)).Draw(t, "arrived")
				chunks = append(chunks, update(t, stream, append(done[:len(done):len(done)], growing(t, id, parts, arrived)))...)
			}
			done = append(done, event(id, "r1", "helper", joined(parts)))
		}
		chunks = append(chunks, update(t, stream, done)...)
		chunks = append(chunks, finish(t, stream)...)
		mustFollow(t, chunks)

		var built aisdkconvert.Message
		for _, c := range chunks {
			built.Apply(c)
		}
		messages := aisdkconvert.Messages(append([]session.Event{input}, done...), "")
		if len(done) == 0 {
			if len(messages) != 1 {
				t.Fatalf("a run without output shows %v", messages)
			}
			return
		}
		if diff := cmp.Diff(shown(t, messages[1]), shown(t, built)); diff != "" {
			t.Fatalf("the stream differs from the reload (-reload +stream):\n%s\n%v", diff, chunks)
		}
	})
}

func TestAnswersToCallsContinueTheMessage(t *testing.T) {
	t.Parallel()
	ask := event("o1", "r1", "helper", `{"function_call":{"id":"c1","name":"confirm","args":{}}}`)
	ask.Fields["long_running_tool_ids"] = json.RawMessage(`["c1"]`)
	before := []session.Event{
		event("u1", "r1", "user", `{"text":"ask"}`), ask,
		event("u2", "r2", "user", `{"function_response":{"id":"c1","name":"confirm","response":{"result":"yes"}}}`),
	}
	last := event("o2", "r2", "helper", `{"text":"Done."}`)
	want := aisdkconvert.Messages(append(before, last), "")[1]
	if want.ID != "r1" {
		t.Errorf("the message has the id %s, want that of the run that asked", want.ID)
	}
	for _, replay := range []bool{false, true} {
		built := aisdkconvert.Message{ID: "r1", Role: "assistant"}
		if !replay { // the front end has the message
			built = aisdkconvert.Messages(before, "")[1]
		}
		stream, chunks, err := aisdkconvert.NewStream(aisdkconvert.Start{SessionID: "s", RunID: "r2", Before: history(before...), Replay: replay})
		if err != nil {
			t.Fatal(err)
		}
		chunks = append(chunks, update(t, stream, []session.Event{last})...)
		chunks = append(chunks, finish(t, stream)...)
		for _, c := range chunks {
			built.Apply(c)
		}
		if diff := cmp.Diff(want, built); diff != "" {
			t.Errorf("replay %v: (-reload +stream):\n%s", replay, diff)
		}
		if end := chunks[len(chunks)-1]; end["finishReason"] != "stop" {
			t.Errorf("got the end %v", end)
		}
	}
}
