package modeltest_test

import (
	"encoding/json"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

// record is a task of the model. Its text is unique in its session.
type record struct {
	id      string // "" for a copy that was not read yet
	text    string
	bubbles []bubble
	place   *entry
}

// bubble is one message; invocation "" names none.
type bubble struct{ text, invocation string }

func (b bubble) json() map[string]any {
	out := map[string]any{"id": b.text, "type": "agent", "text": b.text}
	if b.invocation != "" {
		out["metadata"] = map[string]any{"kagent_invocation_id": b.invocation}
	}
	return out
}

func bubblesJSON(bubbles []bubble) json.RawMessage {
	list := []any{}
	for _, b := range bubbles {
		list = append(list, b.json())
	}
	return mustJSON(list)
}

// saving returns the task as a caller saves it.
func (r *record) saving(c *conv) (task.Save, error) {
	t := task.Task{ID: r.id, UserMessage: mustJSON(r.text), Bubbles: bubblesJSON(r.bubbles), Metadata: json.RawMessage(`{}`)}
	invocations, err := task.Invocations(t.Bubbles)
	return task.Save{SessionID: c.id, UserID: c.user, Task: t, Invocations: invocations}, err
}

func (c *conv) task(id string) *record {
	i := slices.IndexFunc(c.tasks, func(t *record) bool { return t.id == id })
	if i < 0 {
		return nil
	}
	return c.tasks[i]
}

// save stores a task at its position: that of its first invocation, for which an
// entry is added if the log has none. It reports whether the task was created.
func (w *world) save(c *conv, id, text string, bubbles []bubble, invocations []string) bool {
	t := c.task(id)
	created := t == nil
	if created {
		t = &record{id: id}
		c.tasks = append(c.tasks, t)
		w.ids[id] = true
		if len(invocations) == 0 {
			invocations = []string{id}
		}
	}
	t.text, t.bubbles = text, bubbles
	for _, invocation := range invocations {
		if c.first(invocation) < 0 {
			e := w.add(c, session.Event{InvocationID: invocation, Author: "system", TaskID: id})
			e.placed = t
		}
	}
	if len(invocations) > 0 {
		t.place = c.log[c.first(invocations[0])]
	}
	return created
}

// hides reports whether a snapshot leaves out messages of an invocation.
func (c *conv) hides(s snapshot, invocation string) bool {
	return invocation != "" && !s.shows(c.log[c.first(invocation)])
}

// shown returns the bubbles of a task that a snapshot shows.
func (r *record) shown(c *conv, s snapshot) []bubble {
	return slices.DeleteFunc(slices.Clone(r.bubbles), func(b bubble) bool { return c.hides(s, b.invocation) })
}

// copy returns the task as a fork inherits it.
func (r *record) copy(c *conv, from snapshot, copies map[*entry]*entry) *record {
	twin := &record{text: r.text, bubbles: r.shown(c, from), place: copies[r.place]}
	for original, copied := range copies {
		if original.placed == r {
			copied.placed = twin
		}
	}
	return twin
}

// visible returns the tasks that the session shows, in the order of their
// positions.
func (c *conv) visible() []*record {
	var out []*record
	for _, e := range c.now.view {
		for _, t := range c.tasks {
			if t.place == e {
				out = append(out, t)
			}
		}
	}
	return out
}
