package content

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// maxDepth is the deepest value in which names are converted: events of ADK are
// less deep without the values of their authors.
const maxDepth = 16

// How the names in the value of a member are converted.
type naming int

const (
	structured naming = iota // all are ADK's
	keyed                    // the first level has names of the author's
	opaque                   // all are the author's
)

// namesIn returns how the names in the value of a member are converted, which is named
// in snake case.
func namesIn(member string) naming {
	switch member {
	case "args", "response", "state_delta", "artifact_delta", "custom_metadata", "part_metadata", "output",
		"agent_state", "payload", "set_model_response", "error":
		return opaque
	case "requested_tool_confirmations", "requested_auth_configs":
		return keyed
	}
	return structured
}

// SnakeCase returns an event or a part of ADK's with its names in snake case, as the Python
// and Go clients of Rethread write them; bytes are in the standard alphabet of base64. Names
// that an author gave stay as they are.
func SnakeCase(raw json.RawMessage) json.RawMessage { return snakeCase(raw, structured, 0) }

func snakeCase(raw json.RawMessage, names naming, depth int) json.RawMessage {
	if names == opaque || depth > maxDepth {
		return raw
	}
	var items []json.RawMessage
	var members map[string]json.RawMessage
	var out any
	switch {
	case jsonx.IsObject(raw) && json.Unmarshal(raw, &members) == nil:
		converted := make(object, len(members))
		for name, v := range members {
			if names == keyed {
				converted[name] = snakeCase(v, structured, depth+1)
				continue
			}
			snake := jsonx.SnakeCase(name)
			converted[snake] = snakeCase(v, namesIn(snake), depth+1)
		}
		if _, isFile := converted["mime_type"]; isFile {
			converted.standardize("data")
		}
		converted.standardize("thought_signature")
		out = converted
	case json.Unmarshal(raw, &items) == nil && items != nil:
		for i := range items {
			items[i] = snakeCase(items[i], structured, depth+1)
		}
		out = items
	default:
		return raw
	}
	text, err := jsonx.Marshal(out)
	if err != nil {
		return raw
	}
	return text
}

// object is an object of ADK's, with names in snake case.
type object map[string]json.RawMessage

// standardize converts a member that has bytes in base64 to the standard alphabet.
func (m object) standardize(name string) {
	var text string
	if raw := m[name]; !jsonx.IsNull(raw) && json.Unmarshal(raw, &text) == nil && IsBase64(text) {
		m[name] = json.RawMessage(`"` + StandardBase64(text) + `"`)
	}
}
