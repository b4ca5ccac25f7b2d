package provider

import (
	"encoding/json"
	"strings"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/domain/run"
)

// SetParameters adds the parameters that the front end sent, and which the configuration
// does not fix, to a request to a model that has the configured ones and all tools. form
// returns a value in the form of the model's API, or nil to leave it out.
func SetParameters(
	body map[string]any, kind agentconfig.Kind, c agentconfig.Chat, front run.FrontEnd,
	form func(name string, value json.RawMessage) any,
) {
	for _, p := range kind.Parameters() {
		raw := front.Parameter(p.Name)
		if raw == nil || len(p.Members) == 0 || c.Fixes(p) || isOfTools(p.Name) && body["tools"] == nil {
			continue
		}
		if value := form(p.Name, raw); value != nil {
			set(body, p.Members[0], value)
		}
	}
}

// isOfTools reports whether APIs refuse a parameter without tools.
func isOfTools(name string) bool { return name == "tool_choice" || name == "parallel_tool_calls" }

// set sets the member at a path of one or two names, next to the other members of an
// object.
func set(body map[string]any, path string, value any) {
	name, member, nested := strings.Cut(path, ".")
	if !nested {
		body[name] = value
		return
	}
	object, ok := body[name].(map[string]any)
	if raw, configured := body[name].(json.RawMessage); configured {
		ok = json.Unmarshal(raw, &object) == nil && object != nil
	}
	if !ok {
		object = map[string]any{}
	}
	object[member] = value
	body[name] = object
}
