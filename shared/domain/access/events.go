package access

import (
	"encoding/json"
	"maps"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// Events filters the events of a page for the caller. Everything in an event
// belongs to the session, except that the marker of a rewind contains user state
// that other sessions may have set; guests do not see it.
func (p Permission) Events(events []session.Event) []session.Event {
	if !p.Guest() {
		return events
	}
	for i, e := range events {
		events[i] = withoutRestored(e)
	}
	return events
}

// withoutRestored returns a marker without the user state that it restored, and any
// other event unchanged.
func withoutRestored(e session.Event) session.Event {
	var actions map[string]json.RawMessage
	if json.Unmarshal(e.Fields["actions"], &actions) != nil || jsonx.IsNull(actions["rewind_before_invocation_id"]) {
		return e
	}
	for _, name := range []string{"state_delta", "artifact_delta"} {
		var delta map[string]json.RawMessage
		if json.Unmarshal(actions[name], &delta) != nil {
			continue
		}
		maps.DeleteFunc(delta, func(key string, _ json.RawMessage) bool {
			scope, _ := session.ScopeOf(key)
			return scope == session.ScopeUser
		})
		actions[name] = mustText(delta)
	}
	e.Fields = maps.Clone(e.Fields)
	e.Fields["actions"] = mustText(actions)
	return e
}

// mustText encodes values that were decoded from JSON, which cannot fail.
func mustText(v map[string]json.RawMessage) json.RawMessage {
	text, err := jsonx.Marshal(v)
	if err != nil {
		panic("encode what was JSON: " + err.Error())
	}
	return text
}
