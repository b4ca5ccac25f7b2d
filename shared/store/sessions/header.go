package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Header is the item of a session. Appending to the session's log does not change
// it, except to move the session up in its user's list.
type Header struct {
	PK  string `dynamodbav:"PK"`
	SK  string `dynamodbav:"SK"`
	GPK string `dynamodbav:"GPK"`
	GSK string `dynamodbav:"GSK"`
	Identity
	Settings
	Rewinds
	Descent
	Usage
	RunState

	Saving   map[string]Saving `dynamodbav:"sv,omitempty"` // by task
	Recorded bool              `dynamodbav:"-"`            // whether a save that read this header has written when it was
	metadata []byte            // what Meta refers to, if it was read
}

// Identity is what stays the same as long as there is a session.
type Identity struct {
	User    string `dynamodbav:"u"`
	App     string `dynamodbav:"app"`
	Log     string `dynamodbav:"l"` // its own log; a session created again has another
	Created int64  `dynamodbav:"ct"`
	// Imported is when it was imported: its own times are those of the document.
	Imported int64  `dynamodbav:"im,omitempty"`
	Nonce    string `dynamodbav:"n"`
	KeyedBy  string `dynamodbav:"ik,omitempty"` // the user's idempotency claim that it was created under
}

// Settings is what callers set, and when.
type Settings struct {
	Agent        string `dynamodbav:"agent"`
	Name         string `dynamodbav:"name"`
	Meta         []byte `dynamodbav:"m"` // or a reference to the item with them
	Version      int64  `dynamodbav:"v"`
	LastActivity int64  `dynamodbav:"ut"` // last activity without a log entry
	// Retention is for how many seconds the session is kept without activity, 0 for
	// unlimited; OwnRetention says that the session has its own setting.
	Retention    int64 `dynamodbav:"rt,omitempty"`
	OwnRetention bool  `dynamodbav:"ro,omitempty"`
}

// Rewinds is what the session shows since its latest rewind.
type Rewinds struct {
	Epoch    int64  `dynamodbav:"e,omitempty"`
	Marker   int64  `dynamodbav:"mk,omitempty"` // position of the latest rewind marker
	Timeline []byte `dynamodbav:"tl,omitempty"` // its outline; absent before the first rewind
}

// Descent is the session's place among forks.
type Descent struct {
	Origin    *Origin `dynamodbav:"fo,omitempty"` // of a fork
	Tasks     int64   `dynamodbav:"th,omitempty"` // of a fork: what tasks its log stores
	ForkCount int64   `dynamodbav:"fk,omitempty"` // how often it was forked
	// ImportedBase is the last seq that an imported session had taken over as a
	// fork.
	ImportedBase int64 `dynamodbav:"tk,omitempty"`
	// Branched is set for an imported session that was a fork.
	Branched bool `dynamodbav:"bf,omitempty"`
}

// Usage is what the session counts towards its user's quotas.
type Usage struct {
	Counted bool  `dynamodbav:"qn,omitempty"` // whether it is one of the sessions
	Bytes   int64 `dynamodbav:"by,omitempty"`
}

// RunState is what the header says of the session's runs.
type RunState struct {
	Status session.Status `dynamodbav:"status"`
	Run    string         `dynamodbav:"rn,omitempty"` // the active run
	// CausedBy is the automations that led to the active run or, before the first
	// run, to the session.
	CausedBy []string `dynamodbav:"ca,omitempty"`
	// UnfinishedRun is the last run, if it failed or was cancelled and is not kept: the
	// next one starts from before it.
	UnfinishedRun string `dynamodbav:"rx,omitempty"`
	// KeptRun is the last run, if it failed and is kept: the next one follows it.
	KeptRun string `dynamodbav:"rf,omitempty"`
	// PendingAt is the position of an accepted input that the next run takes over:
	// its first PendingEvents events, or all if that is 0.
	PendingAt     int64 `dynamodbav:"ma,omitempty"`
	PendingEvents int64 `dynamodbav:"mo,omitempty"`
	// Continued says how often the active run has been continued; nil for never.
	Continued *Continued `dynamodbav:"rk,omitempty"`
	// Queued is how many starts wait in the session's queue; QueueVersion is the
	// queue's version, 0 if it has never had any.
	Queued       int64 `dynamodbav:"ql,omitempty"`
	QueueVersion int64 `dynamodbav:"qv,omitempty"`
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

// ID returns the session's id.
func (h *Header) ID() string { return h.PK[len(keys.PrefixSession):] }

// Base returns the last seq that a fork took over; 0 for other sessions.
func (h *Header) Base() int64 {
	if h.Origin == nil {
		return 0
	}
	return h.Origin.Base
}

// Taken returns the last seq that the session took over as a fork, or had taken
// over as one before it was imported.
func (h *Header) Taken() int64 { return max(h.Base(), h.ImportedBase) }

// FailedRun returns the last run, if it failed.
func (h *Header) FailedRun() string { return cmp.Or(h.UnfinishedRun, h.KeptRun) }

// ActiveAt returns the time of the last activity without a log entry.
func (h *Header) ActiveAt() int64 {
	last := h.LastActivity
	for _, a := range h.Saving {
		last = max(last, a.Time)
	}
	return last
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

// headerGone is the attribute of departed.Gone.
const headerGone = "gl"

// Departed reports whether an item under the key of a header says only that its session is
// being deleted.
func Departed(item table.Item) bool { return item[headerGone] != nil }

// SameLog is the condition that the session is still the one that was read.
func (h *Header) SameLog() table.Condition { return table.Equal(table.Path{HeaderLog}, h.Log) }

// Unmatchable returns table.ErrUnreadable if a condition on the header failed although
// the item that it met decodes to what was read: no condition matches the stored form
// of its attributes, so that every further attempt would fail too. Otherwise it
// returns err.
func (h *Header) Unmatchable(err error) error {
	var failed *table.ConditionError
	if !errors.As(err, &failed) {
		return err
	}
	for _, f := range failed.Failures {
		var met Header
		if table.Text(f.Found, table.PK) != h.PK || table.Text(f.Found, table.SK) != h.SK || table.Decode(f.Found, &met) != nil {
			continue
		}
		if met.Log == h.Log && met.ForkCount == h.ForkCount && met.Epoch == h.Epoch && met.Tasks == h.Tasks && met.Version == h.Version && maps.Equal(met.Saving, h.Saving) {
			return fmt.Errorf("%w: the attributes of session %s have another form than this version writes", table.ErrUnreadable, h.ID())
		}
	}
	return err
}

// Header reads a session that the user owns.
func (s *reader) Header(ctx context.Context, userID, id string) (*Header, error) {
	item, err := s.DB.GetItem(ctx, keys.SessionKey(id))
	return s.ownHeader(ctx, item, err, userID, id)
}

// HeaderEventually is header at half the price, for callers that notice a header that
// is not the latest.
func (s *reader) HeaderEventually(ctx context.Context, userID, id string) (*Header, error) {
	item, err := s.DB.GetEventually(ctx, keys.SessionKey(id))
	return s.ownHeader(ctx, item, err, userID, id)
}

func (s *reader) ownHeader(ctx context.Context, item table.Item, err error, userID, id string) (*Header, error) {
	h, err := s.decodeHeader(ctx, item, err, id)
	switch {
	case err != nil:
		return nil, err
	case h.User != userID:
		return nil, fault.NotYours("session")
	}
	return s.withAncestors(ctx, h)
}

// AnyHeader reads a session of any owner.
func (s *Store) AnyHeader(ctx context.Context, id string) (*Header, error) {
	item, err := s.DB.GetItem(ctx, keys.SessionKey(id))
	h, err := s.decodeHeader(ctx, item, err, id)
	if err != nil {
		return nil, err
	}
	return s.withAncestors(ctx, h)
}

// decodeHeader decodes an item that was read under the key of a session.
func (s *reader) decodeHeader(ctx context.Context, item table.Item, err error, id string) (*Header, error) {
	var h Header
	if err == nil && Departed(item) {
		item, err = s.Present(ctx, item)
	}
	if err == nil && item != nil {
		err = table.Decode(item, &h)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read session %s: %w", id, err)
	case item == nil:
		return nil, eventlog.MissingSession()
	}
	return &h, nil
}

// withAncestors completes the header of a deep fork.
func (s *reader) withAncestors(ctx context.Context, h *Header) (*Header, error) {
	if h.Origin == nil {
		return h, nil
	}
	if err := s.ReadAncestors(ctx, h.Origin); err != nil {
		return nil, fmt.Errorf("read session %s: %w", h.ID(), err)
	}
	return h, nil
}

// HeaderReader reads a session that the user owns.
type HeaderReader func(ctx context.Context, userID, id string) (*Header, error)

// EventualOnce returns a HeaderReader for callers that compare the header with a
// consistent one in the end: only its first call is eventually consistent, at half
// the price. A session that a lagging replica lacks, or gives another owner, is read
// again at once.
func (s *reader) EventualOnce() HeaderReader {
	first := true
	return func(ctx context.Context, userID, id string) (*Header, error) {
		if !first {
			return s.Header(ctx, userID, id)
		}
		first = false
		h, err := s.HeaderEventually(ctx, userID, id)
		if errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden)) {
			return s.Header(ctx, userID, id)
		}
		return h, err
	}
}

// HeaderAndHead reads a session and the head of its log. If the head includes a
// rewind that the header does not, both are read again, so that they belong
// together.
func (s *reader) HeaderAndHead(ctx context.Context, userID, id string) (h *Header, head eventlog.Head, err error) {
	return s.HeaderAndHeadBy(ctx, s.Header, userID, id)
}

// HeaderAndHeadBy is HeaderAndHead with a HeaderReader.
func (s *reader) HeaderAndHeadBy(ctx context.Context, read HeaderReader, userID, id string) (h *Header, head eventlog.Head, err error) {
	err = records.Settled(ctx, func() (err error) {
		if h, err = read(ctx, userID, id); err != nil {
			return err
		}
		head, err = s.logs.ReadHead(ctx, h.OfLog())
		switch {
		case errors.Is(err, fault.Of(fault.NotFound)):
			err = s.createdAgain(ctx, read, h, err)
		case err == nil && head.LastMarker > h.Marker:
			err = eventlog.ErrRewound
		}
		return err
	})
	if err != nil {
		return nil, eventlog.Head{}, err
	}
	return h, head, nil
}

// createdAgain returns ErrRewound if a session whose log was deleted has another log now,
// and err otherwise.
func (s *reader) createdAgain(ctx context.Context, read HeaderReader, h *Header, err error) error {
	now, failed := read(ctx, h.User, h.ID())
	switch {
	case failed != nil:
		return failed
	case now.Log != h.Log:
		return eventlog.ErrRewound
	}
	return err
}

// NotFoundIfDeleted returns NotFound when the session was deleted during the
// operation, and err otherwise. Without a header it returns err.
func (s *reader) NotFoundIfDeleted(ctx context.Context, h *Header, err error) error {
	if h == nil || err == nil {
		return err
	}
	return s.logs.DeletedOr(ctx, h.Log, err)
}

// Holds implements eventlog.Owner. If the session has lost the log, that is swept again, since an
// entry may have come after the last sweep.
func (s *reader) Holds(ctx context.Context, l eventlog.Log) error {
	now, err := s.Header(ctx, l.User, l.Session)
	switch {
	case err == nil && now.Log == l.Name:
		return nil
	case err != nil && !errors.Is(err, fault.Of(fault.NotFound)) && !errors.Is(err, fault.Of(fault.Forbidden)):
		return fmt.Errorf("%w: whether the session still exists is not known: %v", table.ErrUndecided, err) //nolint:errorlint // as in records
	}
	if err := s.SweepLater(ctx, l.Name); err != nil {
		return err
	}
	return eventlog.MissingSession()
}

// StillHolds implements eventlog.Owner.
func (*Store) StillHolds(l eventlog.Log) table.Write { return Ref{ID: l.Session, Log: l.Name}.Check() }
