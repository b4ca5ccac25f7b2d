package stores_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
	"github.com/rethread/rethread/shared/store/table/memory"
)

type operation func(context.Context, *stores.Store) error

// racedReads are the operations that read more than one item of the session s.
func racedReads() map[string]operation {
	out := map[string]operation{
		"session": func(ctx context.Context, s *stores.Store) error {
			_, err := s.Sessions.Get(ctx, alice, "s")
			return err
		},
		"list": func(ctx context.Context, s *stores.Store) error {
			_, err := s.Sessions.List(ctx, session.ListQuery{UserID: alice, Limit: 10})
			return err
		},
		"search": func(ctx context.Context, s *stores.Store) error {
			_, err := s.Sessions.Search(ctx, session.ListQuery{UserID: alice, Limit: 10, Text: "hello"})
			return err
		},
		"state": func(ctx context.Context, s *stores.Store) error {
			_, err := s.Sessions.State(ctx, alice, "s")
			return err
		},
		"forks": func(ctx context.Context, s *stores.Store) error {
			_, err := s.History.Forks(ctx, session.TreeQuery{UserID: alice, SessionID: "s"})
			return err
		},
		"tasks": func(ctx context.Context, s *stores.Store) error {
			_, err := s.Tasks.Tasks(ctx, task.Query{SessionID: "s", UserID: alice})
			return err
		},
		"task": func(ctx context.Context, s *stores.Store) error {
			_, err := s.Tasks.Task(ctx, alice, "s", "t1")
			return err
		},
		"artifacts": func(ctx context.Context, s *stores.Store) error {
			_, err := s.Artifacts.Artifacts(ctx, artifact.Query{SessionID: "s", UserID: alice, Limit: 10})
			return err
		},
		"catch-up": func(ctx context.Context, s *stores.Store) error {
			_, err := s.Watching.CatchUp(ctx, alice, "s", watch.From{})
			return err
		},
		"history": func(ctx context.Context, s *stores.Store) error {
			_, err := s.Runs.AsOfInput(ctx, refOf("s", "active"), run.HistoryLimit{})
			return err
		},
		"renewal": func(ctx context.Context, s *stores.Store) error { return s.Runs.Renew(ctx, refOf("s", "active")) },
	}
	for _, id := range []string{"past", "active", "first", "second", "unknown"} {
		out["run "+id] = func(ctx context.Context, s *stores.Store) error {
			_, err := s.Runs.Run(ctx, refOf("s", id))
			return err
		}
		out["ended run "+id] = func(ctx context.Context, s *stores.Store) error {
			_, err := s.Runs.EndedRun(ctx, refOf("s", id))
			return err
		}
		out["item of run "+id] = func(ctx context.Context, s *stores.Store) error {
			_, err := s.Runs.OpenItem(ctx, refOf("s", id), "item")
			return err
		}
		out["push to run "+id] = func(ctx context.Context, s *stores.Store) error {
			_, _, err := s.Runs.OpenPush(ctx, refOf("s", id), "item", nil)
			return err
		}
	}
	for _, down := range []bool{false, true} {
		out[fmt.Sprintf("thread, descending %v", down)] = func(ctx context.Context, s *stores.Store) error {
			_, err := s.Runs.Thread(ctx, alice, "s", run.ThreadQuery{Limit: 10, Descending: down})
			return err
		}
		out[fmt.Sprintf("events, descending %v", down)] = func(ctx context.Context, s *stores.Store) error {
			_, err := s.Sessions.Events(ctx, alice, "s", session.EventQuery{Limit: 10, Descending: down})
			return err
		}
	}
	return out
}

// racedChanges are the changes that happen between two requests.
func racedChanges(t *testing.T) map[string]operation {
	t.Helper()
	return map[string]operation{
		"a start that waits": func(ctx context.Context, s *stores.Store) error {
			_, err := s.Runs.Start(ctx, enqueueOf(t, "s", "another"))
			return err
		},
		"the end of the run": func(ctx context.Context, s *stores.Store) error {
			_, err := s.Runs.End(ctx, refOf("s", "active"), run.Completed, nil)
			return err
		},
		"the end of the run and the next one": func(ctx context.Context, s *stores.Store) error {
			if _, err := s.Runs.End(ctx, refOf("s", "active"), run.Completed, nil); err != nil {
				return err
			}
			_, err := s.Runs.StartQueued(ctx, alice, "s")
			return err
		},
		"the cancellation of a start that waits": func(ctx context.Context, s *stores.Store) error {
			_, err := s.Runs.Cancel(ctx, refOf("s", "first"))
			return err
		},
		"a rewind": func(ctx context.Context, s *stores.Store) error {
			_, err := s.History.Rewind(ctx, session.Rewind{SessionID: "s", UserID: alice, Before: "past", Nonce: "n", CancelRun: true})
			return err
		},
		"a change of state": func(ctx context.Context, s *stores.Store) error {
			_, _, err := s.Sessions.Append(ctx, session.Append{SessionID: "s", UserID: alice, Events: []session.Event{ofState(t, `{"k":2,"user:k":2}`)}})
			return err
		},
		"the deletion": func(ctx context.Context, s *stores.Store) error { return s.Sessions.Delete(ctx, alice, "s") },
		"the deletion and another session": func(ctx context.Context, s *stores.Store) error {
			if err := s.Sessions.Delete(ctx, alice, "s"); err != nil {
				return err
			}
			_, err := s.Sessions.Create(ctx, session.New{ID: "s", UserID: alice, AppName: "app", Agent: "agent", Nonce: "again"})
			return err
		},
	}
}

func ofState(t testing.TB, delta string) session.Event {
	t.Helper()
	return parse(t, map[string]any{
		"invocation_id": "changes", "author": "agent", "actions": map[string]any{"state_delta": json.RawMessage(delta)},
	})
}

// No condition of a write within the store reaches the caller of a read, whatever changes
// between two of its requests.
func TestReads_during_changes(t *testing.T) {
	t.Parallel()
	base := memory.New(store.Schema())
	plain := stores.New(base)
	mustCreate(t, plain, alice, "s", nil)
	mustStart(t, plain, startOf(t, "s", "past", "hello"))
	mustEnd(t, plain, refOf("s", "past"), run.Completed, nil)
	mustAppend(t, plain, alice, "s", ofState(t, `{"k":1,"user:k":1}`))
	mustSave(t, plain, "s", "t1", `[{"id":"m","type":"user"}]`)
	mustStart(t, plain, startOf(t, "s", "active", "hello"))
	mustEnqueue(t, plain, "s", "first", "second")
	changes, reads := racedChanges(t), racedReads()
	var cases atomic.Int64
	t.Cleanup(func() {
		if n := cases.Load(); n < 800 {
			t.Errorf("%d cases, want at least 800", n)
		}
	})
	for _, of := range slices.Sorted(maps.Keys(reads)) {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			for what, change := range changes {
				for at := 2; ; at++ { // before the first request it is no race
					if !raced(t, base.Clone(), at, reads[of], change, of+" during "+what) {
						break
					}
					cases.Add(1)
				}
			}
		})
	}
}

// raced makes a change before a request of a read; false if the read has fewer.
func raced(t *testing.T, engine table.Engine, at int, read, change operation, what string) bool {
	t.Helper()
	var requests atomic.Int64
	s := before(engine, func(ctx context.Context, _ hooks.Call) error {
		if requests.Add(1) == int64(at) {
			return change(ctx, stores.New(engine))
		}
		return nil
	})
	err := read(t.Context(), s)
	var known *fault.Error
	if err != nil && (errors.Is(err, table.ErrConditionFailed) || errors.Is(err, retry.ErrAgain) || !errors.As(err, &known)) {
		t.Errorf("%s, before request %d: %v", what, at, err)
	}
	return requests.Load() >= int64(at)
}
