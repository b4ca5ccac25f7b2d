// Package sessions keeps sessions with their logs, state, runs, tasks, feedback and
// artifacts, which one transaction ties together at a session's header. Package store
// says how the table is laid out, docs/adr says why.
package sessions

import (
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Store is the domain's storage over one table. It is safe for concurrent use
// and holds nothing that another instance could need.
type Store struct {
	db      *records.Table
	now     func() time.Time
	random  func() uuid.UUID
	log     *slog.Logger
	content content.Bodies
	lease   time.Duration

	retention session.Retention
	quotas    quota.Limits

	compaction Compaction
	dependents []Dependent
}

var (
	_ session.Store      = (*Store)(nil)
	_ artifact.Store     = (*Store)(nil)
	_ task.Store         = (*Store)(nil)
	_ task.FeedbackStore = (*Store)(nil)
)

// Option changes what New takes by default.
type Option func(*Store)

// WithClock sets the clock that times are read from.
func WithClock(now func() time.Time) Option { return func(s *Store) { s.now = now } }

// WithRandom sets the source of random ids.
func WithRandom(random func() uuid.UUID) Option { return func(s *Store) { s.random = random } }

// WithLogger sets where warnings go: things that a later request repairs.
func WithLogger(log *slog.Logger) Option { return func(s *Store) { s.log = log } }

// WithLease sets how long a run lives without a sign of life; run.Lease unless
// it is set.
func WithLease(d time.Duration) Option { return func(s *Store) { s.lease = d } }

// New is a store over a table that has the indexes of store.Schema.
func New(engine table.Engine, opts ...Option) *Store {
	s := &Store{
		now:    time.Now,
		random: uuid.New,
		log:    slog.New(slog.DiscardHandler),
		lease:  run.Lease,

		retention: func(string) int64 { return 0 },

		compaction: defaultCompaction(),
	}
	for _, opt := range opts {
		opt(s)
	}
	s.db = records.New(engine, s.random)
	s.content = content.NewBodies(s.Base(), content.NewCodec())
	return s
}

// Codec encodes what the store's items hold.
func (s *Store) Codec() *content.Codec { return s.content.Codec }

// Base is what the store works with, for packages that keep other things in the same
// table.
func (s *Store) Base() records.Base {
	return records.Base{DB: s.db, Now: s.now, Random: s.random, Log: s.log}
}

// With is the same store with other options, and without what is attached to it.
func (s *Store) With(opts ...Option) *Store {
	other := *s
	other.dependents = nil
	for _, opt := range opts {
		opt(&other)
	}
	other.content = content.NewBodies(other.Base(), s.Codec())
	return &other
}

func (s *Store) millis() int64 { return s.now().UnixMilli() }
