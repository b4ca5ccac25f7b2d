package sessions

import (
	"context"
)

// Candidate is a session of a list that is searched.
type Candidate struct {
	ID, Owner string
	Log       string // the session's, "" for any
	Access    string // of the caller, as in session.Session
	Position  string // in the list
}

// Candidates reads a page of the sessions that a caller may search, without
// filters; next is where to continue, "" at the end.
type Candidates func(ctx context.Context, after string, limit int) (found []Candidate, next string, err error)
