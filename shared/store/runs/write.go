package runs

import (
	"context"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/sessions"
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
