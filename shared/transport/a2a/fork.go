package a2a

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
)

// forkLink returns the link of the task with a fork's own id: everything that
// the fork copied, completed (seed 004). It is not stored, so a fork costs the
// same for agents with and without A2A. It returns fault.NotFound unless id is
// a fork for which the caller has the permission.
func (h *handler) forkLink(ctx context.Context, id string, a access.Action) (task.Link, error) {
	if ids.Check("id", id) != nil {
		return task.Link{}, fault.Missing("Task")
	}
	of, _, err := h.ReadSession(ctx, id, a)
	if isMissing(err) || isNotYours(err) { // the same error, which does not reveal that a session exists
		return task.Link{}, fault.Missing("Task")
	}
	if err != nil {
		return task.Link{}, err
	}
	merged, ok := h.mergedLink(of)
	if !ok {
		return task.Link{}, fault.Missing("Task")
	}
	return merged, nil
}

// mergedLink returns the link of the task that a fork copied; false for another
// session.
func (h *handler) mergedLink(of session.Session) (task.Link, bool) {
	if of.Fork == nil || of.Agent != "" && of.Agent != h.agent {
		return task.Link{}, false
	}
	return task.Link{
		TaskID: of.ID, UserID: of.UserID, SessionID: of.ID, Agent: h.agent, CreatedTime: of.CreatedTime,
	}, true
}

// links returns the tasks of this agent that the caller may read, newest first:
// those of a context, whoever began them, or all of the caller's without copies
// in forks.
func (h *handler) links(ctx context.Context, contextID string) ([]task.Link, error) {
	if contextID == "" {
		links, err := h.userLinks(ctx, access.CallerOf(ctx).UserID, "")
		if err != nil {
			return nil, err
		}
		return h.onlyReadable(ctx, links)
	}
	if err := ids.Check("contextId", contextID); err != nil {
		return nil, err
	}
	of, _, err := h.ReadSession(ctx, contextID, access.ReadTasks)
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
	if merged, ok := h.mergedLink(of); ok && !slices.ContainsFunc(links, isFork) {
		links = append(links, merged)
		slices.SortFunc(links, func(a, b task.Link) int {
			return cmp.Or(cmp.Compare(b.CreatedTime, a.CreatedTime), cmp.Compare(b.TaskID, a.TaskID))
		})
	}
	return links, nil
}

// userLinks returns a user's tasks of this agent, in one context or in all.
func (h *handler) userLinks(ctx context.Context, user, contextID string) ([]task.Link, error) {
	all, err := h.Links.UserLinks(ctx, user)
	return slices.DeleteFunc(all, func(l task.Link) bool {
		return l.Agent != h.agent || contextID != "" && l.SessionID != contextID
	}), err
}

// savedInFork returns the merged task of a fork in the form in which it was
// saved; nil if the link is no fork's.
func (h *handler) savedInFork(ctx context.Context, link task.Link) (*task.A2A, error) {
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

func (h *handler) reader() a2aconvert.Reader {
	return a2aconvert.Reader{Sessions: h.Sessions, Tasks: h.Tasks}
}
