package cost

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/domain/task"
)

// tasks measures in a session of its own: the price of a task does not depend
// on how many there are, which loading 50 shows.
func (m *measurement) tasks(ctx context.Context) error {
	if err := m.create(ctx, "tasks"); err != nil {
		return err
	}
	if err := m.measure("save a new task of 2 KB", 0, 0, func() error { return m.saveTask(ctx, 0, "pending") }); err != nil {
		return err
	}
	for n := range 49 {
		if err := m.saveTask(ctx, n+1, "pending"); err != nil {
			return err
		}
	}
	return m.measureAll(
		step{"save an update of a task of 2 KB", 0, 4, func() error { return m.saveTask(ctx, 20, "completed") }},
		step{"load 50 tasks of 2 KB", 15, 0, func() error {
			page, err := m.store.Tasks.Tasks(ctx, task.Query{SessionID: m.session, UserID: m.user})
			if err == nil && len(page.Tasks) != 50 {
				return fmt.Errorf("loaded %d tasks of 50", len(page.Tasks))
			}
			return err
		}},
	)
}

func (m *measurement) saveTask(ctx context.Context, n int, status string) error {
	ask, reply := m.question(n), m.prose(n+1000, 1250)
	bubbles, err := json.Marshal([]any{
		map[string]any{"id": fmt.Sprintf("msg-user-%03d", n), "type": "user", "text": ask},
		map[string]any{
			"id": fmt.Sprintf("msg-agent-%03d", n), "type": "agent", "text": reply,
			"parts": []any{map[string]any{"kind": "file", "file": map[string]any{"uri": "https://example.com/" + m.session}}},
		},
	})
	if err != nil {
		return err
	}
	message, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	_, _, err = m.store.Tasks.Save(ctx, task.Save{SessionID: m.session, UserID: m.user, Task: task.Task{
		ID: fmt.Sprintf("gdk-task-%06d", n), UserMessage: message, Bubbles: bubbles,
		Metadata: json.RawMessage(fmt.Sprintf(`{"status":%q,"agent_name":"assistant"}`, status)),
	}})
	return err
}
