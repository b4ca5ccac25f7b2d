package runs

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/history"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

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
	h, head, active, err := s.ReadSettled(ctx, r.UserID, r.SessionID)
	if err != nil {
		return session.Rewound{}, err
	}
	w := &history.Rewinding{S: s.history, H: h, Head: head}
	if active != nil || h.QueueVersion > 0 {
		w.End = func(ctx context.Context, head eventlog.Head) (*history.Ending, eventlog.Head, error) {
			return s.cancelFor(ctx, h, head, active, r)
		}
	}
	out, err := w.Run(ctx, r)
	return out, s.sessions.NotFoundIfDeleted(ctx, h, err)
}

// cancelFor ends the active run for a rewind, if the request allows it. The marker then
// follows the end of the run.
func (s *Store) cancelFor(
	ctx context.Context, h *sessions.Header, head eventlog.Head, a *ActiveRun, r session.Rewind,
) (*history.Ending, eventlog.Head, error) {
	active := ""
	if a != nil {
		active = a.ID
	}
	ends, err := r.Cancels(active)
	if err != nil {
		return nil, head, err
	}
	queue, err := s.ReadableQueue(ctx, h)
	if err == nil {
		err = before(h, a, queue).Rewindable()
	}
	if err != nil || !ends || r.DryRun {
		return nil, head, err
	}
	over, err := s.cancelled(ctx, h, head, a, run.Discard)
	if err != nil {
		return nil, head, err
	}
	return &history.Ending{
		Writes: func(ctx context.Context) ([]table.Write, error) {
			writes, err := over.writes(ctx)
			return append(writes, table.Delete(keys.RunKey(h.Log), isRun(a))), err
		},
		After: func(ctx context.Context) {
			s.logs.CountEntry(ctx, h.OfLog(), over.last)
			if a.Slot {
				s.slots.releaseSlot(ctx, a.User, h.Log, a.ID)
			}
		},
	}, head.After(over.last), nil
}
