package session

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// Scope says who shares a state key; it is given by the key's prefix.
type Scope int

// The scopes of state keys: no prefix, "user:", "app:" and "temp:". Temporary keys
// are neither stored nor restored.
const (
	ScopeSession Scope = iota
	ScopeUser
	ScopeApp
	ScopeTemp
)

// Prefix returns the prefix of a scope's keys.
func (s Scope) Prefix() string {
	switch s {
	case ScopeUser:
		return "user:"
	case ScopeApp:
		return "app:"
	case ScopeTemp:
		return "temp:"
	case ScopeSession:
	}
	return ""
}

// ScopeOf splits a key into its scope and its name without the prefix.
func ScopeOf(key string) (Scope, string) {
	for _, s := range []Scope{ScopeUser, ScopeApp, ScopeTemp} {
		if rest, ok := strings.CutPrefix(key, s.Prefix()); ok {
			return s, rest
		}
	}
	return ScopeSession, key
}

// Delta is a change of state: new values by prefixed key; null deletes a key.
type Delta map[string]json.RawMessage

// Validate returns a fault that names the keys that break rules; pointer is the
// delta's JSON pointer.
func (d Delta) Validate(pointer string) error {
	var broken fault.Broken
	for _, key := range slices.Sorted(maps.Keys(d)) {
		_, name := ScopeOf(key)
		at := pointer + "/" + jsonx.EscapePointer(key)
		switch {
		case name == "":
			broken.Add(fault.Field(fault.Invalid, at, "must name a key"))
		case strings.ContainsFunc(key, unicode.IsControl):
			broken.Add(fault.Field(fault.Invalid, at, "must not contain control characters"))
		case utf8.RuneCountInString(key) > MaxStateKey:
			broken.Add(fault.Field(fault.Invalid, at, "must be at most %d characters", MaxStateKey))
		}
	}
	return broken.Err()
}

// Stored returns the delta without temporary keys.
func (d Delta) Stored() Delta {
	out := make(Delta, len(d))
	for key, v := range d {
		if s, _ := ScopeOf(key); s != ScopeTemp {
			out[key] = v
		}
	}
	return out
}

// Values returns the delta without the keys that it deletes.
func (d Delta) Values() Delta {
	out := make(Delta, len(d))
	for key, v := range d {
		if !jsonx.IsNull(v) {
			out[key] = v
		}
	}
	return out
}

// In returns the part of the delta in a scope, with unprefixed keys.
func (d Delta) In(scope Scope) Delta {
	out := Delta{}
	for key, v := range d {
		if s, name := ScopeOf(key); s == scope {
			out[name] = v
		}
	}
	return out
}

// Values is the state of one scope, by unprefixed key. No value is null: a
// key that was set to null is absent.
type Values map[string]json.RawMessage

// Apply changes the values and returns the delta that reverts the change: the
// previous value of every key in d, or null if there was none.
func (v Values) Apply(d Delta) (undo Delta) {
	undo = make(Delta, len(d))
	for key, next := range d {
		undo[key] = json.RawMessage("null")
		if prev, ok := v[key]; ok {
			undo[key] = prev
		}
		if jsonx.IsNull(next) {
			delete(v, key)
		} else {
			v[key] = next
		}
	}
	return undo
}

// Size returns the approximate size of the values as JSON, in bytes.
func (v Values) Size() int {
	n := 2
	for key, val := range v {
		n += len(key) + len(val) + 4
	}
	return n
}

// State is what a session's agents see, by scope.
type State struct {
	Session Values `json:"session"`
	User    Values `json:"user"`
	App     Values `json:"app"`
	Merged  Values `json:"merged"`
}

// Visible returns the values without those that represent artifacts.
func (v Values) Visible() Values {
	out := make(Values, len(v))
	for key, val := range v {
		if _, artifact := ArtifactOf(key); !artifact {
			out[key] = val
		}
	}
	return out
}

// Merge sets Merged to the three scopes, with prefixed keys.
func (s *State) Merge() {
	s.Merged = maps.Clone(s.Session)
	for key, v := range s.User {
		s.Merged[ScopeUser.Prefix()+key] = v
	}
	for key, v := range s.App {
		s.Merged[ScopeApp.Prefix()+key] = v
	}
}

// CheckSize refuses values that exceed MaxState.
func (v Values) CheckSize(scope Scope) error {
	if v.Size() <= MaxState {
		return nil
	}
	what := "session"
	switch scope {
	case ScopeUser:
		what = "user"
	case ScopeApp:
		what = "app"
	case ScopeSession, ScopeTemp:
	}
	return fault.New(fault.StateTooLarge, "the %s state would exceed %d bytes", what, MaxState)
}
