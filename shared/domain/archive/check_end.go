package archive

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// end checks the end of a document against its head, and its state against the result
// of the events. A fork may have state that none of its own events changed: its state
// is accepted without a check.
func (c *checker) end() error {
	log, want := c.After.Log, c.After.Head
	switch {
	case log.Next-1 != want.Session.HeadSeq:
		return fault.Field(fault.Invalid, "/session/head_seq", "must be the number of events: %d", log.Next-1)
	case log.Epoch != want.Session.Epoch:
		return fault.Field(fault.Invalid, "/session/epoch", "must be the number of rewinds: %d", log.Epoch)
	case log.Marker > 0 && !slices.Equal(c.After.Timeline, want.Timeline):
		return fault.Field(fault.Invalid, "/timeline", "must be that of the last rewind")
	case log.Marker == 0 && !slices.Equal(want.Timeline, Timeline{{From: 1}}):
		return fault.Field(fault.Invalid, "/timeline", "must be the whole log, as there was no rewind")
	}
	given := c.part.State.own()
	if !want.Branched && !sameValues(given, c.After.Values) {
		return fault.Field(fault.Invalid, "/state/session", "must be the result of the events")
	}
	c.After.Values = given
	return nil
}

// own returns the state that only this session has, artifacts included.
func (s *State) own() session.Values {
	out := session.Values{}
	for name, v := range s.Session {
		out[name] = v
	}
	for name, version := range s.Artifacts {
		if key := session.ArtifactKey(name); !strings.HasPrefix(key, session.ScopeUser.Prefix()) {
			out[key] = versionValue(version)
		}
	}
	return out
}

// Shared returns the state that the session shares with others, artifacts included,
// by prefixed key. A key without a value that another session changed last was
// deleted there: it is null.
func (s *State) Shared() session.Delta {
	out := session.Delta{}
	for _, key := range s.Elsewhere {
		if scope, name := session.ScopeOf(key); name != "" && (scope == session.ScopeUser || scope == session.ScopeApp) {
			out[key] = json.RawMessage("null")
		}
	}
	for scope, values := range map[session.Scope]session.Values{session.ScopeUser: s.User, session.ScopeApp: s.App} {
		for name, v := range values {
			out[scope.Prefix()+name] = v
		}
	}
	for name, version := range s.Artifacts {
		if key := session.ArtifactKey(name); key[0] != 0 {
			out[key] = versionValue(version)
		}
	}
	return out
}

func versionValue(version int64) json.RawMessage {
	return json.RawMessage(strconv.FormatInt(version, 10))
}

// sameValues reports whether two states are equal as JSON.
func sameValues(a, b session.Values) bool {
	if len(a) != len(b) {
		return false
	}
	for key, v := range a {
		other, ok := b[key]
		if !ok || !reflect.DeepEqual(jsonx.Canonical(v), jsonx.Canonical(other)) {
			return false
		}
	}
	return true
}
