package convert

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

// placed is a task where a session shows it.
type placed struct {
	task.A2A

	place int64
	taken bool // by a fork from its source
}

// SessionTasks is the tasks of a session in the form of A2A 0.3, oldest first:
// those that were saved, and those that came over A2A and whose messages no
// saved one holds, made of the session's effective events. What a fork took over
// is one completed task, the first (seed 004).
func SessionTasks(of session.Session, saved []task.Task, events []session.Event) ([]task.A2A, error) {
	all, known, err := formSaved(of, saved)
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
		all = append(all, placed{A2A: form, place: first, taken: of.Fork != nil && first <= of.Fork.Taken})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
	taken, own := []task.A2A{}, []task.A2A{}
	for _, t := range all {
		if t.taken {
			taken = append(taken, t.A2A)
		} else {
			own = append(own, t.A2A)
		}
	}
	if of.Fork == nil {
		return own, nil
	}
	merged, err := task.Merge(of.ID, of.CreatedTime, taken)
	return append([]task.A2A{merged}, own...), err
}

// formSaved is the saved tasks, and the invocations that they name.
func formSaved(of session.Session, saved []task.Task) (forms []placed, known map[string]bool, err error) {
	known = map[string]bool{}
	for _, t := range saved {
		form, err := task.ToA2A(t)
		if err != nil {
			return nil, nil, err
		}
		// What a rewind saved under a fork's own id is the merged task as well.
		merged := of.Fork != nil && t.ID == of.ID
		forms = append(forms, placed{A2A: form, place: t.Place, taken: t.TakenOver || merged})
		named, _ := task.Invocations(t.Bubbles) // what is no id names none
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

// groupTasks sorts the events of invocations that came over A2A by their tasks.
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

// toA2A is the task as far as the session tells: how its last run stands
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
