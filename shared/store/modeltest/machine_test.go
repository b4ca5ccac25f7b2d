package modeltest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/compaction"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// TestStoreAgreesWithModel carries out random sequences of operations on the store
// and on the model, and compares everything after each.
func TestStoreAgreesWithModel(t *testing.T) {
	t.Parallel()
	steps := 0
	property.CheckN(t, sequences().least(), func(rt *rapid.T) {
		m := newMachine(rt, storetest.Engine(t))
		rt.Repeat(map[string]func(*rapid.T){
			"":            m.compare,
			"create":      m.createSession,
			"append":      m.appendEvents,
			"append more": m.appendEvents,
			"redeliver":   m.redeliver,
			"save task":   m.saveTask,
			"delete task": m.deleteTask,
			"rewind":      m.rewind,
			"rewind more": m.rewind,
			"retry":       m.retry,
			"fork":        m.fork,
			"delete":      m.deleteSession,
			"artifact":    m.saveArtifact,
		})
		m.count = -1
		m.compare(rt) // all
		m.clear(rt)
		steps += m.steps
	})
	number{all: 1, few: 1}.tell(t, steps, "steps")
}

// machine is the state of one sequence.
type machine struct {
	world  *world
	store  *stores.Store
	engine table.Engine
	count  int // makes names
	steps  int
	done   string // the last operation
	// closely is the session that the last operation concerned.
	closely *conv
	over    int // forks of entries after an item in progress
}

func newMachine(rt *rapid.T, engine table.Engine) *machine {
	sealing := compaction.Rules{
		Bytes:  rapid.SampledFrom([]int{1, 400, 1200}).Draw(rt, "bytes of a compacted range"),
		Page:   rapid.IntRange(1, 3).Draw(rt, "page that uses compacted ranges"),
		Behind: rapid.Int64Range(0, 2).Draw(rt, "positions unsealed"),
	}
	store := stores.New(engine, stores.WithCodec(storetest.Codec()), stores.WithCompaction(sealing), stores.WithOutlineParts(fewParts))
	m := &machine{world: newWorld(), store: store, engine: engine}
	m.createSession(rt)
	return m
}

func (m *machine) name(prefix string) string {
	m.count++
	return fmt.Sprintf("%s%d", prefix, m.count)
}

// note records an operation for the report of a failure.
func (m *machine) note(rt *rapid.T, format string, args ...any) {
	m.steps++
	m.done = fmt.Sprintf(format, args...)
	rt.Log(m.done)
}

// readingMost is far more than a comparison takes: a read that never settles fails
// the test.
const readingMost = 5 * time.Minute

func within(ctx context.Context, compare func(context.Context) string) string {
	ctx, cancel := context.WithTimeout(ctx, readingMost)
	defer cancel()
	return compare(ctx)
}

// compare runs after each operation. The session that the operation concerned is
// compared closely, the others in part, and sometimes all completely: effects on
// unrelated sessions show later too.
func (m *machine) compare(rt *rapid.T) {
	parts := []string{"session", "tasks", "effective events", "all events", "thread", "state", "state"}
	r := &reader{w: m.world, store: m.store, closely: m.closely}
	if m.count++; m.count%8 > 0 {
		r.part = rapid.SampledFrom(parts).Draw(rt, "part")
	}
	r.pages = session.EventQuery{
		Limit:      rapid.SampledFrom([]int{1, 2, 3, 7}).Draw(rt, "page"),
		After:      rapid.Int64Range(0, 8).Draw(rt, "after"),
		Descending: rapid.Bool().Draw(rt, "descending"),
	}
	if len(m.closely.log) > 12 { // otherwise it takes long
		r.pages.Limit += 3
	}
	if d := within(rt.Context(), r.sessions); d != "" {
		rt.Fatalf("after %s: %s", m.done, d)
	}
}

// pick draws an existing session.
func (m *machine) pick(rt *rapid.T) *conv {
	if len(m.world.live) == 0 {
		rt.Skip("no session")
	}
	id := rapid.SampledFrom(slices.Sorted(maps.Keys(m.world.live))).Draw(rt, "session")
	m.closely = m.world.live[id]
	return m.closely
}

// values are distinguished although all are empty or zero.
func values() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"null", "null", "false", "0", `""`, "1", `"x"`, `{"a":{"b":[null,{}]}}`, "[]", "{}"})
}

func deltas(least int) *rapid.Generator[session.Delta] {
	keys := rapid.SampledFrom([]string{"a", "b", "c", "user:a", "user:b", "app:a", "app:b", "temp:a"})
	return rapid.Custom(func(t *rapid.T) session.Delta {
		d := session.Delta{}
		for key, v := range rapid.MapOfN(keys, values(), least, 4).Draw(t, "delta") {
			d[key] = json.RawMessage(v)
		}
		return d
	})
}

func (m *machine) createSession(rt *rapid.T) {
	if len(m.world.live) >= 4 {
		rt.Skip("enough sessions")
	}
	n := session.New{
		ID: m.name("s"), UserID: rapid.SampledFrom([]string{"alice", "alice", "bob"}).Draw(rt, "user"),
		AppName: rapid.SampledFrom([]string{"one", "one", "two"}).Draw(rt, "app"), Nonce: m.name("nonce"),
	}
	n.Name = "Session " + n.ID
	for _, c := range m.world.ever { // sometimes the id of a deleted one
		if c.gone && m.world.live[c.id] == nil && rapid.Bool().Draw(rt, "again") {
			n.ID = c.id
		}
	}
	if rapid.Bool().Draw(rt, "with state") {
		n.State = deltas(1).Draw(rt, "state")
	}
	if err := n.Validate(); err != nil {
		rt.Fatal(err)
	}
	m.note(rt, "create %s of %s in %s with %s", n.ID, n.UserID, n.AppName, mustJSON(n.State))
	if _, err := m.store.Sessions.Create(rt.Context(), n); err != nil {
		rt.Fatal(err)
	}
	m.closely = m.world.create(n)
	m.compare(rt) // learns the generated members
}

// invocation draws one for new entries: mostly the current or a new one.
func (m *machine) invocation(rt *rapid.T, c *conv) string {
	switch n := len(c.log); rapid.SampledFrom([]string{"new", "new", "last", "last", "any"}).Draw(rt, "invocation") {
	case "last":
		if n > 0 {
			return c.log[n-1].event.InvocationID
		}
	case "any":
		if n > 0 {
			return m.any(rt, c)
		}
	}
	return m.name("i")
}

// any draws an invocation of the whole log, hidden ones and markers included.
func (m *machine) any(rt *rapid.T, c *conv) string {
	at := rapid.IntRange(0, len(c.log)-1).Draw(rt, "entry")
	return c.log[at].event.InvocationID
}

func (m *machine) appendEvents(rt *rapid.T) { m.appendTo(rt, m.pick(rt)) }

func (m *machine) appendTo(rt *rapid.T, c *conv) {
	a := session.Append{SessionID: c.id, UserID: c.user}
	for range rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(rt, "events") {
		a.Events = append(a.Events, m.event(rt, c))
	}
	var does []string
	for _, e := range a.Events {
		does = append(does, e.InvocationID+" "+string(e.Fields["actions"]))
	}
	m.note(rt, "append to %s: %s", c.id, strings.Join(does, ", "))
	if rapid.Bool().Draw(rt, "expect") {
		head := int64(len(c.log))
		a.ExpectedSeq = &head
	}
	stored, appended, err := m.store.Sessions.Append(rt.Context(), session.Append{
		SessionID: a.SessionID, UserID: a.UserID, Events: slices.Clone(a.Events), ExpectedSeq: a.ExpectedSeq,
	})
	if err != nil || appended != len(a.Events) {
		rt.Fatalf("appended %d, %v", appended, err)
	}
	for i, e := range a.Events {
		e.ID = stored[i].ID
		m.world.add(c, e)
		if stored[i].Seq != int64(len(c.log)) {
			rt.Fatalf("event stored at %d, want %d", stored[i].Seq, len(c.log))
		}
	}
}

func (m *machine) event(rt *rapid.T, c *conv) session.Event {
	raw := map[string]any{
		"invocation_id": m.invocation(rt, c), "author": "agent",
		"content": map[string]any{"parts": []any{map[string]any{"text": m.name("text ")}}},
	}
	if rapid.Bool().Draw(rt, "own id") {
		raw["id"] = m.name("e")
	}
	actions := map[string]any{}
	if rapid.IntRange(0, 2).Draw(rt, "changes state") > 0 {
		actions["state_delta"] = deltas(0).Draw(rt, "delta")
	}
	if rapid.IntRange(0, 3).Draw(rt, "names artifacts") == 0 {
		actions["artifact_delta"] = map[string]int64{
			rapid.SampledFrom([]string{"f", "g", "user:h"}).Draw(rt, "artifact"): rapid.Int64Range(0, 3).Draw(rt, "version"),
		}
	}
	if len(actions) > 0 {
		raw["actions"] = actions
	}
	e, err := session.ParseEvent(mustJSON(raw), "")
	if err != nil {
		rt.Fatal(err)
	}
	return e
}

// redeliver sends an existing event of the session again, inherited and hidden ones
// included.
func (m *machine) redeliver(rt *rapid.T) {
	c := m.pick(rt)
	var given []*entry
	for _, e := range c.log {
		if e.event.ID != "" && !e.marker && !e.hidden && !e.streamed && e != c.open && e.event.TaskID == "" && !e.initial {
			given = append(given, e)
		}
	}
	if len(given) == 0 {
		rt.Skip("no event")
	}
	e := rapid.SampledFrom(given).Draw(rt, "event").event
	m.note(rt, "redeliver %s to %s", e.ID, c.id)
	stored, appended, err := m.store.Sessions.Append(rt.Context(), session.Append{
		SessionID: c.id, UserID: c.user, Events: []session.Event{e},
	})
	if err != nil || appended != 0 || stored[0].ID != e.ID {
		rt.Fatalf("appended %d, %v", appended, err)
	}
	if seq := stored[0].Seq; c.log[seq-1].event.ID != e.ID {
		rt.Fatalf("found %s at %d", e.ID, seq)
	}
}

// clear deletes all sessions and checks that the sweeper leaves no log behind.
func (m *machine) clear(rt *rapid.T) {
	for _, id := range slices.Sorted(maps.Keys(m.world.live)) {
		if err := m.store.Sessions.Delete(rt.Context(), m.world.live[id].user, id); err != nil {
			rt.Fatalf("delete %s: %v", id, err)
		}
	}
	if left := swept(rt.Context(), rt, m.engine); len(left) > 0 {
		rt.Fatalf("left after all sessions were deleted: %v", left)
	}
}
