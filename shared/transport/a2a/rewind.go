package a2a

import (
	"context"
	"errors"
	"fmt"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
)

// rewindOf returns the invocation before which a message asks to rewind.
func rewindOf(m *lib.Message) (before string, ok bool) {
	value, ok := m.Metadata[a2aconvert.RewindKey]
	if !ok {
		return "", false
	}
	before, _ = value.(string)
	return before, true
}

// rewind rewinds a session and answers with one completed task whose history is
// the session's remaining content (seed 000). The agent is not called. An error
// is returned as a failed task.
func (h *handler) rewind(ctx context.Context, m *lib.Message, before string) *lib.Task {
	t, err := h.tryRewind(ctx, m, before)
	if err == nil {
		return t
	}
	reason := "Internal error."
	var f *fault.Error
	if errors.As(err, &f) {
		reason = f.Detail
		if isNotYours(err) { // the same error as for an unknown session
			reason = fault.Missing("Session").Detail
		}
	} else {
		h.Log.ErrorContext(ctx, "rewind a session", "session_id", m.ContextID, "error", err)
	}
	now := h.Now().UTC()
	failed := &lib.Task{ID: lib.TaskID(h.NewID()), ContextID: m.ContextID, Status: lib.TaskStatus{
		State: lib.TaskStateFailed, Timestamp: &now,
	}}
	failed.Status.Message = &lib.Message{
		ID: h.NewID(), Role: lib.MessageRoleAgent, ContextID: m.ContextID, TaskID: failed.ID,
		Parts:    lib.ContentParts{lib.NewTextPart("The rewind failed: " + reason)},
		Metadata: map[string]any{a2aconvert.RewindKey: before},
	}
	return failed
}

func (h *handler) tryRewind(ctx context.Context, m *lib.Message, before string) (*lib.Task, error) {
	if err := ids.Check("message.contextId", m.ContextID); err != nil {
		return nil, err
	}
	if err := ids.Check("message.metadata."+a2aconvert.RewindKey, before); err != nil {
		return nil, err
	}
	done, err := h.Rewind(ctx, m.ContextID, before, false)
	if err != nil {
		return nil, err
	}
	events, err := session.ReadEffective(ctx, h.Sessions, done.Owner, m.ContextID, 0)
	if err != nil {
		return nil, err
	}
	at := time.UnixMilli(done.Event.CreatedTime).UTC()
	t := &lib.Task{
		// A session has one such task, so a client that reads its tasks later
		// finds the latest, however often it was rewound.
		ID: lib.TaskID(m.ContextID), ContextID: m.ContextID,
		Status:   lib.TaskStatus{State: lib.TaskStateCompleted, Timestamp: &at},
		History:  a2aconvert.History(m.ContextID, events),
		Metadata: map[string]any{a2aconvert.InvocationKey: done.Event.InvocationID, a2aconvert.RewindKey: before},
	}
	if err := h.save(ctx, done.Owner, t); err != nil {
		return nil, fmt.Errorf("the session was rewound, but the task is not saved: %w", err)
	}
	return t, nil
}

// save stores a task as a whole, in the form of version 0.3.
func (h *handler) save(ctx context.Context, owner string, t *lib.Task) error {
	raw, err := jsonx.Marshal(a2av0.FromV1Task(t))
	if err != nil {
		return fmt.Errorf("write the task: %w", err)
	}
	saved, err := task.FromA2A(raw)
	if err != nil {
		return err
	}
	saved.UserID = owner
	if len(saved.Invocations) == 0 {
		// The position of an invocation may belong to a hidden one. A new id
		// gives the task a position of its own at the end of the log.
		saved.Invocations = []string{h.NewID()}
	}
	if _, _, err := h.Tasks.Save(ctx, saved); err != nil {
		return err
	}
	link := task.Link{
		TaskID: saved.Task.ID, UserID: owner, SessionID: saved.SessionID, Agent: h.agent,
		CreatedTime: h.Now().UnixMilli(),
	}
	return h.Links.AddLink(ctx, link, owner)
}
