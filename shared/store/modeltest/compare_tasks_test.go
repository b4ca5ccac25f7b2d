package modeltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/task"
)

// tasks compares the list of tasks; tasks with the same position may be in any
// order.
func (r *reader) tasks(ctx context.Context, c *conv) (string, error) {
	got, err := r.readTasks(ctx, c)
	if err != nil {
		return "", err
	}
	visible := c.visible()
	want, have := map[string][]any{}, map[string][]any{}
	place := map[string]int{}
	for _, t := range visible {
		text := string(mustJSON(t.text))
		var bubbles any
		if err := json.Unmarshal(bubblesJSON(t.shown(c, c.now)), &bubbles); err != nil {
			return "", err
		}
		want[text] = []any{c.id, bubbles}
		place[text] = slices.Index(c.log, t.place)
	}
	for _, t := range got {
		var bubbles any
		if err := json.Unmarshal(t.Bubbles, &bubbles); err != nil {
			return "", err
		}
		have[string(t.UserMessage)] = []any{t.SessionID, bubbles}
	}
	if d := diff(want, have); d != "" || len(got) != len(visible) {
		return fmt.Sprintf("%d tasks, want %d\n%s", len(got), len(visible), d), nil
	}
	last := -1
	for _, t := range got {
		at := place[string(t.UserMessage)]
		if at < last {
			return fmt.Sprintf("%s of place %d comes after place %d", t.UserMessage, at, last), nil
		}
		last = at
	}
	return r.taskIDs(ctx, c, visible, got)
}

// taskIDs compares ids, and checks that each task read alone equals the one in the
// list.
func (r *reader) taskIDs(ctx context.Context, c *conv, visible []*record, got []task.Task) (string, error) {
	for _, t := range visible {
		i := slices.IndexFunc(got, func(g task.Task) bool { return string(g.UserMessage) == string(mustJSON(t.text)) })
		if t.id == "" && !r.w.ids[got[i].ID] {
			t.id = got[i].ID
			r.w.ids[t.id] = true
		}
		if t.id != got[i].ID {
			return fmt.Sprintf("task %q has the id %q, want %q", t.text, got[i].ID, t.id), nil
		}
		if c != r.closely {
			continue
		}
		alone, err := r.store.Tasks.Task(ctx, c.user, c.id, t.id)
		if err != nil {
			return "", fmt.Errorf("task %s: %w", t.id, err)
		}
		if d := diff(got[i], alone); d != "" {
			return "task read alone: " + d, nil
		}
	}
	for _, t := range c.tasks {
		if t.id == "" || c != r.closely || slices.Contains(visible, t) {
			continue
		}
		if _, err := r.store.Tasks.Task(ctx, c.user, c.id, t.id); !errors.Is(err, fault.Of(fault.NotFound)) {
			return fmt.Sprintf("hidden task %s: %v", t.id, err), nil
		}
	}
	return "", nil
}

func (r *reader) readTasks(ctx context.Context, c *conv) ([]task.Task, error) {
	q := task.Query{SessionID: c.id, UserID: c.user, Limit: r.query(c).Limit}
	var out []task.Task
	for {
		page, err := r.store.Tasks.Tasks(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Tasks...)
		if page.Next == "" {
			return out, nil
		}
		q.After = page.Next
	}
}
