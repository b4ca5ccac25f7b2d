package session

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// Cancels decides whether a rewind ends the active run, "" for none. It returns
// fault.Conflict, with run_id, if the rewind was not asked to cancel.
func (r Rewind) Cancels(active string) (bool, error) {
	if active != "" && !r.CancelRun {
		return false, fault.New(fault.RunActive, "a run is in progress; cancel it, or send cancel_run").With("run_id", active)
	}
	return active != "", nil
}

// MarkerAt describes a rewind's marker before it is built.
type MarkerAt struct {
	ID      string // of its event
	Seq     int64  // its position in the session's own log
	Time    int64  // epoch milliseconds
	History History
	Then    Before // what the session showed just before the target
	Max     int    // parts of a level in its outline
	Read    Markers
}

// Before is what a session showed just before a position.
type Before struct {
	Outline
	// Marker is that in whose outline these parts are, except that the last is cut; 0 for
	// none.
	Marker int64
}

// Marker is the entry that a rewind appends.
type Marker struct {
	Event   Event
	Outline Outline // what the session shows from it on
	ToSeq   int64   // the last seq that stays
	Back    bool    // hidden events become visible again
}

// Marker returns the entry that a rewind appends (seed 003). Restored is the state
// that it restores; artifacts are restored as the new versions that it names.
func (r Rewind) Marker(at MarkerAt, restored Delta) (Marker, error) {
	artifacts, err := restored.Versions(len(restored))
	if err != nil {
		return Marker{}, err
	}
	state := Delta{}
	for key, v := range restored {
		if _, ok := ArtifactOf(key); !ok {
			state[key] = v
		}
	}
	made := map[string]any{"rewind_before_invocation_id": r.Before, "state_delta": state, "artifact_delta": artifacts}
	if r.Start > 0 {
		made["rewind_before_seq"] = r.Start
	}
	actions, err := jsonx.Marshal(made)
	if err != nil {
		return Marker{}, err
	}
	out := Marker{
		Event: Event{
			ID: at.ID, InvocationID: r.Nonce, Author: "system", SessionID: r.SessionID, Seq: at.Seq,
			Status: EventCompleted, CreatedTime: at.Time, StateDelta: state, ArtifactDelta: artifacts,
			Fields: map[string]json.RawMessage{
				"actions": actions, "content": json.RawMessage(`{"parts":[{"text":"Session rewound"}]}`),
			},
		},
		Outline: at.Then.Reopened(at.History.Log, at.Seq+1).Folded(at.History.Log, at.Then.Marker, at.Max),
	}
	if r.CreatedBy != nil {
		out.Event.Fields[CreatedBy] = r.CreatedBy
	}
	toSeq, all, err := at.History.Shown().Common(at.Then.Outline, at.Read)
	out.ToSeq, out.Back = toSeq, !all
	return out, err
}

// Rewound returns the report on a rewind that appended a marker and did not change
// the conflicts, which are prefixed keys; now is the session after it.
func (r Rewind) Rewound(marker Event, now Session, conflicts []string) Rewound {
	out := Rewound{Event: marker, Session: now, State: marker.StateDelta, Artifacts: marker.ArtifactDelta}
	for _, key := range conflicts {
		reason := ChangedSince
		if scope, _ := ScopeOf(key); r.keeps(scope) {
			reason = NotPermitted
		}
		out.Conflicts = append(out.Conflicts, Conflict{Key: key, Reason: reason})
	}
	return out
}
