package sessions

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// maxRestored limits how many artifacts a rewind restores. Its transaction also
// has up to 4 writes for entries and the header, 3 for shared state, and 5 for a
// run that is cancelled, one that begins, and the session's queue.
const maxRestored = table.MaxTransaction - 12

var _ session.Rewinder = (*Store)(nil)

// Rewind implements session.Rewinder. One transaction writes the end of the run
// that it may cancel, the marker at the head of the log, the new timeline in the
// header, and the restored state and artifacts.
func (s *Store) Rewind(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	return records.ContendedValue(ctx, func() (session.Rewound, error) {
		out, err := s.rewind(ctx, r)
		if err != nil {
			err = fmt.Errorf("rewind session %s: %w", r.SessionID, err)
		}
		return out, err
	})
}

// rewind makes one attempt.
func (s *Store) rewind(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	h, at, active, err := s.readSettled(ctx, r.UserID, r.SessionID)
	if err != nil {
		return session.Rewound{}, err
	}
	queue, err := s.readableQueue(ctx, h)
	if err != nil {
		return session.Rewound{}, err
	}
	w := &rewinding{s: s, h: h, at: at}
	w.end = func(ctx context.Context, at head) (*ending, head, error) {
		return s.cancelFor(ctx, h, at, active, h.before(active, queue), r)
	}
	out, err := w.run(ctx, r)
	return out, s.notFoundIfDeleted(ctx, h, err)
}

// rewinding is a rewind of a session as it was read.
type rewinding struct {
	s  *Store
	h  *header
	at head
	// end ends what must end before the marker, and returns the head after that; nil for
	// nothing.
	end  func(ctx context.Context, at head) (*ending, head, error)
	over *ending // what it returned
	// chain is the automations that led to the rewind; also is the changes of
	// state that are written with it.
	chain []string
	also  []session.Delta
}

func (w *rewinding) run(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	var newest func() (bool, error)
	if !r.DryRun {
		newest = w.s.watchNewest(ctx, w.h)
	}
	// A refused rewind changes nothing: it neither cancels a run nor writes a
	// bound.
	target, err := w.target(ctx, r)
	if err != nil {
		return session.Rewound{}, err
	}
	if done, err := w.s.rewoundBefore(ctx, w.h, w.at, r); done != nil || err != nil {
		return records.Deref(done), err
	}
	if err := expectHead(r.ExpectedSeq, w.at); err != nil {
		return session.Rewound{}, err
	}
	if w.end != nil {
		if w.over, w.at, err = w.end(ctx, w.at); err != nil {
			return session.Rewound{}, err
		}
	}
	m, err := w.marker(ctx, r, target)
	if err != nil {
		return session.Rewound{}, err
	}
	if r.DryRun && m.h.Status == session.Failed {
		m.h.Status = session.Idle
	}
	if !r.DryRun {
		if err := m.write(ctx, newest); err != nil {
			return session.Rewound{}, err
		}
	}
	return m.result(r)
}

// target returns the position that the rewind goes back to: that of the first
// entry with the invocation.
func (w *rewinding) target(ctx context.Context, r session.Rewind) (*logPosition, error) {
	target, err := w.s.findInvocationUpTo(ctx, w.h, w.at, r.Before)
	if err == nil && target == nil {
		err = fault.Missing("Invocation").With("invocation_id", r.Before)
	}
	return target, err
}

// marker builds the entry that the rewind would append.
func (w *rewinding) marker(ctx context.Context, r session.Rewind, target *logPosition) (*marker, error) {
	timeline, err := w.s.timelineAt(ctx, w.h, target)
	if err != nil {
		return nil, err
	}
	plan, err := w.s.planRestore(ctx, w.h, w.at, target, r, w.also)
	if err != nil {
		return nil, err
	}
	m := &marker{s: w.s, h: w.h, at: w.at, plan: plan, timeline: timeline, chain: w.chain, over: w.over}
	return m, m.build(r)
}

// ending is the end of a run in the transaction of a marker.
type ending struct {
	writes func(context.Context) ([]table.Write, error)
	after  func(context.Context) // best-effort work that follows the transaction
}

// cancelFor ends the active run for a rewind, if the request allows it. The marker then
// follows the end of the run.
func (s *Store) cancelFor(
	ctx context.Context, h *header, at head, a *activeRun, before run.Before, r session.Rewind,
) (*ending, head, error) {
	active := ""
	if a != nil {
		active = a.ID
	}
	ends, err := r.Cancels(active)
	if err == nil {
		err = before.Rewindable()
	}
	if err != nil || !ends || r.DryRun {
		return nil, at, err
	}
	over, err := s.cancelled(ctx, h, at, a, run.Discard)
	if err != nil {
		return nil, at, err
	}
	return &ending{
		writes: func(ctx context.Context) ([]table.Write, error) {
			writes, err := over.writes(ctx)
			return append(writes, table.Delete(keys.RunKey(h.Log), isRun(a))), err
		},
		after: func(ctx context.Context) {
			s.countEntry(ctx, h.ofLog(), over.last)
			if a.Slot {
				s.releaseSlot(ctx, a.User, h.Log, a.ID)
			}
		},
	}, at.after(over.last), nil
}

// rewoundBefore recognises, by the marker's invocation id, a rewind that happened
// although its answer was lost.
func (s *Store) rewoundBefore(ctx context.Context, h *header, at head, r session.Rewind) (*session.Rewound, error) {
	if r.DryRun {
		return nil, nil
	}
	bound, err := s.writeLowerBound(ctx, keys.InvocationKey(h.Log, r.Nonce), at.next)
	if err != nil || bound >= at.next {
		return nil, err
	}
	found, err := s.firstInRange(ctx, session.Range{Log: h.Log, From: 1, Seq: 1}, bound, r.Nonce)
	if err != nil || found == nil || !found.rec.marks() {
		return nil, err
	}
	now, err := s.render(h, at)
	if err != nil {
		return nil, err
	}
	e := found.rec.events[0]
	e.SessionID = h.id()
	out := r.Rewound(e, now, found.rec.conflicts)
	return &out, nil
}
