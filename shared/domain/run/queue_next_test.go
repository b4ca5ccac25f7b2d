package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/run"
)

// queueFake is a session's queue.
type queueFake struct {
	next  *run.Run
	err   error // of StartQueued
	ended []run.Status
	end   error // of End
}

func (q *queueFake) StartQueued(context.Context, string, string) (*run.Run, error) {
	return q.next, q.err
}

func (q *queueFake) End(_ context.Context, ref run.Ref, s run.Status, p *run.Problem) (run.Run, error) {
	q.ended = append(q.ended, s)
	return run.Run{ID: ref.RunID, Status: s, Error: p}, q.end
}

func TestNext(t *testing.T) {
	t.Parallel()
	next, boom := &run.Run{ID: "r"}, errors.New("boom")
	for name, test := range map[string]struct {
		queue    queueFake
		failures int // of handing over
		started  bool
		handed   int
		ended    int
		err      string
	}{
		"hands over the run":                        {queueFake{next: next}, 0, true, 1, 0, ""},
		"does nothing without a run":                {queueFake{}, 0, false, 0, 0, ""},
		"reports a run that cannot start":           {queueFake{err: boom}, 0, false, 0, 0, "boom"},
		"ignores a deleted session":                 {queueFake{err: fault.Missing("Session")}, 0, false, 0, 0, ""},
		"ignores a session with another owner":      {queueFake{err: fault.NotYours("session")}, 0, false, 0, 0, ""},
		"tries again to hand over":                  {queueFake{next: next}, 2, true, 3, 0, ""},
		"ends a run that cannot be handed over":     {queueFake{next: next}, 9, false, 3, 1, "no worker"},
		"reports that such a run cannot be ended":   {queueFake{next: next, end: boom}, 9, false, 3, 1, "boom"},
		"takes such a run that has ended for begun": {queueFake{next: next, end: fault.New(fault.Conflict, "over")}, 9, true, 3, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				handed := 0
				started, err := run.Next{Store: &test.queue, Hand: func(_ context.Context, ref run.Ref) error {
					if want := (run.Ref{UserID: "u", SessionID: "s", RunID: "r"}); ref != want {
						t.Errorf("handed over %+v, want %+v", ref, want)
					}
					if handed++; handed <= test.failures {
						return errors.New("no worker")
					}
					return nil
				}}.Start(t.Context(), "u", "s")
				if started != test.started || handed != test.handed || len(test.queue.ended) != test.ended {
					t.Errorf("started %t, handed over %d times, ended %v", started, handed, test.queue.ended)
				}
				if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
			})
		})
	}
	t.Run("leaves the run to a repeat when its time is up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		q := &queueFake{next: next}
		_, err := run.Next{Store: q, Hand: func(context.Context, run.Ref) error {
			cancel()
			return boom
		}}.Start(ctx, "u", "s")
		if !errors.Is(err, boom) || len(q.ended) > 0 {
			t.Errorf("got %v, ended %v", err, q.ended)
		}
	})
}
