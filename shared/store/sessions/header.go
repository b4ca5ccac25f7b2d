package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// header is the item of a session. Appending to the session's log does not change
// it, except to move the session up in its user's list.
type header struct {
	PK           string         `dynamodbav:"PK"`
	SK           string         `dynamodbav:"SK"`
	User         string         `dynamodbav:"u"`
	App          string         `dynamodbav:"app"`
	Agent        string         `dynamodbav:"agent"`
	Name         string         `dynamodbav:"name"`
	Status       session.Status `dynamodbav:"status"`
	Meta         []byte         `dynamodbav:"m"`
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
	Timeline  []byte  `dynamodbav:"tl,omitempty"` // absent before the first rewind
	ForkCount int64   `dynamodbav:"fk,omitempty"` // how often it was forked
	Origin    *origin `dynamodbav:"fo,omitempty"` // of a fork
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
	// UnfinishedRun is the last run, if it failed or was cancelled: the next one
	// starts from before it.
	UnfinishedRun string `dynamodbav:"rx,omitempty"`
	// PendingAt is the position of an accepted input that the next run takes over:
	// its first PendingCount events, or all if that is 0.
	PendingAt     int64 `dynamodbav:"ma,omitempty"`
	PendingEvents int64 `dynamodbav:"mo,omitempty"`

	// Continued says how often the active run has been continued; nil for never.
	Continued *continued `dynamodbav:"rk,omitempty"`

	Saving    map[string]saving `dynamodbav:"sv,omitempty"` // by task
	announced bool              // by the save that read this header
}

// The header's attributes that changes and conditions name.
const (
	headerLog           = "l"
	headerVersion       = "v"
	headerLastActivity  = "ut"
	headerName          = "name"
	headerStatus        = "status"
	headerMeta          = "m"
	headerEpoch         = "e"
	headerMarker        = "mk"
	headerTimeline      = "tl"
	headerForkCount     = "fk"
	headerRetention     = "rt"
	headerOwnRetention  = "ro"
	headerBytes         = "by"
	headerRun           = "rn"
	headerCausedBy      = "ca"
	headerUnfinishedRun = "rx"
	headerPendingAt     = "ma"
	headerPendingEvents = "mo"
	headerContinued     = "rk"
	headerSaving        = "sv"

	// headerPendingID is what older versions stored instead of PendingAt; it is
	// removed along with it.
	headerPendingID = "mi"
)

// origin is where a fork came from, and what it took over.
type origin struct {
	Session   string  `dynamodbav:"s"`
	Log       string  `dynamodbav:"l"`
	Before    *string `dynamodbav:"i,omitempty"`
	Found     bool    `dynamodbav:"b"`
	Inherited []byte  `dynamodbav:"in"` // timeline
	Base      int64   `dynamodbav:"n"`  // seq of its last event; the fork's own log continues from there
	// At is the source's position at the boundary, or its head: later events,
	// hidden or not, are not the fork's.
	At int64 `dynamodbav:"at"`
	// Lineage is the forks among its ancestors, the nearest first.
	Lineage []lineage `dynamodbav:"an,omitempty"`
}

func (h *header) id() string { return h.PK[len(prefixSession):] }

// base returns the last seq that a fork took over; 0 for other sessions.
func (h *header) base() int64 {
	if h.Origin == nil {
		return 0
	}
	return h.Origin.Base
}

// inherited returns what a fork took over, whatever it has rewound since.
func (h *header) inherited() (session.Timeline, error) {
	if h.Origin == nil {
		return nil, nil
	}
	return session.DecodeTimeline(h.Origin.Inherited)
}

// whole returns everything in the session's log, rewound or not.
func (h *header) whole() (session.Timeline, error) {
	inherited, err := h.inherited()
	return session.History{Log: h.Log, Base: h.base(), Inherited: inherited}.Whole(), err
}

// history returns the timelines that the session has had.
func (h *header) history() (out session.History, err error) {
	out = session.History{Log: h.Log, Base: h.base(), Marker: h.Marker}
	if out.Inherited, err = h.inherited(); err == nil && h.Timeline != nil {
		out.Rewound, err = session.DecodeTimeline(h.Timeline)
	}
	return out, err
}

// timeline returns what the session shows now.
func (h *header) timeline() (session.Timeline, error) {
	if h.Timeline == nil {
		return h.whole()
	}
	return session.DecodeTimeline(h.Timeline)
}

// sameLog is the condition that the session is still the one that was read.
func (h *header) sameLog() table.Condition { return table.Equal(table.At(headerLog), h.Log) }

// unchanged is the condition that an attribute, which is absent if it is 0 or
// empty, still has the value that was read.
func unchanged[T comparable](name string, read T) table.Condition {
	var none T
	if read == none {
		return table.NotExists(table.At(name))
	}
	return table.Equal(table.At(name), read)
}

// unmatchable returns table.ErrUnreadable if a condition on the header failed although
// the item that it met decodes to what was read: no condition matches the stored form
// of its attributes, so that every further attempt would fail too. Otherwise it
// returns err.
func (h *header) unmatchable(err error) error {
	var failed *table.ConditionError
	if !errors.As(err, &failed) {
		return err
	}
	for _, f := range failed.Failures {
		var met header
		if table.Text(f.Found, attrPK) != h.PK || table.Text(f.Found, attrSK) != h.SK || table.Decode(f.Found, &met) != nil {
			continue
		}
		if met.Log == h.Log && met.ForkCount == h.ForkCount && met.Epoch == h.Epoch && maps.Equal(met.Saving, h.Saving) {
			return fmt.Errorf("%w: the attributes of session %s have another form than this version writes", table.ErrUnreadable, h.id())
		}
	}
	return err
}

// header reads a session that the user owns.
func (s *Store) header(ctx context.Context, userID, id string) (*header, error) {
	var h header
	found, err := s.db.Get(ctx, sessionKey(id), &h)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read session %s: %w", id, err)
	case !found:
		return nil, missingSession()
	case h.User != userID:
		return nil, fault.NotYours("session")
	}
	return &h, nil
}

// errMissingEntry says that a log lacks an entry that it must contain.
var errMissingEntry = errors.New("an entry is missing")

func missingSession() error { return fault.Missing("Session") }

// checkExists checks that a session has not been deleted: what was read of its log
// before is then complete.
func (s *Store) checkExists(ctx context.Context, h *header) error {
	found, err := s.db.Get(ctx, tasksDeletedKey(h.Log), &struct{}{})
	if err == nil && found {
		err = missingSession()
	}
	return err
}

// notFoundIfDeleted returns NotFound when the session was deleted during the
// operation, and err otherwise. Without a header it returns err.
func (s *Store) notFoundIfDeleted(ctx context.Context, h *header, err error) error {
	var known *fault.Error
	if h == nil || err == nil || errors.Is(err, table.ErrConditionFailed) || errors.Is(err, errRewound) ||
		(errors.As(err, &known) && known.Kind != fault.NotFound) {
		return err
	}
	if gone := s.checkExists(ctx, h); errors.Is(gone, fault.Of(fault.NotFound)) {
		return gone
	}
	return err
}

// render returns the domain's session for a header and the head of its log.
func (s *Store) render(h *header, at head) (session.Session, error) {
	var meta json.RawMessage
	if err := s.content.Decode(h.Meta, &meta); err != nil {
		return session.Session{}, fmt.Errorf("metadata of session %s: %w", h.id(), err)
	}
	out := session.Session{
		ID:          h.id(),
		UserID:      h.User,
		AppName:     h.App,
		Agent:       h.Agent,
		Name:        h.Name,
		Status:      h.Status,
		Metadata:    meta,
		Epoch:       h.Epoch,
		HeadSeq:     at.last(),
		CreatedTime: h.Created,
		UpdatedTime: max(h.Created, h.lastActivity(), at.time),
		Version:     h.Version,
	}
	if h.Run != "" {
		out.ActiveRunID = &h.Run
	}
	if h.Retention > 0 {
		out.Retention, out.ExpiresTime = h.Retention, h.retained().Expires(out.UpdatedTime)
	}
	if o := h.Origin; o != nil {
		out.Fork = &session.Fork{
			SessionID: o.Session, RewindBeforeInvocationID: o.Before, BoundaryFound: o.Found, Taken: o.Base,
		}
	}
	return out, nil
}

// headerAndHead reads a session and the head of its log. If the head includes a
// rewind that the header does not, both are read again, so that they belong
// together.
func (s *Store) headerAndHead(ctx context.Context, userID, id string) (h *header, at head, err error) {
	err = records.Settled(ctx, func() (err error) {
		if h, err = s.header(ctx, userID, id); err != nil {
			return err
		}
		if at, err = s.readHead(ctx, h); err == nil && at.lastMarker > h.Marker {
			err = errRewound
		}
		return err
	})
	if err != nil {
		return nil, head{}, err
	}
	return h, at, nil
}

// Get implements session.Store.
func (s *Store) Get(ctx context.Context, userID, id string) (session.Session, error) {
	h, at, _, err := s.readSettled(ctx, userID, id)
	if err != nil {
		return session.Session{}, err
	}
	return s.render(h, at)
}
