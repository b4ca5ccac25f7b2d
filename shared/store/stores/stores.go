// Package stores puts the packages of the store together over one table.
package stores

import (
	"github.com/rethread/rethread/shared/store/a2apush"
	"github.com/rethread/rethread/shared/store/automations"
	"github.com/rethread/rethread/shared/store/lanes"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/webhooks"
)

// The parts, by names that none of their methods has.
type (
	// SessionStore keeps sessions with what their headers tie together.
	SessionStore = sessions.Store
	// LaneStore keeps the deliveries that wait.
	LaneStore = lanes.Store
	// WebhookStore keeps webhooks.
	WebhookStore = webhooks.Store
	// AutomationStore keeps automations.
	AutomationStore = automations.Store
	// PushStore keeps the push configurations of A2A tasks.
	PushStore = a2apush.Store
)

// Store is everything that is kept in the table. It is safe for concurrent use.
type Store struct {
	*SessionStore
	*LaneStore
	*WebhookStore
	*AutomationStore
	*PushStore
}

// New is the store over a table that has the indexes of store.Schema.
func New(engine table.Engine, opts ...sessions.Option) *Store {
	return over(sessions.New(engine, opts...))
}

// With is the same store with other options.
func (s *Store) With(opts ...sessions.Option) *Store { return over(s.SessionStore.With(opts...)) }

// over puts the other parts beside sessions, in whose table they are.
func over(s *sessions.Store) *Store {
	base := s.Base()
	waiting := lanes.New(base)
	all := &Store{
		SessionStore:    s,
		LaneStore:       waiting,
		WebhookStore:    webhooks.New(base, waiting),
		AutomationStore: automations.New(base, waiting),
		PushStore:       a2apush.New(base, s, waiting),
	}
	s.Attach(all.WebhookStore, all.AutomationStore, all.PushStore)
	return all
}
