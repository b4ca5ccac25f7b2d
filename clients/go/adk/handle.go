package adk

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	adk "google.golang.org/adk/v2/session"

	"github.com/rethread/rethread/clients/go/adk/internal/remote"
)

// handle is a session as an agent holds it: a copy, which events appended
// through it bring up to date. It is safe for concurrent use.
type handle struct {
	app, user, id string

	// appending is held while an event is appended, so that what one agent
	// appends side by side is not taken for two writers. It guards the epoch
	// and the head of the log that this copy knows.
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

func newHandle(s remote.Session, values map[string]any, history []*adk.Event) *handle {
	return &handle{
		app: s.AppName, user: s.UserID, id: s.ID, epoch: s.Epoch, head: s.HeadSeq,
		state: values, events: history, updated: time.UnixMilli(s.UpdatedTime),
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

// take brings the copy up to date with an event that was appended. Temporary
// state lives on here, for the rest of the invocation, and in no event.
func (h *handle) take(e *adk.Event) {
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

// withoutTemporary is the event without temporary state, a copy where it has any.
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

// state is the state of a handle. What is set here is not stored: events store
// state.
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
