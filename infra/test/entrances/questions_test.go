package entrances_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
	"github.com/rethread/rethread/shared/transport/agui/aguiconvert"
	"github.com/rethread/rethread/shared/transport/aisdk/aisdkconvert"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Each protocol shows the same calls of a completed run as questions to the person, also if
// workers of the run were lost.
func TestQuestions(t *testing.T) {
	t.Parallel()
	const words, askC, askD, answerC = `{"text":"done"}`, `{"function_call":{"id":"c","name":"f","args":{}}}`,
		`{"function_call":{"id":"d","name":"f","args":{}}}`, `{"function_response":{"id":"c","name":"f","response":{}}}`
	long := output(0, askC)
	long.Fields["long_running_tool_ids"] = json.RawMessage(`["c"]`)
	partial, mark := output(0, askC), output(0)
	partial.Status, mark.Status = session.EventFailed, session.EventFailed
	for name, c := range map[string]struct {
		events []session.Event
		want   []string
	}{
		"a call without a response":                          {[]session.Event{output(0, askC)}, []string{"c"}},
		"a call with a response":                             {[]session.Event{output(0, askC), output(0, answerC)}, nil},
		"said something after a call":                        {[]session.Event{output(0, askC), output(0, words)}, []string{"c"}},
		"interrupted in a call":                              {[]session.Event{partial}, nil},
		"interrupted in a call, and went on":                 {[]session.Event{partial, output(1, words)}, nil},
		"interrupted after a call, in an item":               {[]session.Event{output(0, askC), mark, output(1, words)}, nil},
		"interrupted after a call, and went on":              {[]session.Event{output(0, askC), output(1, words)}, nil},
		"interrupted after a call, and called again":         {[]session.Event{output(0, askC), output(1, askD)}, []string{"d"}},
		"interrupted after a call, and responded to it":      {[]session.Event{output(0, askC), output(1, answerC), output(1, words)}, nil},
		"interrupted after calls, and responded to one":      {[]session.Event{output(0, askC, askD), output(1, answerC)}, []string{"d"}},
		"interrupted after a call that is long-running":      {[]session.Event{long, output(1, words)}, []string{"c"}},
		"interrupted at the end of the run":                  {[]session.Event{output(0, askC)}, []string{"c"}},
		"interrupted before a call, and said something more": {[]session.Event{output(0, words), output(1, askC), output(1, words)}, []string{"c"}},
		"interrupted twice":                                  {[]session.Event{output(0, askC), output(1, askD), output(2, words)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range c.events {
				c.events[i].ID, c.events[i].Seq = fmt.Sprint("e", i), int64(i+1)
			}
			for edge, asks := range edges() {
				if diff := cmp.Diff(c.want, asks(t, c.events)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", edge, diff)
				}
			}
		})
	}
}

// output is an event of the run r, by the worker after that many others.
func output(lost int, parts ...string) session.Event {
	return session.Event{
		InvocationID: "r", Author: "helper", Status: session.EventCompleted,
		Fields: map[string]json.RawMessage{"content": json.RawMessage(`{"role":"model","parts":[` + strings.Join(parts, ",") + `]}`)},
	}.Continued(lost)
}

// edges returns how each protocol tells which calls of a completed run are questions.
func edges() map[string]func(*testing.T, []session.Event) []string {
	completed := run.Run{ID: "r", SessionID: "s", Status: run.Completed}
	return map[string]func(*testing.T, []session.Event) []string{
		"A2A": func(_ *testing.T, events []session.Event) (ids []string) {
			status := a2aconvert.Status("t", completed, events).Message
			if status == nil {
				return nil
			}
			for _, p := range status.Parts {
				if call, ok := p.Data().(map[string]any); ok && p.Metadata["adk_is_long_running"] == true {
					ids = append(ids, fmt.Sprint(call["id"]))
				}
			}
			return ids
		},
		"AG-UI": func(_ *testing.T, events []session.Event) (ids []string) {
			outcome, _ := aguiconvert.Outcome(conversation.NewThread(events), completed)["outcome"].(map[string]any)
			interrupts, _ := outcome["interrupts"].([]map[string]any)
			for _, one := range interrupts {
				ids = append(ids, fmt.Sprint(one["id"]))
			}
			return ids
		},
		"AI SDK, streamed": func(t *testing.T, events []session.Event) []string {
			t.Helper()
			s, chunks, err := aisdkconvert.NewStream(aisdkconvert.Start{SessionID: "s", RunID: "r"})
			if err != nil {
				t.Fatal(err)
			}
			more, err := s.Update(events)
			if err != nil {
				t.Fatal(err)
			}
			last, err := s.Finish(completed)
			if err != nil {
				t.Fatal(err)
			}
			var m aisdkconvert.Message
			for _, c := range slices.Concat(chunks, more, last) {
				m.Apply(c)
			}
			return asked(m)
		},
		"AI SDK, loaded": func(_ *testing.T, events []session.Event) (ids []string) {
			for _, m := range aisdkconvert.Messages(events, "") {
				ids = append(ids, asked(m)...)
			}
			return ids
		},
	}
}

// asked returns the calls of a message that useChat takes for unanswered.
func asked(m aisdkconvert.Message) (ids []string) {
	for _, p := range m.Parts {
		if p["type"] == "dynamic-tool" && p["state"] == "input-available" && p["providerExecuted"] == nil {
			ids = append(ids, fmt.Sprint(p["toolCallId"]))
		}
	}
	return ids
}
