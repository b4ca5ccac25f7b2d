package adk

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	adk "google.golang.org/adk/v2/session"

	rethread "github.com/rethread/rethread/clients/go"
)

// handle is an agent's copy of a session. Events appended through it are applied
// to the copy. It is safe for concurrent use.
type handle struct {
	app, user, id string

	// appending serialises appends through this copy, so that concurrent appends
	// of one agent do not look like those of two writers. It guards epoch and
	// head, the head of the log when the copy was last brought up to date.
	appending sync.Mutex
	epoch     int64
	head      int64

	mu      sync.RWMutex // guards what follows
	state   map[string]any
	events  []*adk.Event
	updated time.Time
}

var (
	_ adk.Session = (*handle)(nil)
	_ adk.State   = (*state)(nil)
	_ adk.Events  = events(nil)
)

func newHandle(s rethread.Session, values map[string]any, history []*adk.Event) *handle {
	return &handle{
		app: s.AppName, user: s.UserID, id: s.ID, epoch: s.Epoch, head: s.HeadSeq,
		state: values, events: history, updated: time.UnixMilli(int64(s.UpdatedTime)),
	}
}

func (h *handle) ID() string       { return h.id }
func (h *handle) AppName() string  { return h.app }
func (h *handle) UserID() string   { return h.user }
func (h *handle) State() adk.State { return &state{h} }

func (h *handle) Events() adk.Events {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return events(slices.Clip(h.events))
}

func (h *handle) LastUpdateTime() time.Time {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.updated
}

// apply applies an appended event to the copy. Temporary state is kept in the
// copy for the rest of the invocation, but in no event.
func (h *handle) apply(e *adk.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, v := range e.Actions.StateDelta {
		if v == nil {
			delete(h.state, key)
		} else {
			h.state[key] = v
		}
	}
	h.events = append(h.events, withoutTemporary(e))
	h.updated = e.Timestamp
}

// withoutTemporary returns the event without temporary state: a copy if it has
// any, otherwise the event itself.
func withoutTemporary(e *adk.Event) *adk.Event {
	kept := maps.Clone(e.Actions.StateDelta)
	maps.DeleteFunc(kept, func(key string, _ any) bool { return isTemporary(key) })
	if len(kept) == len(e.Actions.StateDelta) {
		return e
	}
	trimmed := *e
	trimmed.Actions.StateDelta = kept
	return &trimmed
}

func isTemporary(key string) bool { return strings.HasPrefix(key, adk.KeyPrefixTemp) }

// state is the state of a handle. Set changes only the copy; state is stored by
// appending events.
type state struct{ of *handle }

func (s *state) Get(key string) (any, error) {
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	v, ok := s.of.state[key]
	if !ok {
		return nil, adk.ErrStateKeyNotExist
	}
	return v, nil
}

func (s *state) Set(key string, value any) error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.state[key] = value
	return nil
}

func (s *state) All() iter.Seq2[string, any] {
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	return maps.All(maps.Clone(s.of.state))
}

type events []*adk.Event

func (e events) All() iter.Seq[*adk.Event] { return slices.Values(e) }
func (e events) Len() int                  { return len(e) }

func (e events) At(i int) *adk.Event {
	if i < 0 || i >= len(e) {
		return nil
	}
	return e[i]
}
