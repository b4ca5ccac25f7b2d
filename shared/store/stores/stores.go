// Package stores puts the packages of the store together over one table.
package stores

import (
	"context"

	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/a2apush"
	"github.com/rethread/rethread/shared/store/automations"
	"github.com/rethread/rethread/shared/store/idempotency"
	"github.com/rethread/rethread/shared/store/lanes"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/shares"
	"github.com/rethread/rethread/shared/store/signingkeys"
	"github.com/rethread/rethread/shared/store/subscriptions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/webhooks"
)

// The parts, by names that none of their methods has.
type (
	// SessionStore keeps sessions with what their headers tie together.
	SessionStore = sessions.Store
	// ShareStore keeps whom sessions are shared with.
	ShareStore = shares.Store
	// SubscriptionStore keeps who watches which session.
	SubscriptionStore = subscriptions.Store
	// IdempotencyStore keeps what requests under idempotency keys were answered.
	IdempotencyStore = idempotency.Store
	// LaneStore keeps the deliveries that wait.
	LaneStore = lanes.Store
	// WebhookStore keeps webhooks.
	WebhookStore = webhooks.Store
	// AutomationStore keeps automations.
	AutomationStore = automations.Store
	// PushStore keeps the push configurations of A2A tasks.
	PushStore = a2apush.Store
	// KeyStore keeps the keys that notifications are signed with.
	KeyStore = signingkeys.Store
)

// Store is everything that is kept in the table. It is safe for concurrent use.
type Store struct {
	*SessionStore
	*ShareStore
	*SubscriptionStore
	*IdempotencyStore
	*LaneStore
	*WebhookStore
	*AutomationStore
	*PushStore
	*KeyStore
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
	waiting, watching := lanes.New(base), subscriptions.New(s)
	all := &Store{
		SessionStore:      s,
		ShareStore:        shares.New(s, watching),
		SubscriptionStore: watching,
		IdempotencyStore:  idempotency.New(base, s.Codec()),
		LaneStore:         waiting,
		WebhookStore:      webhooks.New(base, waiting),
		AutomationStore:   automations.New(base, s.Codec(), waiting),
		PushStore:         a2apush.New(base, s, waiting),
		KeyStore:          signingkeys.New(base),
	}
	s.Attach(all.PushStore, all.ShareStore, all.IdempotencyStore, all.SubscriptionStore, all.WebhookStore, all.AutomationStore)
	return all
}

// WatchMessages are what a change of the table tells watchers.
func (s *Store) WatchMessages(ctx context.Context, c sessions.Change) (watch.LogUpdate, error) {
	if c.New == nil {
		return shares.Revocation(c.Old), nil
	}
	return s.SessionStore.WatchMessages(ctx, c)
}
