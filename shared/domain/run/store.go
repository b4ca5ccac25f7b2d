package run

import (
	"context"

	"github.com/rethread/rethread/shared/domain/session"
)

// Store keeps runs and what they produce. Methods with a Ref answer
// fault.NotFound for a session or run that is not there, fault.Forbidden for a
// session of somebody else, and fault.Conflict, with the run's status, to
// whoever would write to a run that is over.
type Store interface {
	// Start begins a run: its input is appended and the session taken, as one.
	// fault.Conflict, with run_id, where another run is active and OnActive
	// rejects that, or where the last run failed and OnFailed blocks. The same
	// Ref again finds the run that was started.
	Start(ctx context.Context, s Start) (Run, error)
	// Run reads a run; one whose lease is out is marked failed first.
	Run(ctx context.Context, ref Ref) (Run, error)
	// Cancel ends a run: nothing that its worker writes lands any more. It may
	// be repeated, and leaves a run that is over as it is.
	Cancel(ctx context.Context, ref Ref) (Run, error)
	// Thread reads what a client replaces its whole state with.
	Thread(ctx context.Context, userID, sessionID string, q ThreadQuery) (Thread, error)

	// Claim makes a worker the only one of a run. fault.Conflict where another
	// worker has claimed it or it is over: a job delivered twice stops here.
	Claim(ctx context.Context, ref Ref, worker string) (Run, error)
	// Renew is a sign of life: it extends the lease.
	Renew(ctx context.Context, ref Ref) error
	// AppendEvents adds whole events to the run's session, as session.Store
	// does; their invocation is the run's.
	AppendEvents(ctx context.Context, ref Ref, events []session.Event) ([]session.Event, error)
	// BeginItem opens an item: an event in progress with the given id (or one of
	// the store's), author and content {role}. At most one item of a run is
	// open; another is completed first.
	BeginItem(ctx context.Context, ref Ref, e session.Event) (Item, error)
	// OpenItem finds the item in progress with that id, nil where there is none.
	OpenItem(ctx context.Context, ref Ref, itemID string) (Item, error)
	// End ends a run, with a problem where it failed. An item in progress is
	// completed, or marked failed with the problem.
	End(ctx context.Context, ref Ref, status Status, problem *Problem) (Run, error)
	// Expire ends runs whose leases are out, and returns how many.
	Expire(ctx context.Context) (int, error)
}

// Item is an event in progress. It is for one goroutine at a time; another
// writer of the same item makes Flush find what that one wrote first.
type Item interface {
	ID() string
	Seq() int64
	// Offset is the number of the newest delta that is stored.
	Offset() int64
	// Content is what is stored so far.
	Content() *Content
	// Flush stores deltas behind those that are there; they are durable when it
	// returns, with the numbers Offset()-len+1 to Offset(). fault.Conflict where
	// the run is over or the item complete.
	Flush(ctx context.Context, deltas []Delta) error
	// FlushAt is Flush behind the delta with the number offset: fault.Conflict,
	// with the newest offset, where another writer's came between.
	FlushAt(ctx context.Context, offset int64, deltas []Delta) error
	// Complete replaces the item by the whole event, which keeps the item's id,
	// position and invocation. Its state and artifact deltas take effect now.
	Complete(ctx context.Context, e session.Event) (session.Event, error)
}

// ThreadQuery selects a page of a thread.
type ThreadQuery struct {
	Descending bool // the newest items first
	Limit      int
	Resume     session.Resume // as in session.EventQuery
}

// Thread is a session as it shows now, with the items of an active or failed
// run, and where to watch it from.
type Thread struct {
	Session session.Session
	// Run is the active run or, in a failed session, the one that failed.
	Run   *Run
	Items []session.Event
	// Seq and Offset are where a watcher stands who has the page's items and
	// those of the pages before it. Descending, that is the head as it was when
	// the page was read: a watcher starts from the first page's.
	Seq, Offset int64
	Next        *session.Resume // nil at the end
}

// Offsets says of the items in progress, by their ids, how many deltas their
// content holds.
func (t Thread) Offsets() map[string]int64 {
	offsets := map[string]int64{}
	for _, e := range t.Items {
		if e.Status == session.EventInProgress {
			offsets[e.ID] = e.Deltas
		}
	}
	return offsets
}
