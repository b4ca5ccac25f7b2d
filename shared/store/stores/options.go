package stores

import (
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/base/clock"
	"github.com/rethread/rethread/shared/domain/compaction"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/runs"
	"github.com/rethread/rethread/shared/store/search"
	"github.com/rethread/rethread/shared/store/sessions"
)

// settings are what differs between deployments and in tests.
type settings struct {
	now    func() time.Time
	random func() uuid.UUID
	log    *slog.Logger
	codec  *records.Codec

	compaction compaction.Rules
	parts      int
	quotas     quota.Limits
	retention  session.Retention
	runs       runs.Rules
	search     search.Rules
}

func defaults() settings {
	return settings{
		now:        clock.New(""),
		random:     uuid.New,
		log:        slog.New(slog.DiscardHandler),
		compaction: compaction.Default(),
		parts:      sessions.OutlineParts,
		retention:  func(string) int64 { return 0 },
		runs:       runs.Rules{Lease: run.Lease, OnFailed: func(string) run.OnFailed { return run.Discard }},
		search:     search.DefaultRules(),
	}
}

// Option changes a default of New.
type Option func(*settings)

// WithClock sets the clock; the default is the machine's.
func WithClock(now func() time.Time) Option { return func(s *settings) { s.now = now } }

// WithRandom sets the source of random ids.
func WithRandom(random func() uuid.UUID) Option { return func(s *settings) { s.random = random } }

// WithLogger sets the log for warnings about problems that a later request repairs.
func WithLogger(log *slog.Logger) Option { return func(s *settings) { s.log = log } }

// WithLease sets how long a run lives without a heartbeat; the default is run.Lease.
func WithLease(d time.Duration) Option { return func(s *settings) { s.runs.Lease = d } }

// WithOnFailed sets what becomes of the runs of an agent that fail or are cancelled, for
// starts that do not say it; the default is run.Discard.
func WithOnFailed(of func(agent string) run.OnFailed) Option {
	return func(s *settings) { s.runs.OnFailed = of }
}

// WithCodec sets the codec of the items, for stores that share one: its compressors
// take about a megabyte each.
func WithCodec(codec *records.Codec) Option { return func(s *settings) { s.codec = codec } }

// WithCompaction sets which ranges of a rewound log are compacted.
func WithCompaction(rules compaction.Rules) Option {
	return func(s *settings) { s.compaction = rules }
}

// WithOutlineParts sets how many parts of each level the outline of a timeline has at most,
// 4 or more.
func WithOutlineParts(n int) Option { return func(s *settings) { s.parts = n } }

// WithQuotas sets the limits per user; the default is no limits. A quantity
// without a limit is neither counted nor read.
func WithQuotas(l quota.Limits) Option { return func(s *settings) { s.quotas = l } }

// WithRetention sets the retention of sessions without a setting of their own;
// the default is unlimited. It is called when a session is created and when one
// loses its own setting.
func WithRetention(of session.Retention) Option { return func(s *settings) { s.retention = of } }

// WithSearch sets the bounds of searches.
func WithSearch(rules search.Rules) Option { return func(s *settings) { s.search = rules } }
