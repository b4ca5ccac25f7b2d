package agui

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonpatch"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/client/agent/transcript"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// state is the state as the agent sees it, and as of the last event that changed
// the session's.
type state struct {
	current, stored map[string]json.RawMessage
	own             map[string]bool // keys that the agent has set
}

// newState returns the state of a request's run.
func newState(req run.Request) state {
	s := state{current: transcript.CurrentState(req), stored: transcript.CurrentState(req), own: map[string]bool{}}
	for _, e := range slices.Concat(req.Events, req.Said) {
		if recordOf(e, req.Agent).Agent == "" {
			continue
		}
		for key := range e.StateDelta {
			s.own[key] = true
		}
	}
	return s
}

// repeated reports whether a key of the state only repeats the request: agents that
// keep the conversation in their state send all of it.
func repeated(key string) bool {
	switch key {
	case "messages", "tools", "ag-ui", "copilotkit":
		return true
	}
	return false
}

var errNoObject = errors.New("the state must be an object")

// replace handles a snapshot. A key that it lacks is removed only if the agent has set
// it: a session has keys of others, and an agent whose state has a schema drops what it
// does not know. Keys of the user and the app are not removed, because other sessions
// share them.
func (s *state) replace(raw json.RawMessage) error {
	if jsonx.IsNull(raw) {
		return nil
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return errNoObject
	}
	next := maps.Clone(given)
	for key, value := range s.current {
		scope, _ := session.ScopeOf(key)
		if _, ok := next[key]; !ok && (scope != session.ScopeSession || !s.own[key]) {
			next[key] = value
		}
	}
	for key := range given {
		s.own[key] = true
	}
	s.current = next
	return s.check()
}

// check returns an error for a state that takes too much memory. It may be larger than
// an event, since an agent's state may contain what is not kept.
func (s *state) check() error {
	size := 0
	for _, value := range s.current {
		size += len(value)
	}
	if size > endpoint.MaxAnswer {
		return endpoint.NewError(run.CodeLimit, "the agent's state has more than %d bytes", endpoint.MaxAnswer)
	}
	return nil
}

// patch applies a JSON Patch (RFC 6902).
func (s *state) patch(raw json.RawMessage) error {
	doc, err := jsonx.Marshal(s.current)
	if err != nil {
		return err
	}
	if len(s.current) == 0 {
		doc = []byte("{}")
	}
	patched, err := jsonpatch.Apply(doc, raw, run.MaxItem)
	if err != nil {
		return err
	}
	var next map[string]json.RawMessage
	if !jsonx.IsObject(patched) || json.Unmarshal(patched, &next) != nil {
		return errNoObject
	}
	for key := range next {
		if _, ok := s.current[key]; !ok {
			s.own[key] = true
		}
	}
	s.current = next
	return s.check()
}

// store returns what has changed since the last call, as the state delta of an event.
func (s *state) store() session.Delta {
	delta := s.change()
	s.stored = maps.Clone(s.current)
	return delta
}

// change returns what has changed since the last call of store.
func (s *state) change() session.Delta {
	delta := session.Delta{}
	for key, value := range s.current {
		if before, ok := s.stored[key]; !repeated(key) && (!ok || !equalJSON(before, value)) {
			delta[key] = value
		}
	}
	for key := range s.stored {
		if _, ok := s.current[key]; !ok && !repeated(key) {
			delta[key] = json.RawMessage("null")
		}
	}
	return delta
}

func equalJSON(a, b json.RawMessage) bool {
	return reflect.DeepEqual(jsonx.Canonical(a), jsonx.Canonical(b))
}
