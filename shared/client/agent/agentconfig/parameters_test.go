package agentconfig_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObeys(t *testing.T) {
	agents := mustParse(t, `{
		"chat":{"type":"chat_completions","url":"http://h","model":"m"},
		"fixed":{"type":"chat_completions","url":"http://h","model":"m","parameters":{"max_tokens":5,"temperature":0,"reasoning_effort":"low"}},
		"responses":{"type":"responses","url":"http://h","model":"m","parameters":{"reasoning":{"effort":"low"},"text":{}}},
		"odd":{"type":"responses","url":"http://h","model":"m","parameters":{"text":5,"reasoning":null}},
		"ag_ui":{"type":"ag_ui","url":"http://h"},
		"a2a":{"type":"a2a","url":"http://h"},
		"adk":{"type":"adk","url":"http://h","app":"a"},
		"http":{"type":"http","url":"http://h"},
		"reading":{"type":"http","url":"http://h","reads":["tools","text.format"]}}`)
	chat := []string{
		"frequency_penalty", "instructions", "max_output_tokens", "parallel_tool_calls", "presence_penalty", "reasoning.effort",
		"temperature", "text.format", "text.verbosity", "tool_choice", "tools", "top_p",
	}
	responses := slices.Sorted(slices.Values(append([]string{"reasoning.summary", "truncation"}, chat...)))
	without := func(all []string, names ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(names, name) })
	}
	for agent, want := range map[string][]string{
		"chat":      chat,
		"fixed":     without(chat, "max_output_tokens", "temperature", "reasoning.effort"),
		"responses": without(responses, "reasoning.effort"),
		"odd":       without(responses, "text.format", "text.verbosity"),
		"ag_ui":     {"tools"},
		"a2a":       nil, "adk": nil, "http": nil, "unknown": nil,
		"reading": {"text.format", "tools"},
	} {
		t.Run(agent, func(t *testing.T) {
			got := slices.Sorted(maps.Keys(agents.Obeys(agent)))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestClientTools(t *testing.T) {
	const tool = `{"name":"pick","description":"d"}`
	agents := mustParse(t, `{
		"chat":{"type":"chat_completions","url":"http://h","model":"m","tools":[{"type":"function","function":{"name":"f"}},{"type":"function"}]},
		"responses":{"type":"responses","url":"http://h","model":"m","tools":[{"type":"function","name":"f"},{"type":"web_search"}]},
		"ag_ui":{"type":"ag_ui","url":"http://h","tools":[`+tool+`]},
		"http":{"type":"http","url":"http://h"}}`)
	for agent, want := range map[string][]string{
		"chat": {"f"}, "responses": {"f"}, "ag_ui": {"pick"}, "http": nil, "unknown": nil,
	} {
		if diff := cmp.Diff(want, agents.ClientTools(agent)); diff != "" {
			t.Errorf("agent %s (-want +got):\n%s", agent, diff)
		}
	}
}
