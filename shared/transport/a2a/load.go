package a2a

import (
	"context"
	"slices"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/transport/a2a/a2aconvert"
)

// load reads the current task.
func (h *handler) load(ctx context.Context, link task.Link) (*lib.Task, error) {
	t, _, err := h.loadEvents(ctx, link)
	return t, err
}

// loadEvents reads the current task and the events that it consists of.
func (h *handler) loadEvents(ctx context.Context, link task.Link) (*lib.Task, []session.Event, error) {
	if len(link.Runs) == 0 {
		t, err := h.loadSaved(ctx, link)
		return t, nil, err
	}
	last, err := h.Runs.Run(ctx, lastRun(link)) // first: a run that is over adds no more events
	if err != nil {
		return nil, nil, err
	}
	events, err := h.events(ctx, link)
	if err != nil {
		return nil, nil, err
	}
	t := a2aconvert.Task(link.TaskID, last, events)
	if link.CancelledTime != 0 && t.Status.State == lib.TaskStateInputRequired {
		when := time.UnixMilli(link.CancelledTime).UTC()
		t.Status = lib.TaskStatus{State: lib.TaskStateCanceled, Timestamp: &when}
	}
	return t, events, nil
}

// events returns the events of a task's runs that are not rewound. They are
// adjacent in the log, with at most a few of other runs between them, so the
// first page without any ends the search.
func (h *handler) events(ctx context.Context, link task.Link) ([]session.Event, error) {
	var out []session.Event
	q := session.EventQuery{View: session.Effective, After: link.After, Limit: session.DefaultPage}
	for page, err := range session.Pages(ctx, h.Sessions, link.UserID, link.SessionID, q) {
		if err != nil {
			return nil, err
		}
		mine := slices.DeleteFunc(page.Events, func(e session.Event) bool {
			return !slices.Contains(link.Runs, e.InvocationID)
		})
		out = append(out, mine...)
		if len(mine) == 0 && len(link.Runs) == 1 {
			break
		}
	}
	return out, nil
}

// loadSaved returns a task that was stored as a whole, or what a fork copied.
func (h *handler) loadSaved(ctx context.Context, link task.Link) (*lib.Task, error) {
	form, err := h.savedInFork(ctx, link)
	if err != nil {
		return nil, err
	}
	if form == nil {
		stored, err := h.Tasks.Task(ctx, link.UserID, link.SessionID, link.TaskID)
		if err != nil {
			return nil, err
		}
		whole, err := task.ToA2A(stored)
		if err != nil {
			return nil, err
		}
		form = &whole
	}
	t, skipped := fromSaved(form)
	if skipped > 0 {
		metrics.Count(ctx, metrics.ItemsSkipped, float64(skipped))
		h.Log.ErrorContext(ctx, "unreadable parts of a task were left out", "task_id", link.TaskID, "parts", skipped)
	}
	return t, nil
}
