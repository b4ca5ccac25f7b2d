// Package stores combines the packages of the store over one table.
package stores

import (
	"context"

	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/archives"
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/deliveries"
	"github.com/rethread/rethread/shared/store/feedback"
	"github.com/rethread/rethread/shared/store/forks"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/idempotency"
	"github.com/rethread/rethread/shared/store/lifecycle"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/runs"
	"github.com/rethread/rethread/shared/store/search"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/shares"
	"github.com/rethread/rethread/shared/store/subscriptions"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/tasks"
	"github.com/rethread/rethread/shared/store/usage"
	"github.com/rethread/rethread/shared/store/watching"
)

// Store is the rooms of everything that the table stores. It is safe for concurrent use.
type Store struct {
	Sessions      Sessions
	History       History
	Runs          Runs
	Artifacts     *artifacts.Store
	Tasks         *tasks.Store
	Feedback      *feedback.Store
	Usage         *usage.Store
	Watching      *watching.Store
	Archives      *archives.Store
	Lifecycle     *lifecycle.Store
	Shares        *shares.Store
	Subscriptions *subscriptions.Store
	Idempotency   *idempotency.Store
	Lanes         *deliveries.Lanes
	Webhooks      *deliveries.Webhooks
	Automations   *deliveries.Automations
	Pushes        *deliveries.Pushes
	Keys          *deliveries.SigningKeys

	engine   table.Engine
	settings settings
}

// New returns the store over a table that has the indexes of store.Schema.
func New(engine table.Engine, opts ...Option) *Store {
	in := defaults()
	for _, opt := range opts {
		opt(&in)
	}
	if in.codec == nil {
		in.codec = records.NewCodec()
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
	bodies := records.NewBodies(base, in.codec)

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
	waiting, watchers := deliveries.NewLanes(base), subscriptions.New(all)
	updates := watching.New(base, logs, all, running)
	s := &Store{
		Sessions:      Sessions{all, running, finder, ends},
		History:       History{running, forks.New(base, bodies, logs, all, files, kept, ends)},
		Runs:          Runs{running, updates},
		Artifacts:     files,
		Tasks:         kept,
		Feedback:      opinions,
		Usage:         limits,
		Watching:      updates,
		Archives:      documents,
		Lifecycle:     ends,
		Shares:        shares.New(all, finder, watchers),
		Subscriptions: watchers,
		Idempotency:   idempotency.New(base, in.codec),
		Lanes:         waiting,
		Webhooks:      deliveries.NewWebhooks(base, waiting),
		Automations:   deliveries.NewAutomations(base, in.codec, waiting),
		Pushes:        deliveries.NewPushes(base, all, waiting),
		Keys:          deliveries.NewSigningKeys(base),
		engine:        engine,
		settings:      in,
	}
	ends.Attach(s.Pushes, s.Shares, s.Idempotency, s.Subscriptions, s.Webhooks, s.Automations)
	logs.AttachWatching(watchers)
	return s
}

// WatchMessages returns the update that a change of the table sends to watchers.
func (s *Store) WatchMessages(ctx context.Context, c records.Change) (watch.LogUpdate, error) {
	if c.New == nil {
		return shares.Revocation(c.Old), nil
	}
	return s.Watching.WatchMessages(ctx, c)
}
