package conversation

import (
	"encoding/json"
	"maps"
	"reflect"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// State is a session's merged state as a front end has it, by prefixed key.
type State struct {
	values session.Values
	guest  bool // who does not see the keys of the user
}

// NewState returns the state of a stream that begins. A guest does not see keys of
// the user.
func NewState(merged session.Values, guest bool) *State {
	s := &State{values: maps.Clone(merged.Visible()), guest: guest}
	maps.DeleteFunc(s.values, func(key string, _ json.RawMessage) bool { return s.hides(key) })
	return s
}

func (s *State) hides(key string) bool {
	scope, _ := session.ScopeOf(key)
	return scope == session.ScopeTemp || s.guest && scope == session.ScopeUser
}

// Values returns the state as it is now. It is the state's own map.
func (s *State) Values() session.Values { return s.values }

// Change changes the state and returns the keys that differ afterwards, with null for
// those that were removed; nil without any.
func (s *State) Change(delta session.Delta) session.Delta {
	var changed session.Delta
	for key, value := range delta {
		before, known := s.values[key]
		removed := jsonx.IsNull(value)
		switch {
		case s.hides(key), removed && !known, !removed && known && Equal(before, value):
			continue
		case removed:
			delete(s.values, key)
		default:
			s.values[key] = value
		}
		if changed == nil {
			changed = session.Delta{}
		}
		changed[key] = value
	}
	return changed
}

// Changed returns the keys of a front end's state that differ from the session's. A
// key that the front end lacks is unchanged, since it may know only a part of the
// state.
func Changed(given, merged session.Values) session.Delta {
	out := session.Delta{}
	for key, value := range given {
		if before, ok := merged[key]; jsonx.IsNull(value) && ok || !jsonx.IsNull(value) && (!ok || !Equal(before, value)) {
			out[key] = value
		}
	}
	return out.Stored()
}

// Equal reports whether two JSON texts have the same value.
func Equal(a, b json.RawMessage) bool {
	return reflect.DeepEqual(jsonx.Canonical(a), jsonx.Canonical(b))
}
