package runs

import (
	"time"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/usage"
)

// Store stores runs. It is safe for concurrent use.
type Store struct {
	records.Base
	content  content.Bodies
	logs     *eventlog.Store
	usage    *usage.Store
	sessions *sessions.Store
	history  *history.Store
	pushes   *pushes

	lease    time.Duration
	onFailed func(agent string) run.OnFailed
}

// Rules are the settings of a deployment for its runs.
type Rules struct {
	// Lease is how long a run lives without a heartbeat.
	Lease time.Duration
	// OnFailed is what becomes of the runs of an agent that fail or are cancelled, for
	// starts that do not say it.
	OnFailed func(agent string) run.OnFailed
}

// New returns a store over the table of base.
func New(
	base records.Base, bodies content.Bodies, limits *usage.Store, of *sessions.Store, past *history.Store, rules Rules,
) *Store {
	return &Store{
		Base: base, content: bodies, logs: of.Logs(), usage: limits, sessions: of, history: past,
		pushes: &pushes{kept: map[pushKey]keptPush{}}, lease: rules.Lease, onFailed: rules.OnFailed,
	}
}
