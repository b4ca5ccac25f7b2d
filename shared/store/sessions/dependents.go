package sessions

import (
	"context"

	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/store/table"
)

// Dependent keeps something beside the sessions that goes with one of them, or with
// its user. Each method may be stopped and repeated at any point.
type Dependent interface {
	// Deleting are the writes that go along with a session's deletion.
	Deleting(d Deletion) []table.Write
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

// Deleting implements Dependent.
func (Nothing) Deleting(Deletion) []table.Write { return nil }

// ForgetLog implements Dependent.
func (Nothing) ForgetLog(context.Context, string) error { return nil }

// SweepLog implements Dependent.
func (Nothing) SweepLog(context.Context, string) error { return nil }

// EraseUser implements Dependent.
func (Nothing) EraseUser(context.Context, string, int64, *erasure.Removed) error { return nil }

// Attach says what goes with the sessions and users that this store removes, in place
// of what was attached before. It is called before the store is used.
func (s *Store) Attach(dependents ...Dependent) { s.dependents = dependents }

// Deletion is the deletion of a session.
type Deletion struct {
	Session Ref
	Made    int64  // when it was made or imported, in epoch milliseconds
	KeyedBy string // the name of the idempotency claim that it was made under, "" for none
}
