package a2a

import (
	"encoding/json"
	"time"

	legacylib "github.com/a2aproject/a2a-go/a2a"
	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/rethread/rethread/shared/domain/task"
)

// fromSaved converts a saved task to version 1.0 of the protocol and counts the
// messages and artifacts that it leaves out because they have no equivalent:
// writers may store anything in tasks in the form of seed 002.
func fromSaved(form *task.A2A) (t *lib.Task, skipped int) {
	t = &lib.Task{
		ID: lib.TaskID(form.ID), ContextID: form.ContextID,
		Status: lib.TaskStatus{State: a2av0.ToV1TaskState(legacylib.TaskState(form.Status.State))},
	}
	if at, err := time.Parse(time.RFC3339Nano, form.Status.Timestamp); err == nil {
		t.Status.Timestamp = &at
	}
	if present(form.Metadata) && json.Unmarshal(form.Metadata, &t.Metadata) != nil {
		skipped++
	}
	if present(form.Status.Message) {
		if t.Status.Message = messageOf(form.Status.Message); t.Status.Message == nil {
			skipped++
		}
	}
	for _, raw := range form.History {
		if m := messageOf(raw); m != nil {
			t.History = append(t.History, m)
		} else {
			skipped++
		}
	}
	var artifacts []json.RawMessage
	if present(form.Artifacts) && json.Unmarshal(form.Artifacts, &artifacts) != nil {
		skipped++
	}
	for _, raw := range artifacts {
		if a := artifactOf(raw); a != nil {
			t.Artifacts = append(t.Artifacts, a)
		} else {
			skipped++
		}
	}
	return t, skipped
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// messageOf reads a message of version 0.3, nil if it is invalid.
func messageOf(raw json.RawMessage) *lib.Message {
	var old *legacylib.Message
	if json.Unmarshal(withKinds(raw), &old) != nil || old == nil {
		return nil
	}
	m, err := a2av0.ToV1Message(old)
	if err != nil {
		return nil
	}
	m.Metadata, _ = exact(restore(m.Parts, raw), m.Metadata).(map[string]any)
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
	a.Metadata, _ = exact(restore(a.Parts, raw), a.Metadata).(map[string]any)
	return a
}

// withKinds adds the kind to parts of a message or artifact that lack it: some
// clients leave it to the member that a part has.
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
