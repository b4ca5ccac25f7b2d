// Package sessions stores sessions with their logs, state, runs, tasks, feedback
// and artifacts, which a session's header ties together in one transaction. Package
// store describes the table's layout, docs/adr the reasons.
package sessions

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/compaction"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Store is the domain's storage over one table. It is safe for concurrent use. What it
// remembers may be lost or out of date, and no other instance needs it.
type Store struct {
	db      *records.Table
	now     func() time.Time
	random  func() uuid.UUID
	log     *slog.Logger
	content content.Bodies
	lease   time.Duration
	// onFailed is what becomes of the runs of an agent whose starts do not say it.
	onFailed func(agent string) run.OnFailed

	retention session.Retention
	quotas    quota.Limits

	compaction Compaction
	search     SearchRules
	dependents []Dependent
	known      *records.Memory[knownHeader]   // by session
	heads      *records.Memory[knownHead]     // by log
	onTop      *records.Memory[knownActivity] // by partition of the index
	watching   Watching
	owner      owner
	pushes     *pushes
	complete   func(ctx context.Context, user, id string, known map[string]bool) (bool, error)
}

var (
	_ session.Store      = (*Store)(nil)
	_ artifact.Store     = (*Store)(nil)
	_ task.Store         = (*Store)(nil)
	_ task.FeedbackStore = (*Store)(nil)
)

// Option changes a default of New.
type Option func(*Store)

// WithOnFailed sets what becomes of the runs of an agent that fail or are cancelled, for
// starts that do not say it; the default is run.Discard.
func WithOnFailed(of func(agent string) run.OnFailed) Option {
	return func(s *Store) { s.onFailed = of }
}

// WithClock sets the clock.
func WithClock(now func() time.Time) Option { return func(s *Store) { s.now = now } }

// WithRandom sets the source of random ids.
func WithRandom(random func() uuid.UUID) Option { return func(s *Store) { s.random = random } }

// WithLogger sets the log for warnings about problems that a later request repairs.
func WithLogger(log *slog.Logger) Option { return func(s *Store) { s.log = log } }

// WithLease sets how long a run lives without a heartbeat; the default is
// run.Lease.
func WithLease(d time.Duration) Option { return func(s *Store) { s.lease = d } }

// WithCodec sets the codec of the items, for stores that share one: its compressors
// take about a megabyte each.
func WithCodec(codec *content.Codec) Option {
	return func(s *Store) { s.content.Codec = codec }
}

// WithCompaction sets which ranges are compacted.
func WithCompaction(rules Compaction) Option { return func(s *Store) { s.compaction = rules } }

// WithQuotas sets the limits per user; the default is no limits. A quantity
// without a limit is neither counted nor read.
func WithQuotas(l quota.Limits) Option { return func(s *Store) { s.quotas = l } }

// WithSearch sets the bounds of searches.
func WithSearch(rules SearchRules) Option { return func(s *Store) { s.search = rules } }

// WithRetention sets the retention of sessions without a setting of their own;
// the default is unlimited. It is called when a session is created and when one
// loses its own setting.
func WithRetention(of session.Retention) Option { return func(s *Store) { s.retention = of } }

// New returns a store over a table that has the indexes of store.Schema.
func New(engine table.Engine, opts ...Option) *Store {
	s := &Store{
		now:    wallClock,
		random: uuid.New,
		log:    slog.New(slog.DiscardHandler),
		lease:  run.Lease,

		retention: func(string) int64 { return 0 },
		onFailed:  func(string) run.OnFailed { return run.Discard },

		compaction: compaction.Default(),
		search:     defaultSearch(),
		known:      &records.Memory[knownHeader]{},
		heads:      &records.Memory[knownHead]{},
		onTop:      &records.Memory[knownActivity]{},
		pushes:     &pushes{kept: map[pushKey]keptPush{}},
	}
	for _, opt := range opts {
		opt(s)
	}
	s.db = records.New(engine, s.random)
	s.owner, s.complete = s, s.arrived
	if s.content.Codec == nil {
		s.content.Codec = content.NewCodec()
	}
	s.content = content.NewBodies(s.Base(), s.content.Codec)
	return s
}

// Codec returns the codec of the store's items.
func (s *Store) Codec() *content.Codec { return s.content.Codec }

// Base returns the store's dependencies, for packages that store other items in the
// same table.
func (s *Store) Base() records.Base {
	return records.Base{DB: s.db, Now: s.now, Random: s.random, Log: s.log}
}

// With returns the same store with other options and without its dependents.
func (s *Store) With(opts ...Option) *Store {
	other := *s
	other.dependents, other.watching = nil, nil
	other.owner, other.complete = &other, other.arrived
	for _, opt := range opts {
		opt(&other)
	}
	other.content = content.NewBodies(other.Base(), s.Codec())
	return &other
}

// wallClock returns the time without a reading of the monotonic clock, which may stand
// still while an instance is frozen: what an instance remembers is as old as others see it.
func wallClock() time.Time { return time.Now().Round(0) }

func (s *Store) millis() int64 { return s.now().UnixMilli() }
