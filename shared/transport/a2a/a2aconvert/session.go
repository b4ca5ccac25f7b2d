package a2aconvert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

// positioned is a task and its position in a session.
type positioned struct {
	task.A2A

	position   int64
	fromSource bool // copied by a fork
}

// SessionTasks returns the tasks of a session in the form of A2A 0.3, oldest
// first: saved tasks, and tasks built from the effective events of invocations
// over A2A that no saved task contains. What a fork copied is one completed
// task, the first (seed 004).
func SessionTasks(of session.Session, saved []task.Task, events []session.Event) ([]task.A2A, error) {
	all, known, err := convertSaved(of, saved)
	if err != nil {
		return nil, err
	}
	for _, g := range groupTasks(events) {
		if slices.ContainsFunc(g.invocations, func(id string) bool { return known[id] }) {
			continue
		}
		form, err := g.toA2A(of)
		if err != nil {
			return nil, err
		}
		first := g.events[0].Seq
		all = append(all, positioned{A2A: form, position: first, fromSource: of.Fork != nil && first <= of.Fork.Taken})
	}
	slices.SortStableFunc(all, func(a, b positioned) int { return cmp.Compare(a.position, b.position) })
	copied, own := []task.A2A{}, []task.A2A{}
	for _, t := range all {
		if t.fromSource {
			copied = append(copied, t.A2A)
		} else {
			own = append(own, t.A2A)
		}
	}
	if of.Fork == nil {
		return own, nil
	}
	merged, err := task.Merge(of.ID, of.CreatedTime, copied)
	return append([]task.A2A{merged}, own...), err
}

// convertSaved returns the saved tasks and the invocations that they name.
func convertSaved(of session.Session, saved []task.Task) (forms []positioned, known map[string]bool, err error) {
	known = map[string]bool{}
	for _, t := range saved {
		form, err := task.ToA2A(t)
		if err != nil {
			return nil, nil, err
		}
		// A task that a rewind saved under a fork's id belongs to the merged task.
		merged := of.Fork != nil && t.ID == of.ID
		forms = append(forms, positioned{A2A: form, position: t.Place, fromSource: t.TakenOver || merged})
		named, _ := task.Invocations(t.Bubbles) // invalid ids name no invocation
		for _, id := range named {
			known[id] = true
		}
	}
	return forms, known, nil
}

// taskGroup is the events of one A2A task.
type taskGroup struct {
	id          string
	invocations []string
	events      []session.Event
}

// groupTasks groups the events of invocations over A2A by task.
func groupTasks(events []session.Event) []*taskGroup {
	var groups []*taskGroup
	byTask, byInvocation := map[string]*taskGroup{}, map[string]*taskGroup{}
	for _, e := range events {
		if id := TaskOf(e); id != "" && byInvocation[e.InvocationID] == nil {
			if byTask[id] == nil {
				byTask[id] = &taskGroup{id: id}
				groups = append(groups, byTask[id])
			}
			byTask[id].invocations = append(byTask[id].invocations, e.InvocationID)
			byInvocation[e.InvocationID] = byTask[id]
		}
		if g := byInvocation[e.InvocationID]; g != nil {
			g.events = append(g.events, e)
		}
	}
	return groups
}

// toA2A builds the task from the session alone: the state of its last run
// follows from the session's status.
func (g *taskGroup) toA2A(of session.Session) (task.A2A, error) {
	last := run.Run{ID: g.invocations[len(g.invocations)-1], SessionID: of.ID, Status: run.Completed}
	newest := g.events[len(g.events)-1]
	last.StartedTime = newest.CreatedTime
	switch {
	case of.ActiveRunID != nil && *of.ActiveRunID == last.ID:
		last.Status = run.InProgress
	case newest.Status == session.EventFailed, of.Status == session.Failed && newest.Seq >= of.HeadSeq-1:
		last.Status = run.Failed
	}
	raw, err := jsonx.Marshal(a2av0.FromV1Task(Task(g.id, last, g.events)))
	if err != nil {
		return task.A2A{}, fmt.Errorf("write task %s: %w", g.id, err)
	}
	var out task.A2A
	if err := json.Unmarshal(raw, &out); err != nil {
		return task.A2A{}, fmt.Errorf("write task %s: %w", g.id, err)
	}
	if out.History == nil {
		out.History = []json.RawMessage{}
	}
	return out, nil
}
