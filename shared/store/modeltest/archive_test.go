package modeltest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
)

// TestArchive moves sessions with random histories into another deployment, in
// parts, to another user. They show the same content there, also after the same
// operations on both.
func TestArchive(t *testing.T) {
	t.Parallel()
	there := newStage(t) // another deployment
	there.keep()
	moved := 0
	property.CheckN(t, sequences().least(), func(rt *rapid.T) {
		m := newMachine(rt, storetest.Engine(t))
		rt.Repeat(map[string]func(*rapid.T){
			"": m.compare, "create": m.createSession, "append": m.appendEvents, "append more": m.appendEvents,
			"save task": m.saveTask, "delete task": m.deleteTask, "rewind": m.rewind, "rewind more": m.rewind, "retry": m.retry,
			"fork": m.fork, "fork more": m.fork, "artifact": m.saveArtifact, "delete": m.deleteSession,
		})
		for _, id := range slices.Sorted(maps.Keys(m.world.live)) {
			m.move(rt, m.world.live[id], there.fresh(t).store)
			moved++
		}
	})
	number{all: 1, few: 1}.tell(t, moved, "sessions moved")
}

func (m *machine) move(rt *rapid.T, c *conv, to *stores.Store) {
	var doc bytes.Buffer
	if err := m.store.Archives.Export(rt.Context(), c.user, c.id, archive.NewWriter(&doc)); err != nil {
		rt.Fatalf("export %s: %v", c.id, err)
	}
	parts := cutUp(rt, doc.Bytes())
	for i, raw := range parts {
		part, err := archive.Parse(raw)
		if err != nil {
			rt.Fatalf("parse part %d of %s: %v\n%s", i+1, c.id, err, raw)
		}
		for range rapid.IntRange(1, 2).Draw(rt, "deliveries") {
			p, err := to.Archives.Import(rt.Context(), archive.Upload{
				UserID: "carol", ImportID: "import", Number: i + 1, Digest: fmt.Sprint(i), Part: part,
			})
			if err != nil || len(p.Kept) > 0 || (p.Session != nil) != (i == len(parts)-1) {
				rt.Fatalf("import part %d of %s: %+v, %v\n%s", i+1, c.id, p, err, raw)
			}
			part, _ = archive.Parse(raw)
		}
	}
	here := shows(rt, m.store, c.user, c.id, maxSeq)
	if d := diff(here, shows(rt, to, "carol", c.id, maxSeq)); d != "" {
		rt.Fatalf("%s is different when imported (-was +is):\n%s\n%s", c.id, d, doc.Bytes())
	}
	head := int64(len(c.log))
	for range 2 {
		act := m.further(rt, c)
		was, is := act(m.store, c.user), act(to, "carol")
		if d := diff(was, is); d != "" {
			rt.Fatalf("a further operation on %s has another outcome (-was +is):\n%s\n%s", c.id, d, doc.Bytes())
		}
		d := diff(shows(rt, m.store, c.user, c.id, head), shows(rt, to, "carol", c.id, head))
		if d != "" {
			rt.Fatalf("after a further operation %s is different (-was +is):\n%s\n%s", c.id, d, doc.Bytes())
		}
	}
}

// cutUp splits a document into parts, or leaves it whole.
func cutUp(rt *rapid.T, doc []byte) [][]byte {
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(doc, &whole); err != nil {
		rt.Fatalf("%v\n%s", err, doc)
	}
	if rapid.Bool().Draw(rt, "whole") {
		return [][]byte{doc}
	}
	head := map[string]any{}
	for _, name := range []string{"format", "session", "taken_over", "branched", "spent_run_id", "timeline"} {
		head[name] = whole[name]
	}
	parts := [][]byte{}
	cut := func(part map[string]any) {
		part["format"] = archive.Format
		parts = append(parts, mustJSON(part))
	}
	pending := head
	for _, list := range []string{"events", "tasks", "feedback", "artifacts"} {
		var items, some []json.RawMessage
		if err := json.Unmarshal(whole[list], &items); err != nil {
			rt.Fatal(err)
		}
		for _, item := range items {
			joins := bytes.Contains(item, []byte(`"joins":true`))
			if len(some) > 0 && !joins && rapid.IntRange(0, 2).Draw(rt, "cut") == 0 {
				pending[list], some = some, nil
				cut(pending)
				pending = map[string]any{}
			}
			some = append(some, item)
		}
		pending[list] = some
		if some == nil {
			delete(pending, list)
		}
	}
	pending["state"], pending["complete"] = whole["state"], true
	cut(pending)
	return parts
}

// further draws an operation on a session and on its import, and returns the
// outcome.
func (m *machine) further(rt *rapid.T, c *conv) func(*stores.Store, string) any {
	outcome := func(v any, err error) any { return []string{string(mustJSON(v)), fmt.Sprint(err)} }
	name := m.name("further ")
	switch what := rapid.SampledFrom([]string{"rewind", "rewind", "rewind", "append", "task", "redeliver"}).Draw(rt, "further"); {
	case what == "rewind" && len(c.log) > 0:
		r := session.Rewind{
			SessionID: c.id, Before: m.any(rt, c), Nonce: name, Restore: rapid.Bool().Draw(rt, "restore"),
		}
		return func(s *stores.Store, user string) any {
			r.UserID = user
			got, err := s.History.Rewind(rt.Context(), r)
			return outcome([]any{got.State, got.Artifacts, got.Conflicts}, err)
		}
	case what == "redeliver" && len(c.log) > 0:
		e := rapid.SampledFrom(c.log).Draw(rt, "entry").event
		return func(s *stores.Store, user string) any {
			_, n, err := s.Sessions.Append(rt.Context(), session.Append{SessionID: c.id, UserID: user, Events: []session.Event{e}})
			return outcome(n, err)
		}
	case what == "task":
		t := &record{id: name, text: name, bubbles: []bubble{{text: name, invocation: m.invocation(rt, c)}}}
		if all := c.visible(); len(all) > 0 && rapid.Bool().Draw(rt, "update") {
			t.id = all[0].id
		}
		save, err := t.saving(c)
		if err != nil {
			rt.Fatal(err)
		}
		return func(s *stores.Store, user string) any {
			save.UserID = user
			_, created, err := s.Tasks.Save(rt.Context(), save)
			return outcome(created, err)
		}
	}
	e := m.event(rt, c)
	return func(s *stores.Store, user string) any {
		_, n, err := s.Sessions.Append(rt.Context(), session.Append{SessionID: c.id, UserID: user, Events: []session.Event{e}})
		return outcome(n, err)
	}
}

const maxSeq = int64(1 << 53)

// shows returns everything that can be read of a session except its owner. After
// known, ids and times of entries are generated.
func shows(rt *rapid.T, s *stores.Store, user, id string, known int64) map[string]string {
	must := func(err error) {
		if err != nil {
			rt.Fatalf("read %s: %v", id, err)
		}
	}
	out := map[string]string{}
	add := func(name string, v any) { out[name] = string(mustJSON(v)) }
	one, err := s.Sessions.Get(rt.Context(), user, id)
	must(err)
	one.UserID, one.Fork, one.Version = "", nil, 0
	if known < maxSeq {
		one.UpdatedTime = 0
	}
	add("session", one)
	for _, view := range []session.View{session.Effective, session.All} {
		page, err := s.Sessions.Events(rt.Context(), user, id, session.EventQuery{View: view, Limit: session.MaxPage})
		must(err)
		for i, e := range page.Events {
			if e.Seq > known {
				e.ID, e.CreatedTime = "", 0
			}
			add(fmt.Sprintf("%s event %03d", view, i), e)
		}
	}
	state, err := s.Sessions.State(rt.Context(), user, id)
	must(err)
	add("state", state)
	tasks, err := s.Tasks.Tasks(rt.Context(), task.Query{SessionID: id, UserID: user})
	must(err)
	for i, t := range tasks.Tasks {
		if known < maxSeq {
			t.CreatedTime, t.UpdatedTime = 0, 0
		}
		add(fmt.Sprintf("task %03d", i), t)
	}
	list, err := s.Artifacts.Artifacts(rt.Context(), artifact.Query{SessionID: id, UserID: user, Limit: 1000})
	must(err)
	for _, newest := range list.Versions {
		versions, err := s.Artifacts.ArtifactVersions(rt.Context(), artifact.VersionQuery{
			SessionID: id, UserID: user, Name: newest.Name, Limit: 1000,
		})
		must(err)
		for _, v := range versions.Versions {
			_, content, err := s.Artifacts.Artifact(rt.Context(), artifact.Ref{
				SessionID: id, UserID: user, Name: v.Name, Version: &v.Version,
			})
			must(err)
			if known < maxSeq {
				v.CreatedTime = 0
			}
			add(fmt.Sprintf("artifact %s %d", v.Name, v.Version), []any{v, strings.Clone(string(content))})
		}
	}
	return out
}
