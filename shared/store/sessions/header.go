package sessions

import (
	"cmp"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
)

// Header is the item of a session. Appending to the session's log does not change
// it, except to move the session up in its user's list.
type Header struct {
	PK           string         `dynamodbav:"PK"`
	SK           string         `dynamodbav:"SK"`
	User         string         `dynamodbav:"u"`
	App          string         `dynamodbav:"app"`
	Agent        string         `dynamodbav:"agent"`
	Name         string         `dynamodbav:"name"`
	Status       session.Status `dynamodbav:"status"`
	Meta         []byte         `dynamodbav:"m"` // or a reference to the item with them
	Log          string         `dynamodbav:"l"` // its own log; a session created again has another
	Epoch        int64          `dynamodbav:"e,omitempty"`
	Version      int64          `dynamodbav:"v"`
	Created      int64          `dynamodbav:"ct"`
	LastActivity int64          `dynamodbav:"ut"` // last activity without a log entry
	Nonce        string         `dynamodbav:"n"`
	KeyedBy      string         `dynamodbav:"ik,omitempty"` // the user's idempotency claim that it was created under
	GPK          string         `dynamodbav:"GPK"`
	GSK          string         `dynamodbav:"GSK"`

	Marker    int64   `dynamodbav:"mk,omitempty"` // position of the latest rewind marker
	Timeline  []byte  `dynamodbav:"tl,omitempty"` // its outline; absent before the first rewind
	ForkCount int64   `dynamodbav:"fk,omitempty"` // how often it was forked
	Tasks     int64   `dynamodbav:"th,omitempty"` // of a fork: what tasks its log stores
	Origin    *Origin `dynamodbav:"fo,omitempty"` // of a fork
	// ImportedBase is the last seq that an imported session had taken over as a
	// fork.
	ImportedBase int64 `dynamodbav:"tk,omitempty"`
	// Branched is set for an imported session that was a fork.
	Branched bool `dynamodbav:"bf,omitempty"`
	// Imported is when it was imported: its own times are those of the document.
	Imported int64 `dynamodbav:"im,omitempty"`

	// Retention is for how many seconds the session is kept without activity, 0 for
	// unlimited; OwnKept says that the session has its own setting.
	Retention    int64 `dynamodbav:"rt,omitempty"`
	OwnRetention bool  `dynamodbav:"ro,omitempty"`
	// Counted says that the session counts towards its user's quota.
	Counted bool `dynamodbav:"qn,omitempty"`
	// Bytes is the session's share of its user's storage quota.
	Bytes int64 `dynamodbav:"by,omitempty"`

	Run string `dynamodbav:"rn,omitempty"` // the active run
	// CausedBy is the automations that led to the active run or, before the first
	// run, to the session.
	CausedBy []string `dynamodbav:"ca,omitempty"`
	// UnfinishedRun is the last run, if it failed or was cancelled and is not kept: the
	// next one starts from before it.
	UnfinishedRun string `dynamodbav:"rx,omitempty"`
	// KeptRun is the last run, if it failed and is kept: the next one follows it.
	KeptRun string `dynamodbav:"rf,omitempty"`
	// PendingAt is the position of an accepted input that the next run takes over:
	// its first PendingCount events, or all if that is 0.
	PendingAt     int64 `dynamodbav:"ma,omitempty"`
	PendingEvents int64 `dynamodbav:"mo,omitempty"`

	// Continued says how often the active run has been continued; nil for never.
	Continued *Continued `dynamodbav:"rk,omitempty"`
	// Queued is how many starts wait in the session's queue; QueueVersion is the
	// queue's version, 0 if it has never had any.
	Queued       int64 `dynamodbav:"ql,omitempty"`
	QueueVersion int64 `dynamodbav:"qv,omitempty"`

	Saving   map[string]Saving `dynamodbav:"sv,omitempty"` // by task
	Recorded bool              `dynamodbav:"-"`            // whether a save that read this header has written when it was
	metadata []byte            // what Meta refers to, if it was read
}

// The header's attributes that changes and conditions name.
const (
	HeaderLog           = "l"
	HeaderVersion       = "v"
	HeaderLastActivity  = "ut"
	headerName          = "name"
	HeaderStatus        = "status"
	headerMeta          = "m"
	HeaderEpoch         = "e"
	HeaderMarker        = "mk"
	HeaderTimeline      = "tl"
	HeaderForkCount     = "fk"
	HeaderTasks         = "th"
	headerRetention     = "rt"
	headerOwnRetention  = "ro"
	headerBytes         = "by"
	HeaderRun           = "rn"
	HeaderCausedBy      = "ca"
	HeaderUnfinishedRun = "rx"
	HeaderKeptRun       = "rf"
	HeaderPendingAt     = "ma"
	HeaderPendingEvents = "mo"
	HeaderContinued     = "rk"
	HeaderQueued        = "ql"
	HeaderQueueVersion  = "qv"
	HeaderSaving        = "sv"
)

// Origin is where a fork came from, and what it took over.
type Origin struct {
	Session   string  `dynamodbav:"s"`
	Log       string  `dynamodbav:"l"`
	Before    *string `dynamodbav:"i,omitempty"`
	Found     bool    `dynamodbav:"b"`
	Inherited []byte  `dynamodbav:"in"` // outline
	Base      int64   `dynamodbav:"n"`  // seq of its last event; the fork's own log continues from there
	// At is the source's position at the boundary, or its head: later events,
	// hidden or not, are not the fork's.
	Position int64 `dynamodbav:"at"`
	// State is one more than the source's last position up to At that changed its state, 0
	// if that is not known.
	State int64 `dynamodbav:"st,omitempty"`
	// Lineage is the forks among its ancestors, the nearest first, without those in Older.
	Lineage []Lineage `dynamodbav:"an,omitempty"`
	Older   *Older    `dynamodbav:"od,omitempty"` // of a deep fork: its older ancestors
	older   *older    // the content that Older refers to
}

// ID returns the session's id.
func (h *Header) ID() string { return h.PK[len(keys.PrefixSession):] }

// FailedRun returns the last run, if it failed.
func (h *Header) FailedRun() string { return cmp.Or(h.UnfinishedRun, h.KeptRun) }

// Base returns the last seq that a fork took over; 0 for other sessions.
func (h *Header) Base() int64 {
	if h.Origin == nil {
		return 0
	}
	return h.Origin.Base
}

// Inherited returns what a fork took over, whatever it has rewound since.
func (h *Header) Inherited() (session.Outline, error) {
	if h.Origin == nil {
		return nil, nil
	}
	return decodeOutline(h.Origin.Inherited)
}

// Whole returns everything in the session's log, rewound or not.
func (h *Header) Whole() (session.Outline, error) {
	inherited, err := h.Inherited()
	return session.History{Log: h.Log, Base: h.Base(), Inherited: inherited}.Whole(), err
}

// own is Whole without what a fork took over.
func (h *Header) own() (session.Outline, error) {
	return session.Outline(nil).Reopened(h.Log, h.Base()+1), nil
}

// sources returns the logs that a fork took over from, without repetitions. Those of parts
// that its markers have are those of its ancestors.
func (h *Header) sources(inherited session.Outline) []string {
	var out []string
	for _, p := range inherited {
		if p.Level > 0 {
			out = []string{h.Origin.Log}
			for _, l := range h.Origin.Ancestors() {
				out = append(out, l.From)
			}
			break
		}
		if len(out) == 0 || out[len(out)-1] != p.Log {
			out = append(out, p.Log)
		}
	}
	return out
}

// History returns the timelines that the session has had.
func (h *Header) History() (out session.History, err error) {
	out = session.History{Log: h.Log, Base: h.Base(), Marker: h.Marker}
	if out.Inherited, err = h.Inherited(); err == nil && h.Timeline != nil {
		out.Rewound, err = decodeOutline(h.Timeline)
	}
	return out, err
}

// Shown returns what the session shows now.
func (h *Header) Shown() (session.Outline, error) {
	if h.Timeline == nil {
		return h.Whole()
	}
	return decodeOutline(h.Timeline)
}

// OfLog names the session's log.
func (h *Header) OfLog() eventlog.Log {
	return eventlog.Log{Name: h.Log, Session: h.ID(), User: h.User, App: h.App, Base: h.Base()}
}

// Attribution returns the attribution for writes in the session. Writes during an
// automation's run are attributed to the automation.
func (h *Header) Attribution() eventlog.Attribution {
	return eventlog.Attribution{User: h.User, Session: h.ID(), Agent: h.Agent, Chain: h.CausedBy}
}

// Continued says how often a run has been continued. It names the run, so that it
// means nothing for another one.
type Continued struct {
	Run    string `dynamodbav:"r"`
	Number int    `dynamodbav:"n"`
}

// Saving announces the replacement of a task's version, or of an earlier one.
type Saving struct {
	Time    int64 `dynamodbav:"t"` // epoch milliseconds
	Version int64 `dynamodbav:"v"`
}

// ActiveAt returns the time of the last activity without a log entry.
func (h *Header) ActiveAt() int64 {
	last := h.LastActivity
	for _, a := range h.Saving {
		last = max(last, a.Time)
	}
	return last
}

// Taken returns the last seq that the session took over as a fork, or had taken
// over as one before it was imported.
func (h *Header) Taken() int64 { return max(h.Base(), h.ImportedBase) }
