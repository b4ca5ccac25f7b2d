package a2a

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/transport/a2a/convert"
)

// settleTime is how long reading a task may take after its follower's time is
// up, or ending a run that no worker could be had for.
const settleTime = 5 * time.Second

// SendMessage implements a2asrv.RequestHandler.
func (h *handler) SendMessage(ctx context.Context, req *lib.SendMessageRequest) (lib.SendMessageResult, error) {
	if err := h.checkSend(ctx, req); err != nil {
		return nil, err
	}
	if before, ok := rewindOf(req.Message); ok {
		return h.rewind(ctx, req.Message, before), nil
	}
	link, err := h.beginAndWait(ctx, req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	t, events, err := h.loadEvents(ctx, link)
	if err != nil {
		return nil, err
	}
	if reply := convert.Reply(events); reply != nil && t.Status.State == lib.TaskStateCompleted {
		return reply, nil
	}
	if req.Config != nil {
		convert.Shorten(t, req.Config.HistoryLength)
	}
	return t, nil
}

// beginAndWait is begin, and waits for the run's end where the caller wants to:
// that holds a function like a stream, and so takes a place among them.
func (h *handler) beginAndWait(ctx context.Context, req *lib.SendMessageRequest) (link task.Link, err error) {
	if req.Config != nil && req.Config.ReturnImmediately {
		return h.begin(ctx, req)
	}
	full := h.whileCounted(ctx, func(ctx context.Context) {
		if link, err = h.begin(ctx, req); err != nil {
			return
		}
		// Whose time is up gets the task as it stands.
		if failed := h.follow(ctx, link, func([]session.Event) bool { return true }); ctx.Err() == nil {
			err = failed
		}
	})
	return link, errors.Join(full, err)
}

// SendStreamingMessage implements a2asrv.RequestHandler.
func (h *handler) SendStreamingMessage(ctx context.Context, req *lib.SendMessageRequest) iter.Seq2[lib.Event, error] {
	return func(yield func(lib.Event, error) bool) {
		if err := h.checkSend(ctx, req); err != nil {
			yield(nil, err)
			return
		}
		if before, ok := rewindOf(req.Message); ok {
			yield(h.rewind(ctx, req.Message, before), nil)
			return
		}
		err := h.whileCounted(ctx, func(ctx context.Context) {
			link, err := h.begin(ctx, req)
			if err != nil {
				yield(nil, err)
				return
			}
			h.stream(ctx, link, yield)
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// checkSend says what is wrong with a request to send a message.
func (h *handler) checkSend(ctx context.Context, req *lib.SendMessageRequest) error {
	m := req.Message
	switch {
	case m == nil:
		return lib.NewError(lib.ErrInvalidParams, "message is required")
	case m.ID == "":
		return lib.NewError(lib.ErrInvalidParams, "message.messageId is required")
	case m.Role != lib.MessageRoleUser:
		return lib.NewError(lib.ErrInvalidParams, "message.role must be the user's")
	case len(m.Parts) == 0:
		return lib.NewError(lib.ErrInvalidParams, "message.parts must not be empty")
	}
	if m.ContextID != "" {
		if err := fault.CheckID("/message/contextId", m.ContextID); err != nil {
			return err
		}
	}
	if req.Config != nil {
		if err := h.checkPush(ctx, req.Config.PushConfig); err != nil {
			return err
		}
		if err := checkLength(req.Config.HistoryLength); err != nil {
			return err
		}
	}
	return checkModes(m)
}

// begin starts a run with the message and hands it to a worker. A message that
// names a task answers what its agent asked; any other begins a task.
func (h *handler) begin(ctx context.Context, req *lib.SendMessageRequest) (task.Link, error) {
	link := task.Link{TaskID: h.NewID(), SessionID: req.Message.ContextID, Agent: h.agent}
	runID := link.TaskID
	if id := req.Message.TaskID; id != "" {
		var err error
		if link, err = h.waiting(ctx, req.Message); err != nil {
			return link, err
		}
		runID = h.NewID()
	} else {
		s, err := h.context(ctx, req.Message.ContextID)
		if err != nil {
			return link, err
		}
		link.UserID, link.SessionID, link.After, link.CreatedTime = s.UserID, s.ID, s.HeadSeq, h.Now().UnixMilli()
	}
	input, err := convert.Event(req.Message, link.TaskID)
	if err != nil {
		return link, err
	}
	ref := run.Ref{UserID: link.UserID, SessionID: link.SessionID, RunID: runID}
	input.InvocationID = runID
	undo, err := h.expectPush(ctx, link, runID, req)
	if err != nil {
		return link, err
	}
	logs.Add(ctx, slog.String(logs.SessionID, ref.SessionID), slog.String(logs.RunID, ref.RunID))
	started, err := h.Runs.Start(ctx, run.Start{
		Ref: ref, Agent: h.agent, Mode: run.Managed, Input: []session.Event{input},
		OnActive: run.Reject, OnFailed: run.Discard,
	})
	if err != nil {
		undo()
		h.unmake(ctx, req.Message, link, err)
		return link, fmt.Errorf("start a task: %w", err)
	}
	if err := h.hand(ctx, &link, started, ref); err != nil {
		h.abandon(ctx, ref, err)
		return link, lib.NewError(lib.ErrServerError, "the task could not be handed to a worker; try again")
	}
	return link, nil
}

// hand remembers the run as the task's and gives it to a worker.
func (h *handler) hand(ctx context.Context, link *task.Link, started run.Run, ref run.Ref) error {
	known := len(link.Runs) > 0
	link.Runs = append(link.Runs, ref.RunID)
	var err error
	if known {
		err = h.Links.ExtendLink(ctx, link.UserID, link.TaskID, ref.RunID)
	} else {
		err = h.Links.AddLink(ctx, *link, callerOf(ctx).user)
	}
	if err != nil || started.Status.Over() {
		return err
	}
	return h.StartRun(ctx, ref)
}

// abandon ends a run that no worker could be had for.
func (h *handler) abandon(ctx context.Context, ref run.Ref, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	h.Log.ErrorContext(ctx, "no worker for a task", "error", cause)
	problem := run.NewProblem(run.CodeStart, "The run could not be handed to a worker.")
	if _, err := h.Runs.End(ctx, ref, run.Failed, problem); err != nil && !errors.Is(err, fault.Of(fault.Conflict)) {
		h.Log.ErrorContext(ctx, "end a run that has no worker; its lease will", "error", err)
	}
}

// waiting is the task that a message goes on with: one that waits for it.
func (h *handler) waiting(ctx context.Context, m *lib.Message) (task.Link, error) {
	link, err := h.link(ctx, m.TaskID, access.StartRun)
	if err != nil {
		return link, err
	}
	if m.ContextID != "" && m.ContextID != link.SessionID {
		return link, lib.NewError(lib.ErrInvalidParams, "message.contextId is not the task's")
	}
	t, err := h.load(ctx, link)
	switch {
	case err != nil:
		return link, err
	case t.Status.State.Terminal():
		return link, lib.NewError(lib.ErrUnsupportedOperation, "the task is over: begin another one in its context")
	case t.Status.State != lib.TaskStateInputRequired:
		return link, lib.NewError(lib.ErrUnsupportedOperation, "the task is at work and waits for no message")
	}
	return link, nil
}

// context is the session of a context, which is made where there is none.
func (h *handler) context(ctx context.Context, id string) (session.Session, error) {
	user := callerOf(ctx).user
	if id != "" {
		s, err := h.enter(ctx, id, access.StartRun)
		if !errors.Is(err, fault.Of(fault.NotFound)) {
			return s, ofContext(err)
		}
	} else {
		id = h.NewID()
	}
	fresh := session.New{ID: id, UserID: user, Agent: h.agent, Nonce: h.NewID()}
	if err := fresh.Validate(); err != nil {
		return session.Session{}, err
	}
	s, err := h.Sessions.Create(ctx, fresh)
	if errors.Is(err, fault.Of(fault.Conflict)) { // somebody was faster
		s, err = h.enter(ctx, id, access.StartRun)
	}
	return s, ofContext(err)
}

// unmake removes a context that was made for a task whose start was refused
// because its user has too much already: asked again, there will be another.
func (h *handler) unmake(ctx context.Context, m *lib.Message, link task.Link, cause error) {
	if m.ContextID != "" || m.TaskID != "" || !errors.Is(cause, fault.Of(fault.Busy)) {
		return
	}
	err := h.Sessions.Delete(ctx, link.UserID, link.SessionID)
	if err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
		h.Log.WarnContext(ctx, "the context of a refused task stays", "session_id", link.SessionID, "error", err)
	}
}

// ofContext says whose fault it is that a context cannot be used: it is no task
// that is missing.
func ofContext(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Forbidden {
		return err
	}
	if isNotYours(err) {
		return lib.NewError(lib.ErrUnauthorized, "the context belongs to somebody else")
	}
	return lib.NewError(lib.ErrUnauthorized, f.Detail)
}
