package sessions

import (
	"context"

	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/store/table"
)

// Dependent keeps something beside the sessions that goes with one of them, or with
// its user. Each method may be stopped and repeated at any point.
type Dependent interface {
	// ForgetLog removes what belongs to the session of a log, which is deleted.
	ForgetLog(ctx context.Context, log string) error
	// SweepLog removes what requests that read the session before may have written
	// since; SweepGrace later.
	SweepLog(ctx context.Context, log string) error
	// EraseUser removes what a user had at a time, in epoch milliseconds, and counts it.
	EraseUser(ctx context.Context, user string, before int64, removed *erasure.Removed) error
}

// Nothing is a Dependent with nothing to remove, for those that have not all kinds.
type Nothing struct{}

// ForgetLog implements Dependent.
func (Nothing) ForgetLog(context.Context, string) error { return nil }

// SweepLog implements Dependent.
func (Nothing) SweepLog(context.Context, string) error { return nil }

// EraseUser implements Dependent.
func (Nothing) EraseUser(context.Context, string, int64, *erasure.Removed) error { return nil }

// Attach says what goes with the sessions and users that this store removes, in place
// of what was attached before. It is called before the store is used.
func (s *Store) Attach(dependents ...Dependent) { s.dependents = dependents }

// Ref is a session as packages beside this one know it.
type Ref struct {
	ID   string
	User string // who owns it
	Log  string // its log; a session created again has another
}

// Find is a session that a user owns: fault.NotFound or fault.Forbidden where none is.
func (s *Store) Find(ctx context.Context, userID, id string) (Ref, error) {
	h, err := s.header(ctx, userID, id)
	if err != nil {
		return Ref{}, err
	}
	return h.ref(), nil
}

func (h *header) ref() Ref { return Ref{ID: h.id(), User: h.User, Log: h.Log} }

// Check is a write that holds while the session is still the one that was found.
func (r Ref) Check() table.Write {
	return table.Check(sessionKey(r.ID), table.Equal(table.At(headerLog), r.Log))
}
