package cost

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

var errNotBegun = errors.New("the queued run did not begin")

// queued measures a start that waits in the session's queue, and one that does not.
func (m *measurement) queued(ctx context.Context) error {
	active, waiting := m.newStart(), m.newStart()
	waiting.OnActive = run.Enqueue
	for _, s := range []*run.Start{&active, &waiting} {
		m.turn++
		input, err := newEvent("", s.RunID, "user", m.question(m.turn))
		if err != nil {
			return err
		}
		s.Input = []session.Event{input}
	}
	return m.measureAll(
		step{StartRun, 0, 13, func() error {
			_, err := m.store.Runs.Start(ctx, active)
			return err
		}},
		step{QueueInput, 0, 10, func() error {
			_, err := m.store.Runs.Start(ctx, waiting)
			return err
		}},
		step{"end a run behind which an input waits", 0, 10, func() error {
			_, err := m.store.Runs.End(ctx, active.Ref, run.Completed, nil)
			return err
		}},
		step{BeginQueued, 0, 15, func() error {
			r, err := m.store.Runs.StartQueued(ctx, m.user, m.session)
			if err == nil && (r == nil || r.ID != waiting.RunID) {
				err = errNotBegun
			}
			return err
		}},
		step{"end a run without a queue", 0, 10, func() error {
			_, err := m.store.Runs.End(ctx, waiting.Ref, run.Completed, nil)
			return err
		}},
	)
}

func (m *measurement) newStart() run.Start {
	ref := run.Ref{UserID: m.user, SessionID: m.session, RunID: uuid.NewString()}
	return run.Start{Ref: ref, Agent: "assistant", Mode: run.Managed}
}
