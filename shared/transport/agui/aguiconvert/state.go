package aguiconvert

import (
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// StateSnapshot returns the event with the whole state.
func StateSnapshot(s *conversation.State) Event {
	return Event{"type": "STATE_SNAPSHOT", "snapshot": maps.Clone(s.Values())}
}

// stateDelta returns the event with changes of the state.
func stateDelta(changed session.Delta) Event {
	var patch []map[string]any
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		value, path := changed[key], "/"+jsonx.EscapePointer(key)
		if jsonx.IsNull(value) {
			patch = append(patch, map[string]any{"op": "remove", "path": path})
		} else {
			patch = append(patch, map[string]any{"op": "add", "path": path, "value": value}) // replaces, too
		}
	}
	return Event{"type": "STATE_DELTA", "delta": patch}
}
