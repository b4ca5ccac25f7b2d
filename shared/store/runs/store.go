package runs

import (
	"time"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/usage"
)

// Store stores runs. It is safe for concurrent use.
type Store struct {
	*settler
	history   *history.Store
	openItems *openItems
	onFailed  func(agent string) run.OnFailed
}

// reader reads what a session's log and its items say about runs, and builds the
// entries that say it. It writes nothing.
type reader struct {
	records.Base
	content  records.Bodies
	logs     *eventlog.Store
	sessions *sessions.Store
	lease    time.Duration
}

// settler ends runs, and with them those whose workers were lost whenever a session is
// read. It changes the queue of a session.
type settler struct {
	*reader
	slots *slots
}

// slots stores which runs occupy the slots of their users. It is only used if the
// deployment limits the runs of a user.
type slots struct {
	*reader
	usage *usage.Store
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
	base records.Base, bodies records.Bodies, limits *usage.Store, of *sessions.Store, past *history.Store, rules Rules,
) *Store {
	read := &reader{Base: base, content: bodies, logs: of.Logs(), sessions: of, lease: rules.Lease}
	return &Store{
		settler: &settler{reader: read, slots: &slots{reader: read, usage: limits}}, history: past,
		openItems: &openItems{kept: map[openItemKey]openItem{}}, onFailed: rules.OnFailed,
	}
}
