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
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
)

// cleanupTime bounds work after a call's time is up, as reading the task.
const cleanupTime = 5 * time.Second

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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	t, events, err := h.loadEvents(ctx, link)
	if err != nil {
		return nil, err
	}
	if reply := a2aconvert.Reply(events); reply != nil && t.Status.State == lib.TaskStateCompleted {
		return reply, nil
	}
	if req.Config != nil {
		a2aconvert.Shorten(t, req.Config.HistoryLength)
	}
	return t, nil
}

// beginAndWait begins a run and waits for its end, unless the caller wants an
// answer at once. Waiting occupies a function like a stream, and needs a lease
// like one.
func (h *handler) beginAndWait(ctx context.Context, req *lib.SendMessageRequest) (link task.Link, err error) {
	if req.Config != nil && req.Config.ReturnImmediately {
		return h.begin(ctx, req)
	}
	err = h.WithLease(ctx, func(ctx context.Context) (err error) {
		if link, err = h.begin(ctx, req); err != nil {
			return err
		}
		if err = h.follow(ctx, link, func([]session.Event) bool { return true }); ctx.Err() == nil {
			return err
		}
		return nil // the time is up: the caller gets the current task
	})
	return link, err
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
		err := h.WithLease(ctx, func(ctx context.Context) error {
			link, err := h.begin(ctx, req)
			if err == nil {
				h.stream(ctx, link, yield)
			}
			return err
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// checkSend validates a request to send a message.
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
		if err := ids.Check("/message/contextId", m.ContextID); err != nil {
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
// names a task replies to its agent's question; any other begins a task. A
// message that was sent before begins nothing: its task is returned.
func (h *handler) begin(ctx context.Context, req *lib.SendMessageRequest) (task.Link, error) {
	ids, err := h.messageIDs(ctx, req.Message)
	if err != nil {
		return task.Link{}, err
	}
	runID := ids.run
	restoreSent(ctx, req.Message)
	input, err := a2aconvert.Event(req.Message, ids.task)
	if err != nil {
		return task.Link{}, err
	}
	link, err := h.sentBefore(ctx, ids)
	if err != nil || link.TaskID != "" {
		return link, err
	}
	if req.Message.TaskID != "" {
		if link, err = h.waitingTask(ctx, req.Message); err != nil {
			return link, err
		}
	} else {
		s, err := h.ensureContext(ctx, ids.context)
		if err != nil {
			return link, err
		}
		link = task.Link{
			TaskID: ids.task, UserID: s.UserID, SessionID: s.ID, Agent: h.agent, After: s.HeadSeq, CreatedTime: h.Now().UnixMilli(),
		}
	}
	headRead := h.Now().UnixMilli()
	ref := run.Ref{UserID: link.UserID, SessionID: link.SessionID, RunID: runID}
	input.InvocationID = runID
	input = access.CallerOf(ctx).Stamp(input)
	undo, err := h.preparePush(ctx, link, runID, req)
	if err != nil {
		return link, err
	}
	logs.Add(ctx, slog.String(logs.SessionID, ref.SessionID), slog.String(logs.RunID, ref.RunID))
	started, err := h.Runs.Start(ctx, run.Start{
		Ref: ref, Agent: h.agent, Mode: run.Managed, Input: []session.Event{input},
		OnActive: run.Reject,
	})
	if err != nil {
		undo()
		if m := req.Message; m.ContextID == "" && m.TaskID == "" && errors.Is(err, fault.Of(fault.Busy)) {
			h.Discard(ctx, link.UserID, link.SessionID) // the client's next try creates another one
		}
		return link, fmt.Errorf("start a task: %w", err)
	}
	if started.StartedTime <= headRead && len(link.Runs) == 0 { // by another attempt: its input may precede the head
		link.After = max(0, link.After-repeatReach)
	}
	if err := h.dispatch(ctx, &link, started, ref); err != nil {
		run.FailStart(ctx, h.Runs, h.Log, ref, err)
		return link, lib.NewError(lib.ErrServerError, "the task could not be handed to a worker; try again")
	}
	return link, nil
}

// dispatch stores the run in the task's link and hands it to a worker.
func (h *handler) dispatch(ctx context.Context, link *task.Link, started run.Run, ref run.Ref) error {
	known := len(link.Runs) > 0
	link.Runs = append(link.Runs, ref.RunID)
	var err error
	if known {
		err = h.Links.ExtendLink(ctx, link.UserID, link.TaskID, ref.RunID)
	} else {
		err = h.Links.AddLink(ctx, *link, access.CallerOf(ctx).UserID)
	}
	if err != nil || started.Status.Final() {
		return err
	}
	return h.StartRun(ctx, ref)
}

// waitingTask returns the task that a message names, which must be waiting for
// input.
func (h *handler) waitingTask(ctx context.Context, m *lib.Message) (task.Link, error) {
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

// ensureContext returns the session of a context, and creates it if it does not
// exist.
func (h *handler) ensureContext(ctx context.Context, id string) (session.Session, error) {
	user := access.CallerOf(ctx).UserID
	s, _, err := h.ReadSession(ctx, id, access.StartRun)
	if !errors.Is(err, fault.Of(fault.NotFound)) {
		return s, contextError(err)
	}
	if err := ids.CheckNew("/message/contextId", id); err != nil {
		return session.Session{}, err
	}
	fresh := session.New{ID: id, UserID: user, Agent: h.agent, Nonce: h.NewID()}
	s, err = h.Create(ctx, fresh)
	if errors.Is(err, fault.Of(fault.Conflict)) { // created concurrently
		s, _, err = h.ReadSession(ctx, id, access.StartRun)
	}
	return s, contextError(err)
}

// contextError turns fault.Forbidden into the error of a context, because a
// forbidden task is reported as not found.
func contextError(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Forbidden {
		return err
	}
	if isNotYours(err) {
		return lib.NewError(lib.ErrUnauthorized, "the context belongs to somebody else")
	}
	return lib.NewError(lib.ErrUnauthorized, f.Detail)
}
