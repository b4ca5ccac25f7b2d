package session

import (
	"context"
	"strings"
)

// MaxPage is the largest page of a list; DefaultPage the page without a limit.
const (
	MaxPage     = 1000
	DefaultPage = 100
	// PageBytes bounds the events of one page: a Lambda's answer holds 6 MB,
	// with the page quoted inside a JSON string.
	PageBytes = 3 << 20
)

// ListQuery selects a user's sessions, newest activity first.
type ListQuery struct {
	UserID string
	Agent  string
	Status Status
	Text   string // in the name, whatever the case
	Limit  int
	After  string // position of an earlier page, from ListPage.Next
}

// Matches reports whether a query selects a session of its user.
func (q ListQuery) Matches(agent string, status Status, name string) bool {
	return (q.Agent == "" || agent == q.Agent) &&
		(q.Status == "" || status == q.Status) &&
		(q.Text == "" || strings.Contains(strings.ToLower(name), strings.ToLower(q.Text)))
}

// ListPage is a page of sessions; Next is "" at the end. A page may be short,
// or empty, and still not be the last.
type ListPage struct {
	Sessions []Session
	Next     string
}

// View says which events of a log are wanted.
type View string

// The views of a session's events.
const (
	Effective View = "effective" // on the timeline
	All       View = "all"       // the whole log
)

// EventQuery selects events of a session.
type EventQuery struct {
	View       View
	Descending bool
	After      int64 // only a seq greater than this
	Before     int64 // only a seq smaller than this; 0 for all
	Limit      int
	// Resume continues an earlier page: the seq it ended with and the epoch it
	// was read in. Zero starts at the beginning.
	Resume Resume
}

// Resume is where a page of events ended.
type Resume struct {
	Seq   int64
	Epoch int64
}

// EventPage is a page of events; Next is nil at the end.
type EventPage struct {
	Events []Event
	Next   *Resume
}

// Append is a batch of events to add to a session's log, all or none. Events
// without an id get one from the store; an id of the caller's own is remembered,
// so that the same event sent again is a redelivery.
type Append struct {
	SessionID string
	UserID    string
	Events    []Event
	// ExpectedSeq is the head that the writer has seen; nil does not care.
	ExpectedSeq *int64
}

// Store keeps sessions. Every method takes the id of the user who asks and
// answers fault.NotFound for a session that is not there and fault.Forbidden
// for one that belongs to somebody else.
type Store interface {
	// Create makes a session; its initial state becomes the first event.
	// fault.Conflict where the id is taken.
	Create(ctx context.Context, n New) (Session, error)
	Get(ctx context.Context, userID, id string) (Session, error)
	List(ctx context.Context, q ListQuery) (ListPage, error)
	// Update changes name or metadata; fault.Precondition where IfMatch fails.
	Update(ctx context.Context, userID, id string, p Patch) (Session, error)
	// Delete removes a session and all that belongs to it. The session is gone
	// at once; what could not be removed in time, Sweep removes later.
	Delete(ctx context.Context, userID, id string) error
	State(ctx context.Context, userID, id string) (State, error)
	// Append adds events at the head of the log, all or none, and returns them
	// as stored, in order; appended is how many were not there before.
	// fault.Conflict where ExpectedSeq is not the head or an id was used for
	// other content.
	Append(ctx context.Context, a Append) (stored []Event, appended int, err error)
	// Events reads a page. fault.Conflict where the page before it was read in
	// an earlier epoch.
	Events(ctx context.Context, userID, id string, q EventQuery) (EventPage, error)
}
