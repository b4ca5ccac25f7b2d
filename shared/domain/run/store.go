package run

import (
	"context"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

// Store stores runs and their output. Methods with a Ref return fault.NotFound if
// the session or run does not exist, fault.Forbidden if the session belongs to
// another user, and writes to a final run return fault.Conflict with the run's
// status.
type Store interface {
	// Start begins a run: it appends the input and makes the run active,
	// atomically. It returns fault.Conflict, with run_id, if another run is active
	// or about to begin and OnActive rejects that, or if the last run failed and
	// OnFailed blocks; with head_seq if ExpectedSeq is not the head. With Enqueue it
	// queues a start that another run prevents, and returns fault.Conflict if the queue
	// is full. A repeat with the same Ref returns the run that was started, or waits.
	Start(ctx context.Context, s Start) (Run, error)
	// Run reads a run; if its lease has expired and it is not to be continued, it
	// first marks the run failed.
	Run(ctx context.Context, ref Ref) (Run, error)
	// ListRuns reads a page of a session's runs, newest first, rewound ones included; those
	// that wait are in the queue alone. Like Run it marks a run failed whose lease has expired.
	ListRuns(ctx context.Context, q ListQuery) (ListPage, error)
	// SentRequests reads a page of the requests to the agent of a run that are still
	// kept. It does not check that the caller may see them.
	SentRequests(ctx context.Context, q SentQuery) (SentPage, error)
	// StartQueued begins the first run of a session's queue, if no run is active and
	// no failed one blocks it. It returns the run that must be handed to a worker,
	// which may have begun in an earlier call; nil for none.
	StartQueued(ctx context.Context, userID, sessionID string) (*Run, error)
	// Cancel ends a run: later writes of its worker have no effect. It removes a
	// waiting run from the queue. It may be repeated, and does not change a final
	// run.
	Cancel(ctx context.Context, ref Ref) (Run, error)
	// CancelAs is Cancel with what becomes of the run; "" is what its start said.
	CancelAs(ctx context.Context, ref Ref, on OnFailed) (Run, error)
	// Thread reads a page of a session's current state, by which a client replaces
	// its own.
	Thread(ctx context.Context, userID, sessionID string, q ThreadQuery) (Thread, error)

	// Claim makes a worker the only one of a run. It returns fault.Conflict if
	// another worker has claimed the run or it is final, so a job that is delivered
	// twice runs once. If the lease of the worker that has claimed it has expired and
	// the run may be continued, it takes over the run: what was stored stays, an item
	// in progress ends as failed, and later writes of the other worker are refused.
	// The worker writes with Ref.Continuation set to the run's Continuations.
	Claim(ctx context.Context, ref Ref, by Claimant) (Run, error)
	// Renew is a heartbeat: it extends the lease.
	Renew(ctx context.Context, ref Ref) error
	// AppendEvents appends whole events to the run's session, like session.Store;
	// they belong to the run's invocation.
	AppendEvents(ctx context.Context, ref Ref, events []session.Event) ([]session.Event, error)
	// BeginItem begins an item: an event in progress with the given id (or one that
	// the store assigns), author and content {role}. At most one item of a run is
	// in progress; another one must be completed first.
	BeginItem(ctx context.Context, ref Ref, e session.Event) (Item, error)
	// OpenItem returns the item in progress with that id; nil if there is none.
	OpenItem(ctx context.Context, ref Ref, itemID string) (Item, error)
	// OpenPush returns what a push to an external run needs: the run, and the item in
	// progress with that id, nil if there is none or the run is not an external one in
	// progress. The item may be one that KeepPush has kept, as it was then, unless it has
	// another number of deltas than offset; nil for any. The next call reads what is
	// stored. Flush and FlushAt of the item extend the run's lease.
	OpenPush(ctx context.Context, ref Ref, itemID string, offset *int64) (Run, Item, error)
	// KeepPush keeps an item for the next push. The caller must not use it any more.
	KeepPush(item Item)
	// End ends a run, with a problem if it failed. An item in progress is
	// completed, or marked failed with the problem. A run that is kept without such an
	// item is marked by an event of its own.
	End(ctx context.Context, ref Ref, status Status, problem *Problem) (Run, error)
	// Expire ends runs whose leases have expired and that are not to be continued.
	// Those that may be continued are given to resume, which hands them to a worker
	// that claims them; nil for none. It returns how many runs it handled.
	Expire(ctx context.Context, resume func(context.Context, Ref) error) (int, error)
}

// Item is an event in progress. It is for one goroutine at a time; if there is
// another writer of the same item, Flush first reads what that one wrote.
type Item interface {
	ID() string
	Seq() int64
	// Offset is the number of the latest stored delta.
	Offset() int64
	// Content is what is stored so far.
	Content() *content.Draft
	// Flush appends deltas to the stored ones; they are durable when it returns,
	// with the numbers Offset()-len+1 to Offset(). It returns fault.Conflict if the
	// run is final or the item complete. After an error, rest is what is not stored:
	// after fault.Busy the caller may flush that again.
	Flush(ctx context.Context, deltas []content.Delta) (rest []content.Delta, err error)
	// Watched reports whether somebody may have watched the item at its last flush.
	Watched() bool
	// FlushAt is Flush after the delta with the number offset: it returns
	// fault.Conflict, with the latest offset, if another writer's deltas came
	// between.
	FlushAt(ctx context.Context, offset int64, deltas []content.Delta) error
	// Complete replaces the item by the whole event, which keeps the item's id,
	// position and invocation. Its state and artifact deltas take effect now.
	Complete(ctx context.Context, e session.Event) (session.Event, error)
}

// ThreadQuery selects a page of a thread.
type ThreadQuery struct {
	Descending bool // latest items first
	Limit      int
	Resume     session.Resume // as in session.EventQuery
}

// Thread is a page of a session's current state, with the items of an active or
// failed run, and the position from which to watch it.
type Thread struct {
	Session session.Session
	// Run is the active run or, in a failed session, the run that failed.
	Run   *Run
	Items []session.Event
	// Seq and Offset are the position of a watcher that has the items of this page
	// and of the pages before it. In descending order that is the head when the
	// page was read: a watcher starts from the first page's.
	Seq, Offset int64
	Next        *session.Resume // nil at the end
	// Queue is the starts that wait.
	Queue Queue
}

// Offsets returns the number of deltas of each item in progress, by id.
func (t Thread) Offsets() map[string]int64 {
	offsets := map[string]int64{}
	for _, e := range t.Items {
		if e.Status == session.EventInProgress {
			offsets[e.ID] = e.Deltas
		}
	}
	return offsets
}
