package sessions

import (
	"context"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// AppendEvents implements run.Store.
func (s *Store) AppendEvents(ctx context.Context, ref run.Ref, events []session.Event) ([]session.Event, error) {
	h, err := s.owner(ctx, ref)
	if err != nil {
		return nil, err
	}
	for i := range events {
		events[i].InvocationID = ref.RunID
	}
	w := s.runWriter(h, ref, events)
	w.marks = func(en *entry) { en.OfRun = true }
	if _, err := w.run(ctx); err != nil {
		return nil, s.notFoundIfDeleted(ctx, h, err)
	}
	for i := range w.events {
		w.events[i].SessionID = ref.SessionID
	}
	return w.events, nil
}

// BeginItem implements run.Store. The item gets its position in the log at once.
func (s *Store) BeginItem(ctx context.Context, ref run.Ref, e session.Event) (run.Item, error) {
	h, at, a, err := s.running(ctx, ref)
	if err != nil {
		return nil, err
	}
	before, err := s.open(ctx, h, at, a, ref)
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
	w := s.runWriter(h, ref, []session.Event{e})
	if before == nil {
		w.from = &at
	}
	w.marks = func(en *entry) { en.Status, en.Streamed = session.EventInProgress, true }
	appended, err := w.run(ctx)
	if err != nil {
		return nil, s.notFoundIfDeleted(ctx, h, err)
	}
	if appended == 0 { // an earlier attempt, or an event that is already whole
		if it, err := s.OpenItem(ctx, ref, e.ID); it != nil || err != nil {
			return it, err
		}
		return nil, fault.New(fault.Conflict, "the item %q is complete", e.ID).With("item_id", e.ID)
	}
	begun := w.last
	if begun == nil { // an attempt of its own had succeeded, and its answer was lost
		if begun, err = s.entryCovering(ctx, h.Log, w.events[0].Seq); err != nil {
			return nil, s.notFoundIfDeleted(ctx, h, err)
		}
	}
	return s.newItem(h, ref, begun, a), nil
}

// completeOpen completes an item with the content of its deltas.
func (s *Store) completeOpen(ctx context.Context, it *item) error {
	content, err := it.content.Finish()
	if err != nil {
		return err
	}
	_, err = it.Complete(ctx, withField(it.rec.events[0], "content", content, it.offset))
	return err
}

// OpenItem implements run.Store.
func (s *Store) OpenItem(ctx context.Context, ref run.Ref, itemID string) (run.Item, error) {
	h, at, a, err := s.running(ctx, ref)
	if err != nil {
		return nil, err
	}
	it, err := s.open(ctx, h, at, a, ref)
	if err != nil || it == nil || it.ID() != itemID {
		return nil, err
	}
	return it, nil
}

// open returns the run's item in progress at a head, with its content; nil if there is
// none.
func (s *Store) open(ctx context.Context, h *header, at head, a *activeRun, ref run.Ref) (*item, error) {
	it, err := s.openItem(ctx, h, at, a)
	if it != nil && a.Continuations > 0 { // the item may be a later worker's
		_, err = s.owner(ctx, ref)
	}
	return it, err
}

// running reads an active run, its session and the head of the log.
func (s *Store) running(ctx context.Context, ref run.Ref) (*header, head, *activeRun, error) {
	h, at, a, err := s.readSettled(ctx, ref.UserID, ref.SessionID)
	if err != nil {
		return nil, head{}, nil, err
	}
	if a == nil || a.ID != ref.RunID {
		if err := s.stillActive(ctx, h, ref); err != nil {
			return nil, head{}, nil, err
		}
		return nil, head{}, nil, fault.Missing("Run")
	}
	if a.Continuation != ref.Continuation {
		return nil, head{}, nil, run.SupersededFault(ref)
	}
	return h, at, a, nil
}

// runWriter returns a writer that appends to the log while the run is active.
func (s *Store) runWriter(h *header, ref run.Ref, events []session.Event) *writer {
	w := s.newWriter(h, events)
	w.check = func(ctx context.Context) error {
		_, err := s.owner(ctx, ref)
		return err
	}
	return w
}
