package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// told is an event as an agent reads it.
func told(invocation, author, parts string) session.Event {
	return session.Event{
		InvocationID: invocation, Author: author, Status: session.EventCompleted,
		Fields: map[string]json.RawMessage{"content": json.RawMessage(fmt.Sprintf(`{"parts":[%s]}`, parts))},
	}
}

// endedBy is an event with which a run ended that was kept.
func endedBy(e session.Event, code string) session.Event {
	e.Status = session.EventFailed
	return e.With("error", json.RawMessage(`{"code":"`+code+`","message":"m"}`))
}

func TestWithInterruptions(t *testing.T) {
	t.Parallel()
	const (
		text   = `{"text":"x"}`
		calls  = `{"function_call":{"id":"a","name":"f"}},{"function_call":{"id":"b","name":"g"}},{"function_call":{"name":"h"}}`
		result = `,"response":{"error":"the call was interrupted: it may or may not have been carried out, and its result is unknown"}}`
		failed = `{"text":"[The answer was interrupted here: it failed.]"}`
		cancel = `{"text":"[The answer was interrupted here: it was cancelled.]"}`
	)
	answers := `{"function_response":{"id":"a","name":"f","response":{}}}`
	long := told("one", "bot", calls).With("long_running_tool_ids", json.RawMessage(`["b"]`))
	for name, c := range map[string]struct {
		events []session.Event
		want   []string // what is added: position, invocation, author, parts
	}{
		"nothing of runs that ended well": {[]session.Event{told("one", "user", text), told("one", "bot", calls)}, nil},
		"a note after what failed":        {[]session.Event{told("one", "user", text), endedBy(told("one", "bot", text), "boom"), told("two", "user", text)}, []string{"2 one user " + failed}},
		"a note after what was cancelled": {[]session.Event{endedBy(told("one", "bot", text), "cancelled"), told("two", "user", text)}, []string{"1 one user " + cancel}},
		"a note for each":                 {[]session.Event{endedBy(told("one", "bot", ""), "boom"), endedBy(told("two", "bot", ""), "cancelled")}, []string{"1 one user " + failed, "3 two user " + cancel}},
		"nothing for a run that went on":  {[]session.Event{endedBy(told("one", "bot", text), "interrupted"), told("one", "bot", text)}, nil},
		"results of open calls": {
			[]session.Event{told("zero", "bot", calls), told("one", "bot", calls), told("one", "bot", answers), endedBy(told("one", "bot", text), "boom")},
			[]string{`2 one bot {"function_response":{"id":"b","name":"g"` + result + `},{"function_response":{"name":"h"` + result + `}`, "5 one user " + failed},
		},
		"no results of calls that may be answered or were": {
			[]session.Event{long, endedBy(told("one", "bot", ""), "cancelled"), told("two", "user", answers+`,{"function_response":{"name":"h","response":{}}}`)},
			[]string{"2 one user " + cancel},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, added := run.WithInterruptions(c.events), []string(nil)
			rest := []session.Event{}
			for i, e := range got {
				if string(e.Fields["type"]) != `"interrupted"` {
					rest = append(rest, e)
					continue
				}
				var content struct {
					Role  string
					Parts json.RawMessage
				}
				if err := json.Unmarshal(e.Fields["content"], &content); err != nil || content.Role != "user" || e.ID == "" {
					t.Errorf("added %s", e.Own())
				}
				parts := string(content.Parts)
				added = append(added, fmt.Sprint(i, " ", e.InvocationID, " ", e.Author, " ", parts[1:len(parts)-1]))
			}
			if diff := cmp.Diff(c.want, added); diff != "" {
				t.Errorf("added (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.events, rest); diff != "" {
				t.Errorf("the history (-want +got):\n%s", diff)
			}
		})
	}
}

// An agent of any kind is given the history with its interruptions.
func TestExecute_tells_of_interruptions(t *testing.T) {
	r := newRecorder()
	var got run.Request
	w := newWorker(r, func(_ context.Context, req run.Request, _ func(run.Output) error) error {
		got = req
		return nil
	})
	w.Sessions = &history{events: []session.Event{endedBy(told("before", "bot", ""), "boom"), told("r", "user", "")}}
	mustExecute(t, w)
	if len(got.Events) != 3 || string(got.Events[1].Fields["type"]) != `"interrupted"` {
		t.Errorf("the agent was given %v", got.Events)
	}
}
