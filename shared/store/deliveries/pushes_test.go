package deliveries_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

func wantConfigs(t *testing.T, s *stores.Store, task receiver.PushTask, want ...receiver.PushConfig) {
	t.Helper()
	got, err := s.Pushes.Configs(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append([]receiver.PushConfig{}, want...), got); diff != "" {
		t.Errorf("configurations of %s (-want +got):\n%s", task.ID, diff)
	}
}

// mustTargets returns the names of the targets of an event, without the log.
func mustTargets(t *testing.T, s *stores.Store, e notification.Event) []string {
	t.Helper()
	targets, err := s.Targets(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, target := range targets {
		_, task, id, ok := receiver.ParsePush(target)
		if !ok {
			t.Errorf("a target of another kind: %+v", target)
		}
		out = append(out, task+"/"+id)
	}
	return out
}

func TestPushConfigs(t *testing.T) {
	t.Parallel()
	s := fixture.Store(t)
	newTask := func(t *testing.T) receiver.PushTask {
		t.Helper()
		task := receiver.PushTask{UserID: fixture.Alice, SessionID: uuid.NewString(), ID: uuid.NewString()}
		fixture.Session(t, s, fixture.Alice, task.SessionID, nil)
		return task
	}
	t.Run("stores, replaces and removes configurations", func(t *testing.T) {
		t.Parallel()
		task := newTask(t)
		wantConfigs(t, s, task)
		a, b := fixture.PushConfig("a"), fixture.PushConfig("b")
		fixture.PutConfigs(t, s, task, b, a)
		wantConfigs(t, s, task, a, b)
		b.URL = "https://example.com/other"
		fixture.PutConfigs(t, s, task, b, b)
		wantConfigs(t, s, task, a, b)
		for range 2 { // the second changes nothing
			if err := s.Pushes.DeleteConfig(t.Context(), task, "a"); err != nil {
				t.Fatal(err)
			}
		}
		wantConfigs(t, s, task, b)
	})
	t.Run("limits a task to ten, also when they are added concurrently", func(t *testing.T) {
		t.Parallel()
		task := newTask(t)
		var group sync.WaitGroup
		var kept atomic.Int32
		for i := range receiver.MaxPushConfigs + 3 {
			group.Go(func() {
				err := s.Pushes.PutConfig(t.Context(), task, fixture.PushConfig(fmt.Sprint("c", i)))
				switch {
				case err == nil:
					kept.Add(1)
				case !errors.Is(err, fault.Of(fault.Conflict)):
					t.Error(err)
				}
			})
		}
		group.Wait()
		got, err := s.Pushes.Configs(t.Context(), task)
		if err != nil || len(got) != receiver.MaxPushConfigs || kept.Load() != receiver.MaxPushConfigs {
			t.Fatalf("%d are stored, %d reported it, %v", len(got), kept.Load(), err)
		}
		fixture.PutConfigs(t, s, task, got[0]) // an existing one may be replaced
	})
	t.Run("other users can neither see nor add them", func(t *testing.T) {
		t.Parallel()
		task := newTask(t)
		task.UserID = fixture.Bob
		_, err := s.Pushes.Configs(t.Context(), task)
		for _, err := range []error{
			err, s.Pushes.PutConfig(t.Context(), task, fixture.PushConfig("a")), s.Pushes.DeleteConfig(t.Context(), task, "a"),
			s.Pushes.ContinueTask(t.Context(), task, "r"),
		} {
			fixture.WantKind(t, err, fault.Forbidden)
		}
		task.SessionID = "none"
		fixture.WantKind(t, s.Pushes.PutConfig(t.Context(), task, fixture.PushConfig("a")), fault.NotFound)
	})
	t.Run("removes them with the session", func(t *testing.T) {
		t.Parallel()
		task := newTask(t)
		fixture.PutConfigs(t, s, task, fixture.PushConfig("a"))
		e := fixture.EventOf(t, s, task)
		targets, err := s.Targets(t.Context(), e)
		if err != nil || len(targets) != 1 {
			t.Fatalf("%v, %v", targets, err)
		}
		if err := s.Sessions.Delete(t.Context(), fixture.Alice, task.SessionID); err != nil {
			t.Fatal(err)
		}
		if got := mustTargets(t, s, e); got != nil {
			t.Errorf("left are %v", got)
		}
		if _, _, err := s.Pushes.TargetConfig(t.Context(), targets[0]); !errors.Is(err, delivery.ErrNothing) {
			t.Errorf("got %v", err)
		}
		e.Log, e.UserID, e.SessionID = "", fixture.Alice, task.SessionID
		if got := mustTargets(t, s, e); got != nil {
			t.Errorf("a deleted session has %v", got)
		}
	})
	t.Run("removes them although forks keep the log", func(t *testing.T) {
		t.Parallel()
		task := newTask(t)
		fixture.Append(t, s, fixture.Alice, task.SessionID, fixture.Event(t, "", "i", "hello"))
		fixture.Fork(t, s, task.SessionID, uuid.NewString(), nil)
		fixture.PutConfigs(t, s, task, fixture.PushConfig("a"))
		e := fixture.EventOf(t, s, task)
		if err := s.Sessions.Delete(t.Context(), fixture.Alice, task.SessionID); err != nil {
			t.Fatal(err)
		}
		if got := mustTargets(t, s, e); got != nil {
			t.Errorf("left are %v", got)
		}
	})
}

func TestTargets(t *testing.T) {
	t.Parallel()
	s := fixture.Store(t)
	task := receiver.PushTask{UserID: fixture.Alice, SessionID: uuid.NewString(), ID: "t"}
	fixture.Session(t, s, fixture.Alice, task.SessionID, nil)
	other := task
	other.ID = "t2"
	late := fixture.PushConfig("late")
	late.Since = 11
	fixture.PutConfigs(t, s, task, fixture.PushConfig("a"), fixture.PushConfig("b"), late)
	fixture.PutConfigs(t, s, other, fixture.PushConfig("c"))
	if err := s.Pushes.ContinueTask(t.Context(), task, "r2"); err != nil {
		t.Fatal(err)
	}
	bare := receiver.PushTask{UserID: fixture.Alice, SessionID: task.SessionID, ID: "bare"}
	if err := s.Pushes.ContinueTask(t.Context(), bare, "r3"); err != nil {
		t.Fatal(err)
	}
	e := fixture.EventOf(t, s, task)
	for name, test := range map[string]struct {
		change func(*notification.Event)
		want   []string
	}{
		"returns those of the run's task":                 {func(*notification.Event) {}, []string{"t/a", "t/b"}},
		"returns those for a run that continues the task": {func(e *notification.Event) { e.RunID = "r2" }, []string{"t/a", "t/b"}},
		"returns newer ones for later events":             {func(e *notification.Event) { e.Time = 11 }, []string{"t/a", "t/b", "t/late"}},
		"returns none before there are any":               {func(e *notification.Event) { e.Time = 4 }, nil},
		"returns none for a run without a task":           {func(e *notification.Event) { e.RunID = "other" }, nil},
		"returns none for a task without configurations":  {func(e *notification.Event) { e.RunID = "r3" }, nil},
		"finds the session if the event names no log": {func(e *notification.Event) {
			e.Log, e.UserID, e.SessionID = "", fixture.Alice, task.SessionID
		}, []string{"t/a", "t/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := e
			test.change(&asked)
			if diff := cmp.Diff(test.want, mustTargets(t, s, asked)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDropTarget(t *testing.T) {
	t.Parallel()
	s := fixture.Store(t)
	task := receiver.PushTask{UserID: fixture.Alice, SessionID: uuid.NewString(), ID: "t"}
	fixture.Session(t, s, fixture.Alice, task.SessionID, nil)
	fixture.PutConfigs(t, s, task, fixture.PushConfig("a"))
	targets, err := s.Targets(t.Context(), fixture.EventOf(t, s, task))
	if err != nil || len(targets) != 1 {
		t.Fatalf("%v, %v", targets, err)
	}
	of, c, err := s.Pushes.TargetConfig(t.Context(), targets[0])
	if of != task || c != fixture.PushConfig("a") || err != nil {
		t.Errorf("got %+v %+v %v", of, c, err)
	}
	if err := s.Pushes.DropTarget(t.Context(), targets[0], "https://example.com/before"); err != nil {
		t.Fatal(err)
	}
	wantConfigs(t, s, task, fixture.PushConfig("a")) // it has another address by now
	for range 2 {
		if err := s.Pushes.DropTarget(t.Context(), targets[0], c.URL); err != nil {
			t.Fatal(err)
		}
	}
	wantConfigs(t, s, task)
	if _, _, err := s.Pushes.TargetConfig(t.Context(), delivery.Target{Kind: "other", Name: "x"}); !errors.Is(err, delivery.ErrNothing) {
		t.Errorf("got %v", err)
	}
}

// Only the guarded partition has the credentials, and nothing of it outlives the session.
func TestCredentials_are_apart(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	task := receiver.PushTask{UserID: fixture.Alice, SessionID: uuid.NewString(), ID: "t"}
	fixture.Session(t, s, fixture.Alice, task.SessionID, nil)
	const secret = "f2a6c1"
	c := fixture.PushConfig("a")
	c.Token, c.Credentials = "token "+secret, "credentials "+secret
	fixture.PutConfigs(t, s, task, c, fixture.PushConfig("b"))
	holders := func() (all []string) {
		for _, item := range storetest.Items(t, engine) {
			if text := fmt.Sprint(plain(t, item)); strings.Contains(text, secret) {
				all = append(all, storetest.Text(t, item, table.PK))
			}
		}
		return all
	}
	if diff := cmp.Diff([]string{"NS#" + fixture.Log(t, s, task.SessionID)}, holders()); diff != "" {
		t.Errorf("partitions with credentials (-want +got):\n%s", diff)
	}
	if err := s.Sessions.Delete(t.Context(), fixture.Alice, task.SessionID); err != nil {
		t.Fatal(err)
	}
	if got := holders(); got != nil {
		t.Errorf("after the session was deleted, credentials are in %v", got)
	}
}

func plain(t *testing.T, item table.Item) map[string]any {
	t.Helper()
	var out map[string]any
	if err := table.Decode(item, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
