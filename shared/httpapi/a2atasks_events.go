package httpapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/rethread/rethread/shared/a2a/convert"
	"github.com/rethread/rethread/shared/plainjson"
	"github.com/rethread/rethread/shared/run"
	"github.com/rethread/rethread/shared/session"
	"github.com/rethread/rethread/shared/task"
)

// unsavedTasks are the tasks of a session that came over A2A and whose messages
// no saved task holds.
func (a *api) unsavedTasks(c *call, of session.Session, saved []task.Task) ([]task.A2A, error) {
	events, err := a.effectiveEvents(c, of.ID)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, t := range saved {
		named, err := task.Invocations(t.Bubbles)
		if err != nil {
			return nil, err
		}
		known = append(known, named...)
	}
	var out []task.A2A
	for _, g := range groupTasks(events) {
		if slices.ContainsFunc(g.invocations, func(id string) bool { return slices.Contains(known, id) }) {
			continue
		}
		one, err := g.toA2A(of)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (a *api) effectiveEvents(c *call, id string) ([]session.Event, error) {
	var all []session.Event
	q := session.EventQuery{View: session.Effective, Limit: session.MaxPage}
	for {
		page, err := a.Sessions.Events(c.Context(), c.user, id, q)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Events...)
		if page.Next == nil {
			return all, nil
		}
		q.Resume = *page.Next
	}
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
		if id := convert.TaskOf(e); id != "" && byInvocation[e.InvocationID] == nil {
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
	whole := convert.Task(g.id, last, g.events)
	old := a2av0.FromV1Task(whole)
	out := task.A2A{
		Kind: "task", ID: g.id, ContextID: of.ID, History: []json.RawMessage{},
		Status: task.A2AStatus{
			State: string(old.Status.State), Timestamp: time.UnixMilli(last.StartedTime).UTC().Format(time.RFC3339Nano),
		},
	}
	for _, m := range old.History {
		raw, err := plainjson.Marshal(m)
		if err != nil {
			return out, fmt.Errorf("write a message of task %s: %w", g.id, err)
		}
		out.History = append(out.History, raw)
	}
	if len(old.Artifacts) == 0 {
		return out, nil
	}
	var err error
	if out.Artifacts, err = plainjson.Marshal(old.Artifacts); err != nil {
		return out, fmt.Errorf("write the artifacts of task %s: %w", g.id, err)
	}
	return out, nil
}
