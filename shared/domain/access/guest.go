package access

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
)

// A share covers only the session. Guests can neither change nor revert what the
// owner's sessions have in common, which is the state and artifacts of the user and
// the state of the app; they do not see the user's.

// Admit returns an event of a request as it is to be stored, or refuses what its sender
// may not change: a guest anything beyond the session, and others the state of the app
// unless they are trusted with it. at is the event's JSON pointer in the request, such
// as "/events/0".
func (p Permission) Admit(e session.Event, at string) (session.Event, error) {
	if err := p.CheckState(e.StateDelta, at+"/actions/state_delta"); err != nil {
		return e, err
	}
	if p.Guest() {
		if err := onlySession(e.ArtifactDelta, at+"/actions/artifact_delta"); err != nil {
			return e, err
		}
	}
	return p.By.Stamp(e), nil
}

// CheckState refuses changes of state as Admit does; at is their JSON pointer.
func (p Permission) CheckState(delta session.Delta, at string) error {
	if p.Guest() {
		return onlySession(delta, at)
	}
	return p.By.CheckApp(delta, at)
}

// onlySession refuses keys of other scopes than the session's.
func onlySession[V any](delta map[string]V, at string) error {
	for _, key := range slices.Sorted(maps.Keys(delta)) {
		if scope, _ := session.ScopeOf(key); scope == session.ScopeUser || scope == session.ScopeApp {
			return fault.Field(fault.RightRequired, at+"/"+jsonx.EscapePointer(key),
				"is shared beyond this session: guests change the session alone")
		}
	}
	return nil
}

// SeeArtifact returns fault.NotFound for an artifact of the user.
func (p Permission) SeeArtifact(name string) error {
	if p.Guest() && strings.HasPrefix(name, artifact.UserPrefix) {
		return fault.Missing("Artifact")
	}
	return nil
}

// CheckPut refuses an artifact of the user, and a reference by which a guest would
// read anything beyond the session.
func (p Permission) CheckPut(put artifact.Put) error {
	switch {
	case !p.Guest():
		return nil
	case strings.HasPrefix(put.Name, artifact.UserPrefix):
		return fault.Field(fault.RightRequired, "name",
			"is shared beyond this session: guests put artifacts of the session alone")
	case put.Target != nil &&
		(put.Target.SessionID != put.SessionID || strings.HasPrefix(put.Target.Name, artifact.UserPrefix)):
		return fault.Field(fault.RightRequired, "", "must refer to an artifact of this session: guests see no others")
	}
	return nil
}

// Artifacts filters a list of artifacts for the caller.
func (p Permission) Artifacts(versions []artifact.Version) []artifact.Version {
	if !p.Guest() {
		return versions
	}
	return slices.DeleteFunc(versions, func(v artifact.Version) bool { return p.SeeArtifact(v.Name) != nil })
}

// Rewind restricts a rewind for the caller: a guest's restores only the session,
// and may request nothing else; the state of the app is left by those who may not
// change it.
func (p Permission) Rewind(r session.Rewind) (session.Rewind, error) {
	r.KeepApp, r.CreatedBy = !p.By.ChangesApp, p.By.createdBy()
	if !p.Guest() {
		return r, nil
	}
	if r.Scopes == nil {
		r.Scopes = []session.Scope{session.ScopeSession}
	}
	for i, scope := range r.Scopes {
		if scope != session.ScopeSession {
			return r, fault.Field(fault.RightRequired, "/scopes/"+strconv.Itoa(i),
				"must be session: guests rewind the session alone")
		}
	}
	return r, nil
}

// State filters a session's state for the caller.
func (p Permission) State(s session.State) session.State {
	if !p.Guest() {
		return s
	}
	s.User = session.Values{}
	s.Merged = maps.Clone(s.Merged)
	maps.DeleteFunc(s.Merged, func(key string, _ json.RawMessage) bool {
		scope, _ := session.ScopeOf(key)
		return scope == session.ScopeUser
	})
	return s
}
