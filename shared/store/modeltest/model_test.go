package modeltest_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// world is the naive model: sessions with complete logs and, before each log entry, a
// full copy of what the session showed. It is simple, so that it can be compared with
// the specification by reading.
type world struct {
	live   map[string]*conv
	ever   []*conv
	shared map[string]map[string]shared // by owner, then by prefixed key
	files  map[string]map[int64]string  // content by owner and name, then by version
	ids    map[string]bool              // of events and tasks, in all sessions
}

// shared is a user's or an app's value; by is the session that changed it last.
type shared struct {
	value string // JSON; "" is absent
	by    *conv
}

// conv is one session.
type conv struct {
	number              int // distinguishes sessions with the same id
	id, user, app, name string
	gone                bool
	parent              *conv
	boundary            *string
	found               bool
	inherited           int // entries that a fork took over
	children            []*conv
	epoch               int64
	log                 []*entry
	now                 snapshot
	tasks               []*record
	run                 string // the active one
	open                *entry // its item in progress
	failed              bool   // the last run failed
}

// snapshot is what a session shows at one point of its log.
type snapshot struct {
	view  []*entry
	state map[string]string // of the session alone, with the versions of its artifacts
}

func (s snapshot) clone() snapshot {
	return snapshot{view: slices.Clone(s.view), state: maps.Clone(s.state)}
}

func (s snapshot) shows(e *entry) bool { return slices.Contains(s.view, e) }

// entry is one position of a log.
type entry struct {
	event   session.Event // ID is "" until it is read from the store
	initial bool
	marker  bool
	hidden  bool // shown only with the whole log
	// streamed says that the event's state changes took effect later, with another
	// entry.
	streamed bool
	placed   *record // the task that it gives a position
	before   snapshot
	after    snapshot          // of the initial event
	shared   map[string]string // user and app values before it
}

func newWorld() *world {
	return &world{
		live: map[string]*conv{}, shared: map[string]map[string]shared{},
		files: map[string]map[int64]string{}, ids: map[string]bool{},
	}
}

// owner is where the values of a key are stored; "" is the session itself.
func (c *conv) owner(key string) string {
	switch scope, _ := session.ScopeOf(key); scope {
	case session.ScopeUser:
		return "user " + c.user + " in " + c.app
	case session.ScopeApp:
		return "app " + c.app
	case session.ScopeSession, session.ScopeTemp:
	}
	return ""
}

// values returns the values of the session's user and app, by prefixed key.
func (w *world) values(c *conv) map[string]string {
	out := map[string]string{}
	for _, prefix := range []string{"user:", "app:"} {
		for key, v := range w.shared[c.owner(prefix)] {
			if v.value != "" {
				out[key] = v.value
			}
		}
	}
	return out
}

func (w *world) create(n session.New) *conv {
	c := &conv{number: len(w.ever), id: n.ID, user: n.UserID, app: n.AppName, name: n.Name, now: snapshot{state: map[string]string{}}}
	w.live[c.id] = c
	w.ever = append(w.ever, c)
	if delta := n.State.Stored().Values(); len(delta) > 0 {
		actions := mustJSON(session.Actions{StateDelta: delta, ArtifactDelta: map[string]int64{}})
		e := w.add(c, session.Event{
			Author: "system", StateDelta: delta, Fields: map[string]json.RawMessage{"actions": actions},
		})
		e.initial, e.after = true, c.now.clone()
	}
	return c
}

// add puts an event at the head of the log and applies its changes of state.
func (w *world) add(c *conv, e session.Event) *entry {
	added := &entry{event: e, before: c.now.clone(), shared: w.values(c)}
	c.log = append(c.log, added)
	c.now.view = append(c.now.view, added)
	w.change(c, e.Change())
	if e.ID != "" {
		w.ids[e.ID] = true
	}
	return added
}

func (w *world) change(c *conv, delta session.Delta) {
	for key, raw := range delta {
		value := string(raw)
		if jsonx.IsNull(raw) {
			value = ""
		}
		if owner := c.owner(key); owner != "" {
			if w.shared[owner] == nil {
				w.shared[owner] = map[string]shared{}
			}
			w.shared[owner][key] = shared{value: value, by: c}
			continue
		}
		c.now.state[key] = value
		if value == "" {
			delete(c.now.state, key)
		}
	}
}

// effect returns an entry's changes of the state.
func (e *entry) effect() session.Delta {
	if e.streamed {
		return nil
	}
	return e.event.Change()
}

// first is the index of the first log entry with an invocation id, hidden ones
// and markers included.
func (c *conv) first(invocation string) int {
	return slices.IndexFunc(c.log, func(e *entry) bool { return e.event.InvocationID == invocation })
}

// delete deletes a session; its forks stay complete.
func (w *world) delete(c *conv) {
	c.gone = true
	delete(w.live, c.id)
}

// content returns the content of an artifact's version: "" if it does not exist. A
// version that was only named has its own number as content.
func (w *world) content(c *conv, key, version string) string {
	if version == "" {
		return ""
	}
	n, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		panic(err)
	}
	if content, ok := w.files[c.fileOwner(key)][n]; ok {
		return content
	}
	return onlyNamed + version
}

// onlyNamed is the prefix of the content of versions that were named by an event but
// never put.
const onlyNamed = "version "

func (w *world) setContent(c *conv, key string, version int64, content string) {
	owner := c.fileOwner(key)
	if w.files[owner] == nil {
		w.files[owner] = map[int64]string{}
	}
	w.files[owner][version] = content
}

func (c *conv) fileOwner(key string) string {
	if owner := c.owner(key); owner != "" {
		return owner + " " + key
	}
	return "session " + strconv.Itoa(c.number) + " " + key
}

func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
