package session

import "encoding/json"

// LongRunningCalls returns the ids of the event's function calls whose responses come
// in a later turn, as ADK lists them in either of its spellings; none if the list is in
// an unknown form.
func (e Event) LongRunningCalls() []string {
	var ids []string
	for _, name := range []string{"long_running_tool_ids", "longRunningToolIds"} {
		var listed []string
		if json.Unmarshal(e.Fields[name], &listed) == nil {
			ids = append(ids, listed...)
		}
	}
	return ids
}
