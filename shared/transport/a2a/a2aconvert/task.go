package a2aconvert

import (
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// codeRejected is the error code by which an agent refuses a task.
const codeRejected = "rejected"

// Task builds a task from its last run and the events of all its runs.
func Task(id string, last run.Run, events []session.Event) *a2a.Task {
	t := &a2a.Task{
		ID: a2a.TaskID(id), ContextID: last.SessionID, Status: Status(id, last, events), History: History(id, events),
		Metadata: map[string]any{InvocationKey: last.ID, adkExtension: map[string]any{"adk_agent_executor_v2": true}},
	}
	for _, e := range events {
		if artifact := Artifact(e); artifact != nil {
			t.Artifacts = append(t.Artifacts, artifact)
		}
	}
	if t.Status.State == a2a.TaskStateInputRequired {
		_, calls := unanswered(last, events)
		for _, m := range t.History {
			markLongRunning(m.Parts, calls)
		}
	}
	return t
}

// History returns the messages of events, oldest first.
func History(taskID string, events []session.Event) []*a2a.Message {
	out := []*a2a.Message{}
	for _, e := range events {
		if m := Message(e, taskID); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// Status returns the status of a task whose last run is given. Its message
// states why the task failed, or what it waits for.
func Status(id string, last run.Run, events []session.Event) a2a.TaskStatus {
	at := last.StartedTime
	if last.EndedTime != nil {
		at = *last.EndedTime
	}
	when := time.UnixMilli(at).UTC()
	out := a2a.TaskStatus{Timestamp: &when}
	switch last.Status {
	case run.InProgress:
		out.State = a2a.TaskStateWorking
	case run.Waiting:
		out.State = a2a.TaskStateSubmitted
	case run.Cancelled:
		out.State = a2a.TaskStateCanceled
	case run.Failed:
		out.State = a2a.TaskStateFailed
		if last.Error != nil {
			if last.Error.Code == codeRejected {
				out.State = a2a.TaskStateRejected
			}
			out.Message = Problem(id, last)
		}
	case run.Completed:
		out.State = a2a.TaskStateCompleted
		if asked, calls := unanswered(last, events); asked != nil {
			out.State, out.Message = a2a.TaskStateInputRequired, Message(*asked, id)
			markLongRunning(out.Message.Parts, calls)
		}
	}
	return out
}

// Problem returns the message that states why a run failed. Its metadata let
// clients of ADK report an error instead of an answer with that text.
func Problem(taskID string, r run.Run) *a2a.Message {
	reason := a2a.NewTextPart(r.Error.Message)
	reason.SetMeta(adkErrorMessage, true)
	return &a2a.Message{
		ID: r.ID + ":problem", ContextID: r.SessionID, TaskID: a2a.TaskID(taskID), Role: a2a.MessageRoleAgent,
		Parts:    a2a.ContentParts{reason},
		Metadata: map[string]any{InvocationKey: r.ID, errorCode: r.Error.Code, adkErrorCode: r.Error.Code},
	}
}

// Shorten keeps the newest length messages of a task's history; nil keeps all.
func Shorten(t *a2a.Task, length *int) {
	switch {
	case length == nil || *length >= len(t.History):
	case *length <= 0:
		t.History = nil
	default:
		t.History = t.History[len(t.History)-*length:]
	}
}
