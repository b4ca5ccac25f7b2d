package agent

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// maxHistoryTurns and maxHistoryBytes are the largest bounds of a history.
const (
	maxHistoryTurns = 10_000
	maxHistoryBytes = 64 << 20
)

// history reads the bounds of the history in each request.
func (r *reader) history() run.HistoryLimit {
	var members map[string]json.RawMessage
	r.take("history", &members, "an object with turns, bytes or both")
	var limit run.HistoryLimit
	for _, name := range slices.Sorted(maps.Keys(members)) {
		at := "history/" + jsonx.EscapePointer(name)
		switch name {
		case "turns":
			limit.Turns = r.bound(at, members[name], maxHistoryTurns)
		case "bytes":
			limit.Bytes = r.bound(at, members[name], maxHistoryBytes)
		default:
			r.fail(at, "is not known: there are turns and bytes")
		}
	}
	return limit
}

func (r *reader) bound(at string, raw json.RawMessage, most int) int {
	var n int
	if json.Unmarshal(raw, &n) != nil || n < 1 || n > most {
		r.fail(at, "must be an integer from 1 to %d", most)
	}
	return n
}

func (r *reader) chat(kind string) Chat {
	c := Chat{Model: r.text("model"), System: r.text("system")}
	names := []string{"input", "instructions", "model", "previous_response_id", "store", "stream", "tools"}
	if kind == "chat_completions" {
		c.Reasoning = Reasoning(r.text("reasoning"))
		names = []string{"messages", "model", "n", "stream", "stream_options", "tools"}
	}
	if c.Model == "" {
		r.fail("model", "is required")
	}
	switch c.Reasoning {
	case "", WithToolCalls, Always, Never:
	default:
		r.fail("reasoning", `must be "tool_calls", "always" or "never"`)
	}
	var tools []map[string]json.RawMessage
	if raw := r.Members["tools"]; raw != nil {
		c.Tools = raw
	}
	r.take("tools", &tools, "an array of objects")
	r.take("parameters", &c.Parameters, "an object")
	for _, name := range names {
		if _, ok := c.Parameters[name]; ok {
			r.fail("parameters/"+name, "cannot be chosen")
		}
	}
	return c
}
