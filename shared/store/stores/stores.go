// Package stores combines the packages of the store over one table.
package stores

import (
	"context"

	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/a2apush"
	"github.com/rethread/rethread/shared/store/archives"
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/automations"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/feedback"
	"github.com/rethread/rethread/shared/store/forks"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/idempotency"
	"github.com/rethread/rethread/shared/store/lanes"
	"github.com/rethread/rethread/shared/store/lifecycle"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/runs"
	"github.com/rethread/rethread/shared/store/search"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/shares"
	"github.com/rethread/rethread/shared/store/signingkeys"
	"github.com/rethread/rethread/shared/store/subscriptions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/tasks"
	"github.com/rethread/rethread/shared/store/unseen"
	"github.com/rethread/rethread/shared/store/usage"
	"github.com/rethread/rethread/shared/store/watching"
	"github.com/rethread/rethread/shared/store/webhooks"
)

// The parts, under names that do not collide with their methods.
type (
	// SessionStore stores sessions and their logs.
	SessionStore = sessions.Store
	// UsageStore stores what users have and may have.
	UsageStore = usage.Store
	// ArtifactStore stores artifacts.
	ArtifactStore = artifacts.Store
	// TaskStore stores tasks.
	TaskStore = tasks.Store
	// RunStore stores runs, and rewinds sessions, which may end a run.
	RunStore = runs.Store
	// FeedbackStore stores feedback.
	FeedbackStore = feedback.Store
	// SearchStore searches sessions.
	SearchStore = search.Store
	// WatchingStore reads what watchers and receivers of events are told.
	WatchingStore = watching.Store
	// ArchiveStore exports and imports sessions.
	ArchiveStore = archives.Store
	// LifecycleStore deletes sessions and erases users.
	LifecycleStore = lifecycle.Store
	// ForkStore forks sessions.
	ForkStore = forks.Store
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
	*UsageStore
	*ArtifactStore
	*TaskStore
	*RunStore
	*FeedbackStore
	*SearchStore
	*WatchingStore
	*ArchiveStore
	*LifecycleStore
	*ForkStore
	*ShareStore
	*SubscriptionStore
	*IdempotencyStore
	*LaneStore
	*WebhookStore
	*AutomationStore
	*PushStore
	*KeyStore
	*UnseenStore

	engine   table.Engine
	settings settings
}

var (
	_ session.Store      = (*Store)(nil)
	_ session.Rewinder   = (*Store)(nil)
	_ run.Store          = (*Store)(nil)
	_ run.Sessions       = (*Store)(nil)
	_ artifact.Store     = (*Store)(nil)
	_ task.Store         = (*Store)(nil)
	_ task.FeedbackStore = (*Store)(nil)
	_ task.Links         = (*Store)(nil)
	_ quota.Store        = (*Store)(nil)
	_ quota.Streams      = (*Store)(nil)
	_ watch.CatchUps     = (*Store)(nil)
	_ archive.Exporter   = (*Store)(nil)
	_ archive.Importer   = (*Store)(nil)
	_ erasure.Store      = (*Store)(nil)
)

// New returns the store over a table that has the indexes of store.Schema.
func New(engine table.Engine, opts ...Option) *Store {
	in := defaults()
	for _, opt := range opts {
		opt(&in)
	}
	if in.codec == nil {
		in.codec = content.NewCodec()
	}
	return combine(engine, in)
}

// With returns the same store with other options. It remembers nothing that this one does.
func (s *Store) With(opts ...Option) *Store {
	in := s.settings
	for _, opt := range opts {
		opt(&in)
	}
	return combine(s.engine, in)
}

// combine builds the rooms of the store from the ground.
func combine(engine table.Engine, in settings) *Store {
	base := records.Base{DB: records.New(engine, in.random), Now: in.now, Random: in.random, Log: in.log}
	bodies := content.NewBodies(base, in.codec)

	limits := usage.New(base, in.quotas)
	all := sessions.New(base, bodies, limits, in.retention, in.compaction, in.parts)
	logs := all.Logs()
	files := artifacts.New(base, bodies, logs, limits, all)
	kept := tasks.New(base, bodies, logs, all)
	past := history.New(base, bodies, logs, all, files)
	running := runs.New(base, bodies, limits, all, past, in.runs)
	documents := archives.New(base, bodies, logs, limits, all, files, kept, running)
	opinions := feedback.New(base, bodies, all, kept, past, documents.Arrived)
	ends := lifecycle.New(base, bodies, logs, limits, all, past, running, opinions, documents)

	finder := search.New(base, bodies, logs, all, in.search)
	waiting, watchers := lanes.New(base), subscriptions.New(all)
	s := &Store{
		SessionStore:      all,
		UsageStore:        limits,
		ArtifactStore:     files,
		TaskStore:         kept,
		RunStore:          running,
		FeedbackStore:     opinions,
		SearchStore:       finder,
		WatchingStore:     watching.New(base, logs, all, running),
		ArchiveStore:      documents,
		LifecycleStore:    ends,
		ForkStore:         forks.New(base, bodies, logs, all, files, kept, ends),
		ShareStore:        shares.New(all, finder, watchers),
		SubscriptionStore: watchers,
		IdempotencyStore:  idempotency.New(base, in.codec),
		LaneStore:         waiting,
		WebhookStore:      webhooks.New(base, waiting),
		AutomationStore:   automations.New(base, in.codec, waiting),
		PushStore:         a2apush.New(base, all, waiting),
		KeyStore:          signingkeys.New(base),
		UnseenStore:       unseen.New(base),
		engine:            engine,
		settings:          in,
	}
	ends.Attach(s.PushStore, s.ShareStore, s.IdempotencyStore, s.SubscriptionStore, s.WebhookStore, s.AutomationStore)
	logs.AttachWatching(watchers)
	return s
}

// WatchMessages returns the update that a change of the table sends to watchers.
func (s *Store) WatchMessages(ctx context.Context, c records.Change) (watch.LogUpdate, error) {
	if c.New == nil {
		return shares.Revocation(c.Old), nil
	}
	return s.WatchingStore.WatchMessages(ctx, c)
}
