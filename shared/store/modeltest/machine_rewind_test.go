package modeltest_test

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
)

func fields(m map[string]any) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, v := range m {
		out[name] = mustJSON(v)
	}
	return out
}

// boundary draws where to rewind or fork: any invocation of the log, or sometimes a
// missing one.
func (m *machine) boundary(rt *rapid.T, c *conv) string {
	if len(c.log) == 0 || rapid.IntRange(0, 9).Draw(rt, "unknown") == 0 {
		return "unknown"
	}
	return m.any(rt, c)
}

func (m *machine) rewind(rt *rapid.T) {
	c := m.pick(rt)
	m.rewindTo(rt, c, m.boundary(rt, c))
}

// retry rewinds to before the last of some new events several times, so that the timeline
// gets longer.
func (m *machine) retry(rt *rapid.T) {
	c := m.pick(rt)
	for range rapid.SampledFrom([]int{6, 3, 1, 12}).Draw(rt, "retries") {
		m.appendTo(rt, c)
		m.appendTo(rt, c)
		m.rewindTo(rt, c, c.log[len(c.log)-1].event.InvocationID)
	}
}

func (m *machine) rewindTo(rt *rapid.T, c *conv, before string) {
	r := session.Rewind{
		SessionID: c.id, UserID: c.user, Before: before, Nonce: m.name("rewind "),
		Scopes: rapid.SampledFrom([][]session.Scope{
			nil, nil, nil, {session.ScopeSession}, {session.ScopeUser}, {session.ScopeSession, session.ScopeApp},
		}).Draw(rt, "scopes"),
		Restore: rapid.IntRange(0, 2).Draw(rt, "restore") == 0,
	}
	m.endRun(rt, c) // otherwise it conflicts
	m.note(rt, "rewind %s before %s, scopes %v, restore %v", c.id, r.Before, r.Scopes, r.Restore)
	cursor := m.cursor(rt, c)
	x, known := m.world.expect(c, r)
	dry := r
	dry.DryRun = true
	would, dryErr := m.store.History.Rewind(rt.Context(), dry)
	if dryErr == nil {
		m.compare(rt) // nothing has changed
	}
	got, err := m.store.History.Rewind(rt.Context(), r)
	if !known {
		if !errors.Is(err, fault.Of(fault.NotFound)) || !errors.Is(dryErr, fault.Of(fault.NotFound)) {
			rt.Fatalf("rewind to an unknown invocation: %v, dry %v", err, dryErr)
		}
		return
	}
	if err != nil || dryErr != nil {
		rt.Fatalf("rewind: %v, dry %v", err, dryErr)
	}
	if d := x.check(got); d != "" {
		rt.Fatalf("rewind: %s\n%s", d, mustJSON(got))
	}
	if d := cmp.Diff(would, got, cmpopts.IgnoreFields(session.Event{}, "ID", "CreatedTime"),
		cmpopts.IgnoreFields(session.Session{}, "UpdatedTime"), cmpopts.EquateEmpty()); d != "" {
		rt.Fatalf("dry run and rewind differ (-dry +real):\n%s", d)
	}
	m.world.rewind(c, x, r, got)
	if d := m.stored(c, got); d != "" {
		rt.Fatalf("marker: %s", d)
	}
	if again, err := m.store.History.Rewind(rt.Context(), r); err != nil || again.Event.ID != got.Event.ID {
		rt.Fatalf("the same rewind again: marker %s, want %s, %v", again.Event.ID, got.Event.ID, err)
	}
	if cursor != nil {
		q := session.EventQuery{View: session.Effective, Limit: 1, Resume: *cursor}
		if _, err := m.store.Sessions.Events(rt.Context(), c.user, c.id, q); !errors.Is(err, fault.Of(fault.Conflict)) {
			rt.Fatalf("a cursor from before the rewind: %v", err)
		}
	}
}

// stored checks the answer's marker and session.
func (m *machine) stored(c *conv, got session.Rewound) string {
	marker := c.log[len(c.log)-1]
	marker.event.ID = got.Event.ID
	want := marker.event
	want.Seq, want.SessionID, want.Status = int64(len(c.log)), c.id, session.EventCompleted
	if d := diffJSON([][]byte{external(want)}, [][]byte{external(got.Event)}); d != "" {
		return d
	}
	if got.Session.Epoch != c.epoch || got.Session.HeadSeq != want.Seq {
		return "the session's epoch or head"
	}
	return ""
}

// cursor returns the end of a page of one event, nil if there are fewer than two
// events.
func (m *machine) cursor(rt *rapid.T, c *conv) *session.Resume {
	q := session.EventQuery{View: session.Effective, Limit: 1}
	page, err := m.store.Sessions.Events(rt.Context(), c.user, c.id, q)
	if err != nil {
		rt.Fatal(err)
	}
	return page.Next
}

func (m *machine) fork(rt *rapid.T) {
	if len(m.world.live) >= 6 {
		rt.Skip("enough sessions")
	}
	c := m.pick(rt)
	if rapid.IntRange(0, 3).Draw(rt, "whole") == 0 {
		m.forkBefore(rt, c, nil)
		return
	}
	boundary := m.boundary(rt, c)
	m.forkBefore(rt, c, &boundary)
}

// forkBefore forks before an invocation; nil forks everything.
func (m *machine) forkBefore(rt *rapid.T, c *conv, before *string) {
	f := session.ForkOf{SessionID: c.id, UserID: c.user, ID: m.name("f"), Nonce: m.name("nonce"), Before: before}
	boundary := "the end"
	if before != nil {
		boundary = *before
	}
	if rapid.Bool().Draw(rt, "named") {
		name := m.name("Name ")
		f.Name = &name
	}
	f.Strict = rapid.Bool().Draw(rt, "strict")
	m.note(rt, "fork %s of %s before %s", f.ID, c.id, boundary)
	dry := f
	dry.DryRun = true
	would, dryErr := m.store.History.Fork(rt.Context(), dry)
	got, err := m.store.History.Fork(rt.Context(), f)
	if f.Strict && f.Before != nil && c.first(boundary) < 0 {
		if !errors.Is(err, fault.Of(fault.Malformed)) || !errors.Is(dryErr, fault.Of(fault.Malformed)) {
			rt.Fatalf("strict fork at an unknown invocation: %v, dry %v", err, dryErr)
		}
		return
	}
	if err != nil || dryErr != nil {
		rt.Fatalf("fork: %v, dry %v", err, dryErr)
	}
	if d := cmp.Diff(would, got, cmpopts.IgnoreFields(session.Session{}, "CreatedTime", "UpdatedTime")); d != "" {
		rt.Fatalf("dry run and fork differ (-dry +real):\n%s", d)
	}
	m.overOpen(c, f)
	n := m.world.fork(c, f)
	m.closely = n
	if got.HeadSeq != int64(n.inherited) || got.Name != n.name {
		rt.Fatalf("fork answers %s", mustJSON(got))
	}
	if again, err := m.store.History.Fork(rt.Context(), f); err != nil || again.ID != f.ID {
		rt.Fatalf("the same fork again: %v", err)
	}
}

func (m *machine) deleteSession(rt *rapid.T) {
	if len(m.world.live) < 2 || rapid.Bool().Draw(rt, "rather not") {
		rt.Skip("too few sessions")
	}
	c := m.pick(rt)
	m.note(rt, "delete %s", c.id)
	if err := m.store.Sessions.Delete(rt.Context(), c.user, c.id); err != nil {
		rt.Fatal(err)
	}
	m.world.delete(c)
}

func (m *machine) saveTask(rt *rapid.T) {
	c := m.pick(rt)
	t := &record{id: m.name("t")}
	var ids []string
	for _, there := range c.tasks {
		if there.id != "" {
			ids = append(ids, there.id)
		}
	}
	if len(ids) > 0 && rapid.Bool().Draw(rt, "update") {
		t.id = rapid.SampledFrom(ids).Draw(rt, "task")
	}
	t.text = m.name("task ")
	for range rapid.IntRange(0, 3).Draw(rt, "bubbles") {
		b := bubble{text: m.name("b")}
		if rapid.Bool().Draw(rt, "named") {
			b.invocation = m.invocation(rt, c)
		}
		t.bubbles = append(t.bubbles, b)
	}
	s, err := t.saving(c)
	if err != nil {
		rt.Fatal(err)
	}
	m.note(rt, "save task %s in %s: %s", t.id, c.id, s.Task.Bubbles)
	_, created, err := m.store.Tasks.Save(rt.Context(), s)
	if err != nil {
		rt.Fatal(err)
	}
	if want := m.world.save(c, t.id, t.text, t.bubbles, s.Invocations); created != want {
		rt.Fatalf("created %v, want %v", created, want)
	}
}

func (m *machine) deleteTask(rt *rapid.T) {
	c := m.pick(rt)
	visible := c.visible()
	if len(visible) == 0 {
		rt.Skip("no task")
	}
	t := rapid.SampledFrom(visible).Draw(rt, "task")
	m.note(rt, "delete task %s of %s", t.id, c.id)
	if err := m.store.Tasks.DeleteTask(rt.Context(), c.user, c.id, t.id); err != nil {
		rt.Fatal(err)
	}
	c.tasks = slices.DeleteFunc(c.tasks, func(other *record) bool { return other == t })
}

// saveArtifact puts a version and appends the event that names it.
func (m *machine) saveArtifact(rt *rapid.T) {
	c := m.pick(rt)
	name := rapid.SampledFrom([]string{"p", "user:q"}).Draw(rt, "name")
	body := m.name("content ")
	v, err := m.store.Artifacts.PutArtifact(rt.Context(), artifact.Put{
		SessionID: c.id, UserID: c.user, Name: name, MimeType: "text/plain", Body: []byte(body),
	})
	if err != nil {
		rt.Fatal(err)
	}
	m.note(rt, "put version %d of %s in %s: %s", v.Version, name, c.id, body)
	m.world.setContent(c, session.ArtifactKey(name), v.Version, body)
	raw := mustJSON(map[string]any{
		"invocation_id": m.invocation(rt, c), "author": "agent",
		"actions": map[string]any{"artifact_delta": map[string]int64{name: v.Version}},
	})
	e, err := session.ParseEvent(raw, "")
	if err != nil {
		rt.Fatal(err)
	}
	stored, _, err := m.store.Sessions.Append(rt.Context(), session.Append{
		SessionID: c.id, UserID: c.user, Events: []session.Event{e},
	})
	if err != nil {
		rt.Fatal(err)
	}
	e.ID = stored[0].ID
	m.world.add(c, e)
}
