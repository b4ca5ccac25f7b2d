package run_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestUnansweredCalls(t *testing.T) {
	t.Parallel()
	calls := func(parts string) session.Event {
		return session.Event{Fields: map[string]json.RawMessage{"content": json.RawMessage(`{"parts":[` + parts + `]}`)}}
	}
	long := func(name, ids, parts string) session.Event { return calls(parts).With(name, json.RawMessage(ids)) }
	const (
		a, b     = `{"function_call":{"id":"a","name":"f"}}`, `{"function_call":{"id":"b","name":"f"}}`
		answersA = `{"function_response":{"id":"a","name":"f","response":{}}}`
	)
	for name, c := range map[string]struct {
		events []session.Event
		want   []string
	}{
		"none without events":            {nil, nil},
		"none in text":                   {[]session.Event{calls(`{"text":"hi"}`), {}, {Fields: map[string]json.RawMessage{"content": json.RawMessage(`7`)}}}, nil},
		"those without a response":       {[]session.Event{calls(a + "," + b), calls(answersA)}, []string{"b"}},
		"in order":                       {[]session.Event{calls(b), calls(a)}, []string{"b", "a"}},
		"one that is repeated later":     {[]session.Event{calls(a), calls(answersA), calls(a)}, []string{"a"}},
		"one whose arguments are cut":    {[]session.Event{calls(`{"function_call":{"id":"a","name":"f","args_text":"{\"q"}}`)}, []string{"a"}},
		"none that is long-running":      {[]session.Event{long("long_running_tool_ids", `["a"]`, a+","+b)}, []string{"b"}},
		"none that ADK for JS calls so":  {[]session.Event{long("longRunningToolIds", `["a"]`, a)}, nil},
		"none that cannot be named":      {[]session.Event{calls(`{"function_call":{"name":"f"}}`)}, nil},
		"all if a list is not of texts":  {[]session.Event{long("long_running_tool_ids", `[1]`, a)}, []string{"a"}},
		"a response before its own call": {[]session.Event{calls(answersA), calls(a)}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, run.UnansweredCalls(c.events), cmpEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// cmpEmpty makes an empty list equal to none.
func cmpEmpty() cmp.Option {
	return cmp.Transformer("length", func(ids []string) string { b, _ := json.Marshal(append([]string{}, ids...)); return string(b) })
}
