package aguiconvert

import (
	"encoding/json"
	"maps"

	"github.com/rethread/rethread/shared/transport/frontend/conversation"
)

// Event is an event of AG-UI, by the names of its members.
type Event map[string]any

// Type returns the type of the event.
func (e Event) Type() string {
	name, _ := e["type"].(string)
	return name
}

// Names of CUSTOM events for what the protocol has no event for.
const (
	// CustomArtifacts has the versions of the artifacts that a step saved, by name.
	CustomArtifacts = "rethread.artifacts"
	// CustomPart has a part of an agent's message that is neither text nor a call,
	// such as a file: {messageId, part}.
	CustomPart = "rethread.part"
)

// RunStarted returns the first event of a stream.
func RunStarted(threadID, runID string) Event {
	return Event{"type": "RUN_STARTED", "threadId": threadID, "runId": runID, "protocolVersion": Version}
}

// RunError returns the last event of a stream whose run failed, or that ends before
// its run. metadata may be nil.
func RunError(code, message string, metadata map[string]any) Event {
	e := Event{"type": "RUN_ERROR", "code": code, "message": message}
	if metadata != nil {
		e["metadata"] = map[string]any{"rethread": metadata}
	}
	return e
}

func runFinished(threadID, runID string, outcome map[string]any) Event {
	return Event{"type": "RUN_FINISHED", "threadId": threadID, "runId": runID, "outcome": outcome}
}

// MessagesSnapshot returns the event with all messages of a thread.
func MessagesSnapshot(messages []Message) Event {
	return Event{"type": "MESSAGES_SNAPSHOT", "messages": messages}
}

func textEvent(name, id string) Event { return Event{"type": "TEXT_MESSAGE_" + name, "messageId": id} }

func reasoningEvent(name, id string) Event {
	return Event{"type": "REASONING_" + name, "messageId": id}
}

func custom(name string, value any) Event {
	return Event{"type": "CUSTOM", "name": name, "value": value}
}

func activitySnapshot(a conversation.ActivityRecord) Event {
	return Event{
		"type": "ACTIVITY_SNAPSHOT", "messageId": a.MessageID, "activityType": a.Type, "content": a.Content, "replace": true,
	}
}

func customPart(id string, part json.RawMessage) Event {
	return custom(CustomPart, map[string]any{"messageId": id, "part": part})
}

func (e Event) with(member string, value any) Event {
	e[member] = value
	return e
}

// ForOld returns the event for clients of versions before 1.0, which refuse the
// outcome cancelled and the calls that wait.
func (e Event) ForOld() Event {
	outcome, _ := e["outcome"].(map[string]any)
	if e.Type() != "RUN_FINISHED" || outcome["type"] == "interrupt" {
		return e
	}
	old := maps.Clone(e)
	delete(old, "outcome")
	return old
}

// result returns the event with the message of a call's response.
func result(of conversation.Message) Event {
	m := messageOf(of)
	return Event{"type": "TOOL_CALL_RESULT", "messageId": m.ID, "toolCallId": m.ToolCallID, "content": m.Content, "role": m.Role}
}

// Answers returns the events with the answers to calls in a run's input, except those of
// which the reader has a message.
func Answers(t *conversation.Thread, runID string, has map[string]bool) []Event {
	var out []Event
	for _, m := range t.Results(runID) {
		if !has[m.CallID] {
			out = append(out, result(m))
		}
	}
	return out
}
