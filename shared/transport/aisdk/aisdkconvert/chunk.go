package aisdkconvert

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Chunk is a chunk of a stream of one message, by the names of its members.
type Chunk map[string]any

// Type returns the type of the chunk.
func (c Chunk) Type() string {
	name, _ := c["type"].(string)
	return name
}

func (c Chunk) text(name string) string {
	text, _ := c[name].(string)
	return text
}

// Types of data parts for what the AI SDK has no part for.
const (
	// DataRun is the run of a stream, {run_id, session_id}: transient.
	DataRun = "data-rethread-run"
	// DataState is the session's merged state whenever it has changed: transient.
	DataState = "data-rethread-state"
	// DataArtifacts has the versions of the artifacts that a step saved, by name.
	DataArtifacts = "data-rethread-artifacts"
	// DataPart has a part of an event that is none of the SDK's.
	DataPart = "data-rethread-part"
	// DataReconnect is sent before the error of a stream whose run continues, {run_id}:
	// transient.
	DataReconnect = "data-rethread-reconnect"
)

// Transient returns a chunk that reaches a front end's onData only.
func Transient(kind string, data any) Chunk {
	return Chunk{"type": kind, "data": data, "transient": true}
}

// Error returns the chunk for an error, with the text that the front end shows.
func Error(text string) Chunk { return Chunk{"type": "error", "errorText": text} }

// Finished returns the last chunk of a message that is complete.
func Finished(waits bool) Chunk {
	reason := "stop"
	if waits {
		reason = "tool-calls"
	}
	return Chunk{"type": "finish", "finishReason": reason}
}

// Discarded returns the last chunk for a run whose events were taken away before any was
// read. A run that was cancelled ends as it does if some were.
func Discarded(r run.Run) Chunk {
	if r.Status == run.Cancelled {
		return outcome(r, nil, false)
	}
	return Error("The run was rewound.")
}

// outcome returns the last chunk for a run that is over, with the outputs that it had.
func outcome(r run.Run, outputs []session.Event, waits bool) Chunk {
	switch r.Status {
	case run.Cancelled:
		return Chunk{"type": "abort", "reason": "cancelled"}
	case run.Failed:
		return Error(r.Failure().Message)
	case run.Waiting, run.InProgress, run.Completed:
	}
	out := Finished(waits)
	switch cut := conversation.CutOff(outputs); {
	case waits:
	case cut == conversation.CutLength:
		out["finishReason"] = "length"
	case cut == conversation.CutFilter:
		out["finishReason"] = "content-filter"
	}
	return out
}

// output returns the chunk for a response: its only member result, its only member
// error as an error, or all of it.
func output(callID string, value json.RawMessage) Chunk {
	c := Chunk{"type": "tool-output-available", "toolCallId": callID, "dynamic": true, "output": json.RawMessage("{}")}
	if jsonx.IsNull(value) {
		return c
	}
	c["output"] = value
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil || len(members) != 1 {
		return c
	}
	var text string
	switch {
	case members["result"] != nil:
		c["output"] = members["result"]
	case !jsonx.IsNull(members["error"]) && json.Unmarshal(members["error"], &text) == nil:
		return Chunk{"type": "tool-output-error", "toolCallId": callID, "dynamic": true, "errorText": text}
	}
	return c
}

func artifacts(e session.Event) []Chunk {
	if len(e.ArtifactDelta) == 0 {
		return nil
	}
	return []Chunk{{"type": DataArtifacts, "id": e.ID, "data": e.ArtifactDelta}}
}
