package a2a

import (
	"context"
	"errors"
	"slices"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/task"
)

// recheck returns an error if the caller may no longer do the action with a task: the
// permission of a guest may have ended since the request or the stream began.
func (h *handler) recheck(ctx context.Context, link task.Link, a access.Action) error {
	err := h.RecheckFor(ctx, link.UserID, link.SessionID, a)
	if isMissing(err) { // another session may have the id now
		return lib.ErrTaskNotFound
	}
	return contextError(err)
}

// onlyReadable drops tasks in sessions that the caller may not read any longer.
func (h *handler) onlyReadable(ctx context.Context, links []task.Link) ([]task.Link, error) {
	readable := map[string]bool{}
	out := links[:0]
	for _, l := range links {
		may, known := readable[l.SessionID]
		switch {
		case l.UserID == access.CallerOf(ctx).UserID:
			may = true
		case !known:
			err := h.recheck(ctx, l, access.ReadTasks)
			if err != nil && !errors.Is(err, lib.ErrTaskNotFound) && !errors.Is(err, lib.ErrUnauthorized) {
				return nil, err
			}
			may = err == nil
			readable[l.SessionID] = may
		}
		if may {
			out = append(out, l)
		}
	}
	return out, nil
}

// dropUnreadable drops from a page the tasks, by their links, that the caller may not read any
// longer: the right of a guest may have ended since the page began.
func (h *handler) dropUnreadable(ctx context.Context, page *lib.ListTasksResponse, shown []task.Link) error {
	still, err := h.onlyReadable(ctx, slices.Clone(shown))
	if err != nil || len(still) == len(shown) {
		return err
	}
	page.TotalSize -= len(shown) - len(still)
	page.Tasks = slices.DeleteFunc(page.Tasks, func(t *lib.Task) bool {
		return !slices.ContainsFunc(still, func(l task.Link) bool { return l.TaskID == string(t.ID) })
	})
	return nil
}

// errOwnerOnly is the error of a guest's call that only owners may make.
func errOwnerOnly(what string) error {
	return lib.NewError(lib.ErrUnauthorized, "the context belongs to somebody else: only its owner can "+what)
}
