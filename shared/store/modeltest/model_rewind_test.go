package modeltest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// point is the target of a rewind or a fork: the index of the first entry that it
// removes, and what the session showed there.
type point struct {
	index int
	snapshot
}

// cut returns the point of a rewind or fork before an invocation. State given at
// creation survives: the point is then just after that event, even if entries that a
// fork did not inherit came next.
func (c *conv) cut(invocation string) (point, bool) {
	at := c.first(invocation)
	switch {
	case at < 0:
		return point{}, false
	case c.log[at].initial:
		return point{at + 1, c.log[at].after.clone()}, true
	}
	return point{at, c.log[at].before.clone()}, true
}

// head is the point after all entries.
func (c *conv) head() point { return point{len(c.log), c.now.clone()} }

// expected is the expected answer of a rewind. Keys that changed in between but have
// the target value already may be in it or not.
type expected struct {
	must, may map[string]string // target by key; "" deletes
	conflicts []string
	maybe     []string // conflicts of keys that already have the wanted value
	to        point
}

// expect computes the result of a rewind; false if the invocation is unknown.
func (w *world) expect(c *conv, r session.Rewind) (expected, bool) {
	to, ok := c.cut(r.Before)
	out := expected{must: map[string]string{}, may: map[string]string{}, to: to}
	if !ok {
		return out, false
	}
	if r.Has(session.ScopeSession) {
		target := to.state
		for key := range c.touched(to.index) {
			if c.owner(key) == "" {
				out.may[key] = target[key]
			}
		}
		for _, state := range []map[string]string{target, c.now.state} {
			for key := range state {
				out.put(key, target[key], w.same(c, key, target[key], c.now.state[key]))
			}
		}
	}
	for key, first := range c.touched(max(to.index, c.inherited)) {
		owner := c.owner(key)
		scope, _ := session.ScopeOf(key)
		if owner == "" || !r.Has(scope) {
			continue
		}
		target, now := first.shared[key], w.shared[owner][key]
		same := w.same(c, key, target, now.value)
		switch {
		case now.by == c || r.Restore:
			out.put(key, target, same)
		case same:
			out.maybe = append(out.maybe, plain(key))
		default:
			out.conflicts = append(out.conflicts, plain(key))
		}
	}
	slices.Sort(out.conflicts)
	return out, true
}

func (x *expected) put(key, target string, same bool) {
	if same {
		x.may[key] = target
	} else {
		x.must[key] = target
	}
}

// plain returns a key's external name: an artifact's name.
func plain(key string) string {
	if name, ok := session.ArtifactOf(key); ok {
		return name
	}
	return key
}

// same reports whether two values of a key read the same.
func (w *world) same(c *conv, key, a, b string) bool {
	if _, ok := session.ArtifactOf(key); ok {
		return w.content(c, key, a) == w.content(c, key, b)
	}
	return a == b
}

// touched returns the keys that entries from an index on change, each with the
// first such entry.
func (c *conv) touched(index int) map[string]*entry {
	out := map[string]*entry{}
	for _, e := range c.log[index:] {
		for key := range e.effect() {
			if out[key] == nil {
				out[key] = e
			}
		}
	}
	return out
}

// check compares a rewind's answer with the expected one.
func (x expected) check(got session.Rewound) string {
	left := maps.Clone(x.must)
	for key, raw := range (session.Event{StateDelta: got.State, ArtifactDelta: got.Artifacts}).Change() {
		target, ok := x.must[key]
		if !ok {
			if target, ok = x.may[key]; !ok {
				return fmt.Sprintf("restored %q, which was not to change", key)
			}
		}
		delete(left, key)
		value := string(raw)
		if jsonx.IsNull(raw) {
			value = ""
		}
		if _, artifact := session.ArtifactOf(key); !artifact && value != target {
			return fmt.Sprintf("restored %q to %q, not %q", key, value, target)
		}
	}
	if len(left) > 0 {
		return fmt.Sprintf("not restored: %v", left)
	}
	var keys []string
	for _, conflict := range got.Conflicts {
		if !slices.Contains(x.maybe, conflict.Key) {
			keys = append(keys, conflict.Key)
		}
	}
	slices.Sort(keys)
	if !slices.Equal(keys, x.conflicts) {
		return fmt.Sprintf("conflicts %v, want %v", keys, x.conflicts)
	}
	return ""
}

// rewind applies a checked answer: the view is that of the point, and the marker's
// deltas change the state.
func (w *world) rewind(c *conv, x expected, r session.Rewind, got session.Rewound) {
	c.failed = false
	for name, version := range got.Artifacts {
		key := session.ArtifactKey(name)
		target, ok := x.must[key]
		if !ok {
			target = x.may[key]
		}
		w.setContent(c, key, version, w.content(c, key, target))
	}
	marker := session.Event{
		InvocationID: r.Nonce, Author: "system", StateDelta: got.State, ArtifactDelta: got.Artifacts,
	}
	marker.Fields = fields(map[string]any{
		"content": map[string]any{"parts": []any{map[string]any{"text": "Session rewound"}}},
		"actions": map[string]any{
			"rewind_before_invocation_id": r.Before,
			"state_delta":                 orEmpty(got.State), "artifact_delta": orEmpty(got.Artifacts),
		},
	})
	w.add(c, marker).marker = true
	c.now.view = x.to.view
	c.epoch++
}

func orEmpty[M ~map[string]V, V any](m M) M {
	if m == nil {
		return M{}
	}
	return m
}

// fork copies what a session showed, entry by entry and task by task.
func (w *world) fork(c *conv, f session.ForkOf) *conv {
	from, found := c.head(), true
	if f.Before != nil {
		if from, found = c.cut(*f.Before); !found {
			from = c.head()
		}
	}
	from.view = slices.DeleteFunc(from.view, func(e *entry) bool { return e.event.Status == session.EventInProgress })
	n := &conv{
		number: len(w.ever), id: f.ID, user: c.user, app: c.app, name: "Fork of " + c.name,
		parent: c, boundary: f.Before, found: found, inherited: len(from.view),
		now: snapshot{state: map[string]string{}},
	}
	if f.Name != nil {
		n.name = *f.Name
	}
	copies := map[*entry]*entry{}
	for _, e := range from.view {
		twin := &entry{event: e.event, initial: e.initial, hidden: e.hidden, streamed: e.streamed, before: n.now.clone(), shared: e.shared}
		twin.before.state = maps.Clone(e.before.state)
		if e.initial {
			twin.after = snapshot{view: []*entry{twin}, state: maps.Clone(e.after.state)}
		}
		twin.event.ID = ""
		copies[e] = twin
		n.log = append(n.log, twin)
		n.now.view = append(n.now.view, twin)
	}
	n.now.state = maps.Clone(from.state)
	w.copyFiles(c, n)
	for _, t := range c.tasks {
		if from.shows(t.place) {
			n.tasks = append(n.tasks, t.copy(c, from.snapshot, copies))
		}
	}
	c.children = append(c.children, n)
	w.live[n.id] = n
	w.ever = append(w.ever, n)
	return n
}

// copyFiles gives a fork its own copies of the session's artifacts.
func (w *world) copyFiles(from, to *conv) {
	for owner, versions := range maps.Clone(w.files) {
		if key, ok := strings.CutPrefix(owner, from.fileOwner("")); ok && from.owner(key) == "" {
			w.files[to.fileOwner(key)] = maps.Clone(versions)
		}
	}
}
