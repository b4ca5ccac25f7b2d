package session

import (
	"context"
	"errors"
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
	Text   string // words that the name contains, in any order, whatever the case
	Limit  int
	After  string // position of an earlier page, from ListPage.Next
	Exact  bool   // whether to read each session's log, as ListPage says
}

// Matches reports whether a query selects a session of its user.
func (q ListQuery) Matches(agent string, status Status, name string) bool {
	return (q.Agent == "" || agent == q.Agent) &&
		(q.Status == "" || status == q.Status) &&
		containsWords(name, q.Text)
}

// containsWords reports whether a name contains each word of a text, in any order,
// whatever the case.
func containsWords(name, text string) bool {
	name = strings.ToLower(name)
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		if !strings.Contains(name, word) {
			return false
		}
	}
	return true
}

// ListPage is a page of sessions; Next is "" at the end. A page may be short,
// or empty, and still not be the last.
type ListPage struct {
	Sessions []Session
	Next     string
	// Exact says that the logs were read. Otherwise HeadSeq of the sessions is unknown,
	// and UpdatedTime is when a session last came to the top of its owner's list.
	Exact bool
}

// Row is a session as lists show it.
type Row struct {
	Session
	HeadSeq *int64 `json:"head_seq"` // nil if the page is not exact
}

// Rows returns the sessions of the page as lists show them.
func (p ListPage) Rows() []Row {
	rows := make([]Row, len(p.Sessions))
	for i, of := range p.Sessions {
		rows[i].Session = of
		if p.Exact {
			rows[i].HeadSeq = &of.HeadSeq
		}
	}
	return rows
}

// View selects events of a log by their visibility.
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
	// Epoch is that of the session when the page was read: a reader that uses only a
	// part of the page continues after its last event in this epoch.
	Epoch int64
}

// Append is a batch of events to add to a session's log, all or none. Events
// without an id get one from the store; an id of the caller's own is remembered,
// so that the same event sent again is a redelivery.
type Append struct {
	SessionID string
	UserID    string
	Events    []Event
	// ExpectedSeq is the head that the writer has seen; nil accepts any head.
	ExpectedSeq *int64
	// Keyed is set for a request with an idempotency key.
	Keyed *Keyed
}

// Keyed says how a batch is recognised that is sent again with the same idempotency
// key.
type Keyed struct {
	Name string // of the request: the same for each repeat, and for no other request
	// IDs are, for the events without an id of their own, UUIDs that are the same for
	// each repeat. The event's id is made of it.
	IDs []string
	// FindOnly makes the append return ErrNotAppended instead of appending.
	FindOnly bool
}

// ErrNotAppended is the error of Append with FindOnly for events that are not in the
// log.
var ErrNotAppended = errors.New("the events are not in the log")

// Store stores sessions. Every method takes the id of the calling user and returns
// fault.NotFound for a session that does not exist and fault.Forbidden for one of
// another user.
type Store interface {
	// Create creates a session; its initial state becomes the first event. It returns
	// fault.Conflict if the id is taken.
	Create(ctx context.Context, n New) (Session, error)
	Get(ctx context.Context, userID, id string) (Session, error)
	List(ctx context.Context, q ListQuery) (ListPage, error)
	// Search is List of the sessions in which all words of q.Text were said in one
	// message, each with the newest of them as its Match. It returns fault.Malformed if
	// the text has no word.
	Search(ctx context.Context, q ListQuery) (ListPage, error)
	// Update changes name or metadata; it returns fault.Precondition if IfMatch is
	// not the current version.
	Update(ctx context.Context, userID, id string, p Patch) (Session, error)
	// Delete deletes a session and everything that belongs to it. The session is
	// inaccessible at once; what cannot be removed in time is removed by Sweep.
	Delete(ctx context.Context, userID, id string) error
	State(ctx context.Context, userID, id string) (State, error)
	// Append adds events at the head of the log, all or none, and returns them as
	// stored, in order; appended is how many were not stored before. It returns
	// fault.Conflict if ExpectedSeq is not the head or an id was used for other
	// content.
	Append(ctx context.Context, a Append) (stored []Event, appended int, err error)
	Reader
}
