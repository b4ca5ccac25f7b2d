package a2a

import (
	"encoding/json"
	"time"

	legacylib "github.com/a2aproject/a2a-go/a2a"
	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/rethread/rethread/shared/domain/task"
)

// fromForm is a saved task as the protocol's version 1.0 has it, and how many of
// its messages and artifacts are left out as they have no form of the protocol:
// tasks in the form of seed 002 hold whatever their writers like.
func fromForm(form *task.A2A) (t *lib.Task, left int) {
	t = &lib.Task{
		ID: lib.TaskID(form.ID), ContextID: form.ContextID,
		Status: lib.TaskStatus{State: a2av0.ToV1TaskState(legacylib.TaskState(form.Status.State))},
	}
	if at, err := time.Parse(time.RFC3339Nano, form.Status.Timestamp); err == nil {
		t.Status.Timestamp = &at
	}
	if given(form.Metadata) && json.Unmarshal(form.Metadata, &t.Metadata) != nil {
		left++
	}
	if given(form.Status.Message) {
		if t.Status.Message = messageOf(form.Status.Message); t.Status.Message == nil {
			left++
		}
	}
	for _, raw := range form.History {
		if m := messageOf(raw); m != nil {
			t.History = append(t.History, m)
		} else {
			left++
		}
	}
	var artifacts []json.RawMessage
	if given(form.Artifacts) && json.Unmarshal(form.Artifacts, &artifacts) != nil {
		left++
	}
	for _, raw := range artifacts {
		if a := artifactOf(raw); a != nil {
			t.Artifacts = append(t.Artifacts, a)
		} else {
			left++
		}
	}
	return t, left
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// messageOf is a message of version 0.3, nil where it is none.
func messageOf(raw json.RawMessage) *lib.Message {
	var old *legacylib.Message
	if json.Unmarshal(withKinds(raw), &old) != nil || old == nil {
		return nil
	}
	m, err := a2av0.ToV1Message(old)
	if err != nil {
		return nil
	}
	return m
}

func artifactOf(raw json.RawMessage) *lib.Artifact {
	var old *legacylib.Artifact
	if json.Unmarshal(withKinds(raw), &old) != nil || old == nil {
		return nil
	}
	a, err := a2av0.ToV1Artifact(old)
	if err != nil {
		return nil
	}
	return a
}

// withKinds is a message or an artifact whose parts all say of which kind they
// are: some clients leave that to what a part holds.
func withKinds(raw json.RawMessage) json.RawMessage {
	var of map[string]json.RawMessage
	var parts []map[string]json.RawMessage
	if json.Unmarshal(raw, &of) != nil || json.Unmarshal(of["parts"], &parts) != nil {
		return raw
	}
	changed := false
	for _, p := range parts {
		for _, kind := range []string{"text", "file", "data"} {
			if p != nil && p["kind"] == nil && p[kind] != nil {
				p["kind"], changed = json.RawMessage(`"`+kind+`"`), true
			}
		}
	}
	if !changed {
		return raw
	}
	var err error
	if of["parts"], err = json.Marshal(parts); err != nil {
		return raw
	}
	out, err := json.Marshal(of)
	if err != nil {
		return raw
	}
	return out
}
