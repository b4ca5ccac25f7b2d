package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// Current returns the current value of a key of a scope, and the session that
// changed it last; "" if unknown. The name has no prefix.
type Current func(scope Scope, name string) (value json.RawMessage, by string)

// Restored decides what a rewind restores from the state before its target: the
// keys whose values have changed since, in the scopes that it restores. A shared
// key that another session has changed since is a conflict instead, unless the
// rewind restores those too, and so is one that the rewind may not change. Conflicts are prefixed keys, sorted; artifacts are
// given by name.
func (r Rewind) Restored(then Delta, now Current) (restored Delta, conflicts []string) {
	restored = Delta{}
	for _, key := range slices.Sorted(maps.Keys(then)) {
		scope, name := ScopeOf(key)
		current, by := now(scope, name)
		if !r.Has(scope) || SameValue(current, then[key]) {
			continue
		}
		if r.keeps(scope) || by != "" && by != r.SessionID && !r.Restore {
			conflicts = append(conflicts, ShownKey(key))
			continue
		}
		restored[key] = then[key]
	}
	return restored, conflicts
}

// keeps reports whether the rewind leaves a scope's state as it is.
func (r Rewind) keeps(s Scope) bool { return r.KeepApp && s == ScopeApp }

// ShownKey returns a state key in its external form; artifacts are given by name.
func ShownKey(key string) string {
	if name, ok := ArtifactOf(key); ok {
		return name
	}
	return key
}

// NoVersion represents a missing artifact.
const NoVersion = -1

// Versions returns the versions of artifacts in a delta, by the artifacts' names;
// NoVersion if the delta deletes one. It returns fault.Invalid for more than most
// artifacts.
func (d Delta) Versions(most int) (map[string]int64, error) {
	out := map[string]int64{}
	for key, then := range d {
		name, ok := ArtifactOf(key)
		if !ok {
			continue
		}
		if len(out) == most {
			return nil, fault.New(fault.Invalid, "more than %d artifacts would be restored at once", most)
		}
		out[name] = NoVersion
		if !jsonx.IsNull(then) {
			version, err := strconv.ParseInt(string(then), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("version of artifact %s: %w", name, err)
			}
			out[name] = version
		}
	}
	return out, nil
}

// SameValue reports whether two values of a key are the same bytes; a missing value
// equals null.
func SameValue(a, b json.RawMessage) bool {
	if jsonx.IsNull(a) || jsonx.IsNull(b) {
		return jsonx.IsNull(a) && jsonx.IsNull(b)
	}
	return bytes.Equal(a, b)
}
