package a2a

import (
	"context"
	"errors"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/a2a/convert"
)

// forkLink is the link of the task that has a fork's own id: what the fork took
// over, completed (seed 004). It is nowhere stored, so that a fork costs the
// same whether its agent speaks A2A or not. fault.NotFound where the id is of no
// fork that the caller may do that with.
func (h *handler) forkLink(ctx context.Context, id string, a access.Action) (task.Link, error) {
	if fault.CheckID("id", id) != nil {
		return task.Link{}, fault.Missing("Task")
	}
	of, err := h.enter(ctx, id, a)
	if isMissing(err) || isNotYours(err) { // alike: whose a session is, no task tells
		return task.Link{}, fault.Missing("Task")
	}
	if err != nil {
		return task.Link{}, err
	}
	merged, ok := h.merged(of)
	if !ok {
		return task.Link{}, fault.Missing("Task")
	}
	return merged, nil
}

// merged is the task that a fork took over; false for another session.
func (h *handler) merged(of session.Session) (task.Link, bool) {
	if of.Fork == nil || of.Agent != "" && of.Agent != h.agent {
		return task.Link{}, false
	}
	return task.Link{
		TaskID: of.ID, UserID: of.UserID, SessionID: of.ID, Agent: h.agent, CreatedTime: of.CreatedTime,
	}, true
}

// links are the tasks of this agent that the caller may read, the newest first:
// those of a context, whoever began them, or all of the caller's but what forks
// took over.
func (h *handler) links(ctx context.Context, contextID string) ([]task.Link, error) {
	if contextID == "" {
		links, err := h.userLinks(ctx, callerOf(ctx).user, "")
		if err != nil {
			return nil, err
		}
		return h.open(ctx, links)
	}
	if err := fault.CheckID("contextId", contextID); err != nil {
		return nil, err
	}
	of, err := h.enter(ctx, contextID, access.ReadTasks)
	if errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	links, err := h.userLinks(ctx, of.UserID, contextID)
	if err != nil {
		return nil, err
	}
	isFork := func(l task.Link) bool { return l.TaskID == contextID }
	if merged, ok := h.merged(of); ok && !slices.ContainsFunc(links, isFork) {
		links = append(links, merged) // the oldest
	}
	return links, nil
}

// userLinks are a user's tasks of this agent, in a context or in all.
func (h *handler) userLinks(ctx context.Context, user, contextID string) ([]task.Link, error) {
	all, err := h.Links.UserLinks(ctx, user)
	return slices.DeleteFunc(all, func(l task.Link) bool {
		return l.Agent != h.agent || contextID != "" && l.SessionID != contextID
	}), err
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
