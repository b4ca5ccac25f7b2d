package a2a

import (
	"context"
	"errors"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
	"github.com/rethread/rethread/shared/transport/cursor"
	"github.com/rethread/rethread/shared/transport/gateway"
)

const (
	defaultPage = 50
	maxPage     = 100
)

// handler implements the protocol's methods for one agent. It implements
// a2a-go's RequestHandler rather than an executor below a2a-go's own, because
// runs already have a queue, leases and a log with fencing in the table.
type handler struct {
	*server

	agent string
}

// GetTask implements a2asrv.RequestHandler.
func (h *handler) GetTask(ctx context.Context, req *lib.GetTaskRequest) (*lib.Task, error) {
	if err := checkLength(req.HistoryLength); err != nil {
		return nil, err
	}
	link, err := h.link(ctx, req.ID, access.ReadTasks)
	if err != nil {
		return nil, err
	}
	t, err := h.load(ctx, link)
	if err == nil {
		err = h.recheck(ctx, link, access.ReadTasks)
	}
	if err != nil {
		return nil, err
	}
	a2aconvert.Shorten(t, req.HistoryLength)
	return t, nil
}

func checkLength(length *int) error {
	if length != nil && *length < 0 {
		return lib.NewError(lib.ErrInvalidParams, "historyLength must not be negative")
	}
	return nil
}

// link finds a task of this agent if the caller may do the action with its
// session.
func (h *handler) link(ctx context.Context, id lib.TaskID, a access.Action) (task.Link, error) {
	if id == "" {
		return task.Link{}, lib.NewError(lib.ErrInvalidParams, "a task must be named")
	}
	if err := ids.Check("id", string(id)); err != nil {
		return task.Link{}, lib.ErrTaskNotFound
	}
	var link task.Link
	_, _, err := h.Gate.FindTask(ctx, access.CallerOf(ctx), a, func(user string) (access.Location, error) {
		var err error
		link, err = h.Links.Link(ctx, user, string(id))
		return access.Location{Owner: link.UserID, SessionID: link.SessionID}, err
	})
	if err = contextError(err); errors.Is(err, fault.Of(fault.NotFound)) {
		link, err = h.forkLink(ctx, string(id), a)
	}
	if err == nil && link.Agent != h.agent {
		err = lib.ErrTaskNotFound
	}
	return link, err
}

// ListTasks implements a2asrv.RequestHandler. Tasks are ordered by their
// beginning, newest first, without those that a rewind hides. Whether a task is
// listed shows only when it is read, so the total counts the tasks that are not
// left out so far.
func (h *handler) ListTasks(ctx context.Context, req *lib.ListTasksRequest) (*lib.ListTasksResponse, error) {
	size, err := pageSize(req)
	if err != nil {
		return nil, err
	}
	list := cursor.List{access.CallerOf(ctx).UserID, "a2a tasks", h.agent, req.ContextID}
	var after taskPosition
	if list.Decode(req.PageToken, &after) != nil {
		return nil, lib.NewError(lib.ErrInvalidParams, "pageToken is none of this list's")
	}
	links, err := h.links(ctx, req.ContextID)
	if err != nil {
		return nil, err
	}
	out := &lib.ListTasksResponse{Tasks: []*lib.Task{}, TotalSize: len(links), PageSize: size}
	var shown []task.Link
	for i, l := range links {
		if req.PageToken != "" && !after.before(l) {
			continue
		}
		if len(out.Tasks) == size {
			out.NextPageToken, err = list.Encode(positionOf(links[i-1]))
			if err != nil {
				return nil, err
			}
			break
		}
		t, events, err := h.loadEvents(ctx, l)
		switch {
		case errors.Is(err, lib.ErrTaskNotFound), errors.Is(err, fault.Of(fault.NotFound)):
			continue // its session is being deleted
		case err != nil:
			return nil, err
		}
		if rewound := len(l.Runs) > 0 && len(events) == 0; rewound || !wanted(t, req) {
			out.TotalSize--
			continue
		}
		a2aconvert.Shorten(t, req.HistoryLength)
		if !req.IncludeArtifacts {
			t.Artifacts = nil
		}
		out.Tasks, shown = append(out.Tasks, t), append(shown, l)
	}
	if err := h.dropUnreadable(ctx, out, shown); err != nil {
		return nil, err
	}
	out.PageSize = len(out.Tasks)
	return out, nil
}

func pageSize(req *lib.ListTasksRequest) (size int, err error) {
	if err := checkLength(req.HistoryLength); err != nil {
		return 0, err
	}
	switch size = req.PageSize; {
	case size == 0:
		return defaultPage, nil
	case size < 0 || size > maxPage:
		return 0, lib.NewError(lib.ErrInvalidParams, "pageSize must be 1 to 100")
	}
	return size, nil
}

// taskPosition is a task's place in the list, which begins with the newest: it stays where
// it is when others begin or go.
type taskPosition struct {
	Created int64  `json:"t"`
	TaskID  string `json:"id"`
}

func positionOf(l task.Link) taskPosition { return taskPosition{l.CreatedTime, l.TaskID} }

// before reports whether a task comes after the position.
func (p taskPosition) before(l task.Link) bool {
	return l.CreatedTime < p.Created || l.CreatedTime == p.Created && l.TaskID < p.TaskID
}

func wanted(t *lib.Task, req *lib.ListTasksRequest) bool {
	if req.Status != lib.TaskStateUnspecified && t.Status.State != req.Status {
		return false
	}
	after := req.StatusTimestampAfter
	return after == nil || t.Status.Timestamp != nil && t.Status.Timestamp.After(*after)
}

// CancelTask implements a2asrv.RequestHandler.
func (h *handler) CancelTask(ctx context.Context, req *lib.CancelTaskRequest) (*lib.Task, error) {
	link, err := h.link(ctx, req.ID, access.CancelRun)
	if err != nil {
		return nil, err
	}
	t, err := h.load(ctx, link)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Status.State.Terminal():
		return nil, lib.NewError(lib.ErrTaskNotCancelable, "the task is over")
	case t.Status.State == lib.TaskStateInputRequired:
		link.CancelledTime = h.Now().UnixMilli()
		if err := h.Links.CancelLink(ctx, link.UserID, link.TaskID, link.CancelledTime); err != nil {
			return nil, err
		}
	default:
		r, err := h.Runs.CancelAs(ctx, lastRun(link), "")
		if err != nil {
			return nil, err
		}
		if r.Status != run.Cancelled {
			return nil, lib.NewError(lib.ErrTaskNotCancelable, "the task is over")
		}
	}
	return h.load(ctx, link)
}

// lastRun returns the last run of a task.
func lastRun(l task.Link) run.Ref {
	return run.Ref{UserID: l.UserID, SessionID: l.SessionID, RunID: l.Runs[len(l.Runs)-1]}
}

// GetExtendedAgentCard implements a2asrv.RequestHandler.
func (h *handler) GetExtendedAgentCard(ctx context.Context, _ *lib.GetExtendedAgentCardRequest) (*lib.AgentCard, error) {
	return newExtendedCard(gateway.Base(ctx), h.agent, h.Push != nil), nil
}
