package watchtest_test

import (
	"context"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// enqueue queues an input, some of which do not fit into a message, or begins its run
// if no other is active or queued.
func (w *watching) enqueue(ctx context.Context, rt *rapid.T) error {
	text := "later "
	if rapid.IntRange(0, 9).Draw(rt, "large") == 0 {
		text = strings.Repeat("large ", 15_000)
	}
	ref := run.Ref{UserID: watched, SessionID: w.id, RunID: fmt.Sprint("queued", w.n)}
	r, err := w.store.Runs.Start(ctx, run.Start{
		Ref: ref, Mode: run.Managed, Input: []session.Event{w.event(text)}, OnActive: run.Enqueue,
		OnFailed: rapid.SampledFrom([]run.OnFailed{run.Discard, run.Block, run.Keep}).Draw(rt, "on_failed"),
	})
	if err == nil && r.Status == run.InProgress {
		w.active, w.item = &ref, nil
	}
	return err
}

// startQueued begins the next queued run after the active one, if it may begin.
func (w *watching) startQueued(ctx context.Context, rt *rapid.T) error {
	for _, does := range []func(context.Context, *rapid.T) error{w.enqueue, w.enqueue, w.end} {
		if err := does(ctx, rt); err != nil {
			return err
		}
	}
	r, err := w.store.Runs.StartQueued(ctx, watched, w.id)
	if err == nil && r != nil {
		w.active, w.item = &run.Ref{UserID: watched, SessionID: w.id, RunID: r.ID}, nil
		w.invocations = append(w.invocations, r.ID)
		w.queued++
	}
	return err
}

// cancelQueued cancels one of the queued runs.
func (w *watching) cancelQueued(ctx context.Context, rt *rapid.T) error {
	th, err := w.store.Runs.Thread(ctx, watched, w.id, run.ThreadQuery{Limit: 1})
	if err != nil || len(th.Queue.Starts) == 0 {
		return err
	}
	one := rapid.SampledFrom(th.Queue.Starts).Draw(rt, "queued")
	_, err = w.store.Runs.Cancel(ctx, run.Ref{UserID: watched, SessionID: w.id, RunID: one.RunID})
	return err
}
