package lifecycle

import (
	"context"

	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// Dependent stores items besides the sessions that are deleted with a session or
// with its user. Each method may be interrupted and repeated at any point.
type Dependent interface {
	// Deleting returns the writes that belong to a session's deletion.
	Deleting(d Deletion) []table.Write
	// ForgetLog removes what belongs to the deleted session of a log.
	ForgetLog(ctx context.Context, log string) error
	// SweepLog removes what requests that read the session before its deletion may
	// have written since; it is called sweep.Grace later.
	SweepLog(ctx context.Context, log string) error
	// EraseUser removes what a user had at a time, in epoch milliseconds, and
	// counts it.
	EraseUser(ctx context.Context, user string, before int64, removed *erasure.Removed) error
}

// Nothing is a Dependent that removes nothing, to be embedded by those without all
// kinds of items.
type Nothing struct{}

// Deleting implements Dependent.
func (Nothing) Deleting(Deletion) []table.Write { return nil }

// ForgetLog implements Dependent.
func (Nothing) ForgetLog(context.Context, string) error { return nil }

// SweepLog implements Dependent.
func (Nothing) SweepLog(context.Context, string) error { return nil }

// EraseUser implements Dependent.
func (Nothing) EraseUser(context.Context, string, int64, *erasure.Removed) error { return nil }

// Attach sets the dependents of the sessions and users that this store removes,
// replacing earlier ones. It is called before the store is used.
func (s *Store) Attach(dependents ...Dependent) { s.dependents = dependents }

// Deletion is the deletion of a session.
type Deletion struct {
	Session sessions.Ref
	Made    int64  // when it was created or imported, in epoch milliseconds
	KeyedBy string // the name of the idempotency claim that it was created under, "" for none
}
