package a2a

import (
	"context"
	"errors"
	"slices"

	"github.com/rethread/rethread/shared/a2a/convert"
	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/task"
)

// forkLink is the link of the task that has a fork's own id: what the fork took
// over, completed (seed 004). It is nowhere stored, so that a fork costs the
// same whether its agent speaks A2A or not. fault.NotFound where the id is of no
// fork of the caller's.
func (h *handler) forkLink(ctx context.Context, id string) (task.Link, error) {
	if fault.CheckID("id", id) != nil {
		return task.Link{}, fault.Missing("Task")
	}
	user := callerOf(ctx).user
	of, err := h.Sessions.Get(ctx, user, id)
	if err == nil && (of.Fork == nil || of.Agent != "" && of.Agent != h.agent) {
		err = fault.Missing("Task")
	}
	if err != nil {
		return task.Link{}, err
	}
	return task.Link{TaskID: id, UserID: user, SessionID: id, Agent: h.agent, CreatedTime: of.CreatedTime}, nil
}

// links are the tasks of the caller's and of this agent, the newest first: those
// of a context, or all but what forks took over.
func (h *handler) links(ctx context.Context, contextID string) ([]task.Link, error) {
	all, err := h.Links.UserLinks(ctx, callerOf(ctx).user)
	if err != nil {
		return nil, err
	}
	links := slices.DeleteFunc(all, func(l task.Link) bool {
		return l.Agent != h.agent || contextID != "" && l.SessionID != contextID
	})
	isFork := func(l task.Link) bool { return l.TaskID == contextID }
	if contextID == "" || slices.ContainsFunc(links, isFork) {
		return links, nil
	}
	merged, err := h.forkLink(ctx, contextID)
	if err == nil {
		return append(links, merged), nil // the oldest
	}
	if errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden)) {
		err = nil // it is no fork of the caller's
	}
	return links, err
}

// asForkShows is a task that was saved as a whole as a list of its session's
// tasks has it: in a fork, the one with its id is all that the fork took over.
// nil for any other.
func (h *handler) asForkShows(ctx context.Context, link task.Link) (*task.A2A, error) {
	if link.TaskID != link.SessionID {
		return nil, nil
	}
	of, err := h.Sessions.Get(ctx, link.UserID, link.SessionID)
	if err != nil || of.Fork == nil {
		return nil, err
	}
	tasks, err := h.reader().SessionTasks(ctx, of)
	if err != nil {
		return nil, err
	}
	return &tasks[0], nil
}

func (h *handler) reader() convert.Reader {
	return convert.Reader{Sessions: h.Sessions, Tasks: h.Tasks}
}
