package runs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// AppendEvents implements run.Store.
func (s *Store) AppendEvents(ctx context.Context, ref run.Ref, events []session.Event) ([]session.Event, error) {
	h, err := s.ownerOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	for i := range events {
		events[i].InvocationID = ref.RunID
	}
	done, err := s.logs.Append(ctx, h.OfLog(), events, eventlog.Along{
		Check:    s.whileActive(ref),
		Annotate: func(_ eventlog.Head, en *eventlog.Entry) { en.OfRun = true },
	})
	if err != nil {
		return nil, s.sessions.NotFoundIfDeleted(ctx, h, err)
	}
	return sessions.InSession(done.Events, ref.SessionID), nil
}

// BeginItem implements run.Store. The item gets its position in the log at once.
func (s *Store) BeginItem(ctx context.Context, ref run.Ref, e session.Event) (run.Item, error) {
	h, head, a, err := s.running(ctx, ref)
	if err != nil {
		return nil, err
	}
	before, err := s.open(ctx, h, head, a, ref)
	if err != nil {
		return nil, err
	}
	if before != nil {
		if before.ID() == e.ID {
			return before, nil
		}
		if err := s.completeOpen(ctx, before); err != nil {
			return nil, err
		}
	}
	e.InvocationID = ref.RunID
	with := eventlog.Along{
		Check:    s.whileActive(ref),
		Annotate: func(_ eventlog.Head, en *eventlog.Entry) { en.Status, en.Streamed = session.EventInProgress, true },
	}
	if before == nil {
		with.From = &head
	}
	done, err := s.logs.Append(ctx, h.OfLog(), []session.Event{e}, with)
	if err != nil {
		return nil, s.sessions.NotFoundIfDeleted(ctx, h, err)
	}
	if done.Fresh == 0 { // an earlier attempt, or an event that is already whole
		if it, err := s.OpenItem(ctx, ref, e.ID); it != nil || err != nil {
			return it, err
		}
		return nil, fault.New(fault.ItemNotInProgress, "the item %q is complete", e.ID).With("item_id", e.ID)
	}
	begun := done.Last
	if begun == nil { // an attempt of its own had succeeded, and its answer was lost
		if begun, err = s.logs.EntryCovering(ctx, h.Log, done.Events[0].Seq); err != nil {
			return nil, s.sessions.NotFoundIfDeleted(ctx, h, err)
		}
	}
	return s.logs.NewItem(h.OfLog(), begun, s.runOf(h, ref, a)), nil
}

// completeOpen completes an item with the content of its deltas.
func (s *Store) completeOpen(ctx context.Context, it *eventlog.Item) error {
	content, err := it.Content().Finish()
	if err != nil {
		return err
	}
	_, err = it.Complete(ctx, eventlog.WithField(it.Begun(), "content", content, it.Offset()))
	return err
}

// OpenItem implements run.Store.
func (s *Store) OpenItem(ctx context.Context, ref run.Ref, itemID string) (run.Item, error) {
	h, head, a, err := s.running(ctx, ref)
	if err != nil {
		return nil, err
	}
	it, err := s.open(ctx, h, head, a, ref)
	if err != nil || it == nil || it.ID() != itemID {
		return nil, err
	}
	return it, nil
}

// open returns the run's item in progress at a head, with its content; nil if there is
// none.
func (s *Store) open(ctx context.Context, h *sessions.Header, head eventlog.Head, a *ActiveRun, ref run.Ref) (*eventlog.Item, error) {
	it, err := s.openItem(ctx, h, head, a)
	if it != nil && a.Continuations > 0 { // the item may be a later worker's
		_, err = s.ownerOf(ctx, ref)
	}
	return it, err
}

// running reads an active run, its session and the head of the log.
func (s *Store) running(ctx context.Context, ref run.Ref) (*sessions.Header, eventlog.Head, *ActiveRun, error) {
	h, head, a, err := s.ReadSettled(ctx, ref.UserID, ref.SessionID)
	if err != nil {
		return nil, eventlog.Head{}, nil, err
	}
	if a == nil || a.ID != ref.RunID {
		if err := s.stillActive(ctx, h, ref); err != nil {
			return nil, eventlog.Head{}, nil, err
		}
		return nil, eventlog.Head{}, nil, fault.Missing("Run")
	}
	if a.Continuation != ref.Continuation {
		return nil, eventlog.Head{}, nil, run.SupersededFault(ref)
	}
	return h, head, a, nil
}

// whileActive lets an append happen while the run is active.
func (s *Store) whileActive(ref run.Ref) func(context.Context, eventlog.Head) error {
	return func(ctx context.Context, _ eventlog.Head) error {
		_, err := s.ownerOf(ctx, ref)
		return err
	}
}

// An agent that pushes an answer piece by piece usually reaches the same process each
// time. That keeps the item, and reads only whose session it is and which run is
// active: the condition of the next write fails if anybody else has written, completed
// the item or ended the run, and the item is then read. Deltas without an offset are
// stored after those that the item has by then.

const (
	// maxOpenItems is how many items a process keeps, each of run.MaxItem at most.
	maxOpenItems = 16
	// openItemLife is how long an item is kept that nothing is pushed to.
	openItemLife = time.Minute
)

// openItemKey identifies an item in progress by what a push names.
type openItemKey struct{ user, session, run, item string }

// openItems are the items that were pushed to last. It is safe for concurrent use; an
// item is taken out while a request uses it.
type openItems struct {
	mu   sync.Mutex
	kept map[openItemKey]openItem
}

type openItem struct {
	item *eventlog.Item
	at   time.Time
}

func openItemKeyOf(ref run.Ref, itemID string) openItemKey {
	return openItemKey{ref.UserID, ref.SessionID, ref.RunID, itemID}
}

// take returns an item and forgets it; nil if there is none.
func (o *openItems) take(k openItemKey, now time.Time) *eventlog.Item {
	o.mu.Lock()
	defer o.mu.Unlock()
	found, ok := o.kept[k]
	if !ok {
		return nil
	}
	delete(o.kept, k)
	if now.Sub(found.at) > openItemLife {
		return nil
	}
	return found.item
}

// keep keeps an item, in place of the oldest one if there are too many.
func (o *openItems) keep(k openItemKey, it *eventlog.Item, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept[k] = openItem{it, now}
	if len(o.kept) <= maxOpenItems {
		return
	}
	oldest := k
	for other, kept := range o.kept {
		if kept.at.Before(o.kept[oldest].at) {
			oldest = other
		}
	}
	delete(o.kept, oldest)
}

// OpenPush implements run.Store.
func (s *Store) OpenPush(ctx context.Context, ref run.Ref, itemID string, offset *int64) (run.Run, run.Item, error) {
	it := s.openItems.take(openItemKeyOf(ref, itemID), s.Now())
	if it != nil && (offset == nil || it.Offset() == *offset) && s.stillPushable(ctx, it) {
		return it.Producer.(*runningItem).active.Run(), it, nil
	}
	h, head, a, err := s.ReadSettled(ctx, ref.UserID, ref.SessionID)
	if err != nil {
		return run.Run{}, nil, err
	}
	if a == nil || a.ID != ref.RunID {
		r, err := s.Run(ctx, ref)
		return r, nil, err
	}
	if a.Mode != run.External {
		return a.Run(), nil, nil
	}
	it, err = s.openItem(ctx, h, head, a)
	if err != nil || it == nil || it.ID() != itemID {
		return a.Run(), nil, s.sessions.NotFoundIfDeleted(ctx, h, err)
	}
	return a.Run(), it, nil
}

// stillPushable reports whether the session is the user's and the item's run active,
// by a read that may be out of date.
func (s *Store) stillPushable(ctx context.Context, it *eventlog.Item) bool {
	h, err := s.sessions.HeaderEventually(ctx, it.Log.User, it.Log.Session)
	return err == nil && h.Log == it.Log.Name && h.Run == it.Producer.(*runningItem).ref.RunID
}

// KeepPush implements run.Store.
func (s *Store) KeepPush(pushed run.Item) {
	it, ok := pushed.(*eventlog.Item)
	if !ok || it.Stale {
		return
	}
	if by, ok := it.Producer.(*runningItem); ok && by.Shared() {
		s.openItems.keep(openItemKeyOf(by.ref, it.ID()), it, s.Now())
	}
}

// runningItem is the run of an item in progress.
type runningItem struct {
	s      *settler
	ref    run.Ref
	log    string
	active *ActiveRun
}

func (s *settler) runOf(h *sessions.Header, ref run.Ref, a *ActiveRun) *runningItem {
	return &runningItem{s: s, ref: ref, log: h.Log, active: a}
}

// Shared implements producer: an agent that runs elsewhere pushes by requests.
func (r *runningItem) Shared() bool { return r.active.Mode == run.External }

// Refusal implements producer.
func (r *runningItem) Refusal(ctx context.Context) error {
	now, err := r.s.Run(ctx, r.ref)
	if err == nil && now.Status.Final() {
		err = runEndedFault(now)
	}
	return err
}

// Renew implements producer: it extends the lease of an external run, unless that was
// just done.
func (r *runningItem) Renew(ctx context.Context) error {
	a, s := r.active, r.s
	if !r.Shared() {
		return nil
	}
	until := s.Millis() + s.lease.Milliseconds()
	if until-a.Lease < s.lease.Milliseconds()/renewEarly {
		return nil
	}
	lease := table.Path{activeLease}
	err := s.DB.Update(ctx, keys.RunKey(r.log), []table.Change{table.Set(lease, until)},
		isRun(a), table.Greater(lease, s.Millis()-s.grace(a)))
	if errors.Is(err, table.ErrConditionFailed) {
		return s.refusedRenewal(ctx, r.ref)
	}
	if err == nil {
		a.Lease = until
	}
	return err
}
