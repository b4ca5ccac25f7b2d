package agentconfig

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
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

func (r *reader) chat(kind Kind) Chat {
	c := Chat{Model: r.text("model"), System: r.text("system")}
	names := []string{"input", "instructions", "model", "previous_response_id", "store", "stream", "tools"}
	if kind == KindChatCompletions {
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

// continuations reads how often a run may be continued.
func (r *reader) continuations() int {
	var n int
	r.take("max_continuations", &n, "an integer")
	if n < 0 || n > run.MaxContinuations {
		r.fail("max_continuations", "must be an integer from 0 to %d", run.MaxContinuations)
	}
	return n
}

func (r *reader) onFailed() run.OnFailed {
	on := run.OnFailed(r.text("on_failed"))
	switch on {
	case "", run.Discard, run.Block, run.Keep:
	default:
		r.fail("on_failed", `must be "discard", "block" or "keep"`)
	}
	return on
}

// card reads the address of an agent's card.
func (r *reader) card(agent string) string {
	address := r.text("card")
	if address != "" && !SameOrigin(address, agent) {
		r.fail("card", "must be a URL with the scheme and host of url")
	}
	return address
}

// app reads the name of an app of ADK's.
func (r *reader) app() string {
	name := r.text("app")
	if err := ids.Check("", name); err != nil {
		r.fail("app", "must be the name of an app of ADK's")
	}
	return name
}

// SameOrigin reports whether two addresses have the same scheme, host and port.
func SameOrigin(a, b string) bool {
	one, err := url.Parse(a)
	other, otherErr := url.Parse(b)
	return err == nil && otherErr == nil && one.Host != "" && one.User == nil &&
		one.Scheme == other.Scheme && strings.EqualFold(hostOf(one), hostOf(other))
}

func hostOf(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return u.Host + map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
}
