// Package stores combines the packages of the store over one table.
package stores

import (
	"context"

	"github.com/rethread/rethread/shared/store/records"

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
	"github.com/rethread/rethread/shared/store/unseen"
	"github.com/rethread/rethread/shared/store/webhooks"
)

// The parts, under names that do not collide with their methods.
type (
	// SessionStore stores sessions and what their headers tie together.
	SessionStore = sessions.Store
	// ShareStore stores the shares of sessions.
	ShareStore = shares.Store
	// SubscriptionStore stores the subscriptions of watchers.
	SubscriptionStore = subscriptions.Store
	// IdempotencyStore stores the answers to requests with idempotency keys.
	IdempotencyStore = idempotency.Store
	// LaneStore stores waiting deliveries.
	LaneStore = lanes.Store
	// WebhookStore stores webhooks.
	WebhookStore = webhooks.Store
	// AutomationStore stores automations.
	AutomationStore = automations.Store
	// PushStore stores the push configurations of A2A tasks.
	PushStore = a2apush.Store
	// KeyStore stores the keys that sign notifications.
	KeyStore = signingkeys.Store
	// UnseenStore stores which runs' output readers have not been shown.
	UnseenStore = unseen.Store
)

// Store is everything that the table stores. It is safe for concurrent use.
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
	*UnseenStore
}

// New returns the store over a table that has the indexes of store.Schema.
func New(engine table.Engine, opts ...sessions.Option) *Store {
	return combine(sessions.New(engine, opts...))
}

// With returns the same store with other options.
func (s *Store) With(opts ...sessions.Option) *Store { return combine(s.SessionStore.With(opts...)) }

// combine adds the other parts to sessions, over the same table.
func combine(s *sessions.Store) *Store {
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
		UnseenStore:       unseen.New(base),
	}
	s.Attach(all.PushStore, all.ShareStore, all.IdempotencyStore, all.SubscriptionStore, all.WebhookStore, all.AutomationStore)
	s.AttachWatching(watching)
	return all
}

// WatchMessages returns the update that a change of the table sends to watchers.
func (s *Store) WatchMessages(ctx context.Context, c records.Change) (watch.LogUpdate, error) {
	if c.New == nil {
		return shares.Revocation(c.Old), nil
	}
	return s.SessionStore.WatchMessages(ctx, c)
}
