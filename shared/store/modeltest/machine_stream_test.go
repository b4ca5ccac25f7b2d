package modeltest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/content"
	threads "github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// TestForksOfRunningSessions streams runs while sessions are forked, and compares the
// forks with copies of everything that was complete: at once, after the item has
// grown and ended, and after any operations on the forks.
func TestForksOfRunningSessions(t *testing.T) {
	t.Parallel()
	const mostSteps = 24
	steps, over := 0, 0
	property.CheckN(t, sequences().least(), func(rt *rapid.T) {
		m := newMachine(rt, storetest.Engine(t))
		for range 3 { // a run, its item, and its deltas
			m.stream(rt)
		}
		m.appendEvents(rt)
		c := m.closely
		last := c.log[len(c.log)-1].event.InvocationID
		m.appendEvents(rt)
		m.forkBefore(rt, c, nil)
		m.forkBefore(rt, c, &last)
		actions := map[string]func(*rapid.T){
			"":                 m.compare,
			"a run continues":  m.stream,
			"an item grows":    m.stream,
			"a run ends":       m.end,
			"append":           m.appendEvents,
			"artifact":         m.saveArtifact,
			"save task":        m.saveTask,
			"fork":             m.fork,
			"fork more":        m.fork,
			"fork of a fork":   m.fork,
			"rewind":           m.rewind,
			"delete a session": m.deleteSession,
		}
		for name, act := range actions {
			actions[name] = func(rt *rapid.T) {
				if m.steps < mostSteps {
					act(rt)
				}
			}
		}
		rt.Repeat(actions)
		m.count = -1
		m.compare(rt) // all
		m.clear(rt)
		steps, over = steps+m.steps, over+m.over
	})
	number{all: 1500, few: 1}.tell(t, steps, "steps")
	number{all: 60, few: 1}.tell(t, over, "forks of entries after an item in progress")
}

// overOpen counts forks that include entries after an item in progress.
func (m *machine) overOpen(c *conv, f session.ForkOf) {
	from := c.head()
	if f.Before != nil {
		if to, found := c.cut(*f.Before); found {
			from = to
		}
	}
	if at := slices.Index(c.log, c.open); at >= 0 && at+1 < from.index {
		m.over++
	}
}

// stream begins a run or an item, or grows or completes the item.
func (m *machine) stream(rt *rapid.T) {
	c := m.pick(rt)
	switch {
	case c.run == "":
		m.startRun(rt, c)
	case c.open == nil:
		m.beginItem(rt, c)
	case rapid.IntRange(0, 2).Draw(rt, "complete") == 0:
		m.completeItem(rt, c)
	default:
		m.grow(rt, c, m.item(rt, c))
	}
}

func (m *machine) end(rt *rapid.T) { m.endRun(rt, m.pick(rt)) }

func (c *conv) ref() threads.Ref {
	return threads.Ref{UserID: c.user, SessionID: c.id, RunID: c.run}
}

func (m *machine) startRun(rt *rapid.T, c *conv) {
	ref := threads.Ref{UserID: c.user, SessionID: c.id, RunID: m.name("run")}
	m.note(rt, "start %s in %s", ref.RunID, c.id)
	var input []session.Event
	for range rapid.IntRange(1, 2).Draw(rt, "input") {
		e := m.event(rt, c)
		e.ID, e.InvocationID = "", ref.RunID
		input = append(input, e)
	}
	if _, err := m.store.Runs.Start(rt.Context(), threads.Start{
		Ref: ref, Mode: threads.External, Input: slices.Clone(input), OnActive: threads.Reject, OnFailed: threads.Keep,
	}); err != nil {
		rt.Fatalf("start: %v", err)
	}
	for _, e := range input {
		m.world.add(c, e)
	}
	c.run, c.failed = ref.RunID, false
}

func (m *machine) beginItem(rt *rapid.T, c *conv) {
	e := session.Event{
		ID: m.name("item"), InvocationID: c.run, Author: "agent",
		Fields: map[string]json.RawMessage{"content": json.RawMessage(`{"role":"model"}`)},
	}
	m.note(rt, "begin %s in %s", e.ID, c.id)
	it, err := m.store.Runs.BeginItem(rt.Context(), c.ref(), e)
	if err != nil {
		rt.Fatalf("begin: %v", err)
	}
	e.Status = session.EventInProgress
	c.open = m.world.add(c, e)
	m.grow(rt, c, it)
}

func (m *machine) item(rt *rapid.T, c *conv) threads.Item {
	it, err := m.store.Runs.OpenItem(rt.Context(), c.ref(), c.open.event.ID)
	if err != nil || it == nil {
		rt.Fatalf("the item in progress of %s: %v, %v", c.id, it, err)
	}
	return it
}

func (m *machine) grow(rt *rapid.T, c *conv, it threads.Item) {
	text := m.name(strings.Repeat("x", rapid.SampledFrom([]int{1, 1, 900}).Draw(rt, "characters")))
	m.note(rt, "flush %d characters to %s", len(text), it.ID())
	if _, err := it.Flush(rt.Context(), []content.Delta{{Text: text}}); err != nil {
		rt.Fatalf("flush: %v", err)
	}
	c.open.event.Fields = map[string]json.RawMessage{"content": it.Content().Snapshot()}
}

// completeItem replaces the item by a whole event, which may change the state.
func (m *machine) completeItem(rt *rapid.T, c *conv) {
	e := m.event(rt, c)
	e.ID, e.InvocationID = c.open.event.ID, c.run
	m.note(rt, "complete %s with %s", e.ID, e.Fields["actions"])
	if _, err := m.item(rt, c).Complete(rt.Context(), e); err != nil {
		rt.Fatalf("complete: %v", err)
	}
	c.open.event, c.open.streamed = e, true
	c.open = nil
	if len(e.Change()) > 0 {
		change := session.Event{
			InvocationID: c.run, Author: e.Author, StateDelta: e.StateDelta, ArtifactDelta: e.ArtifactDelta,
			Fields: map[string]json.RawMessage{
				"actions": e.Fields["actions"], "type": json.RawMessage(`"state"`), "item_id": mustJSON(e.ID),
			},
		}
		m.world.add(c, change).hidden = true
	}
}

// endRun ends a session's active run, if there is one, and its item. What a run said
// stays, also if it failed or was cancelled; then that item is marked or, if there is
// none, the end itself.
func (m *machine) endRun(rt *rapid.T, c *conv) {
	if c.run == "" {
		return
	}
	ways := []threads.Status{threads.Completed, threads.Failed, threads.Cancelled}
	status := rapid.SampledFrom(ways).Draw(rt, "status")
	m.note(rt, "end %s in %s as %s", c.run, c.id, status)
	var err error
	problem := threads.NewProblem("boom", "it broke")
	switch status {
	case threads.Completed:
		problem = nil
		_, err = m.store.Runs.End(rt.Context(), c.ref(), status, nil)
	case threads.Failed:
		_, err = m.store.Runs.End(rt.Context(), c.ref(), status, problem)
	default:
		problem = threads.NewProblem(threads.CodeCancelled, "the run was cancelled")
		_, err = m.store.Runs.Cancel(rt.Context(), c.ref())
	}
	if err != nil {
		rt.Fatalf("end: %v", err)
	}
	end := session.Event{
		InvocationID: c.run, Author: "system",
		Fields: map[string]json.RawMessage{"type": json.RawMessage(`"run"`), "run": json.RawMessage(`{}`)},
	}
	marks := &end
	if c.open != nil {
		c.open.event.Status, c.open.streamed = session.EventCompleted, true
		marks = &c.open.event
	}
	if problem != nil {
		marks.Status = session.EventFailed
		*marks = marks.With("error", mustJSON(problem))
		if marks == &end {
			end = end.With("content", json.RawMessage(`{"role":"model","parts":[]}`))
		}
	}
	m.world.add(c, end).hidden = marks != &end || problem == nil
	c.failed = status == threads.Failed
	c.run, c.open = "", nil
}
