package deliveries_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// review starts a reviewer after negative feedback.
func review() automation.Automation {
	return automation.Automation{
		ID: "au1", UserID: "alice", Name: "review", Status: automation.Active,
		On: automation.Trigger{Types: []string{"feedback.created"}},
		Do: automation.Action{Agent: "reviewer", Session: automation.Same, Input: "Look at {{task_id}}."},
	}
}

// stage is an actor over a table, and the runs that it starts.
type stage struct {
	*automation.Actor
	store  *stores.Store
	now    time.Time
	agents []string
	handed []run.Ref
	down   error // the error of starting a run
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{now: time.UnixMilli(1735776000000), agents: []string{"reviewer"}}
	s.store = stores.New(storetest.Engine(t), stores.WithClock(func() time.Time { return s.now }),
		stores.WithOnFailed(func(agent string) run.OnFailed {
			return map[string]run.OnFailed{"keeper": run.Keep}[agent]
		}))
	s.Actor = &automation.Actor{
		Store: s.store.Automations, Sessions: s.store.Sessions, Runs: s.store.Runs,
		HasAgent: func(name string) bool { return slices.Contains(s.agents, name) },
		MayCall:  func(string, []string) bool { return true },
		Hand: func(_ context.Context, ref run.Ref) error {
			s.handed = append(s.handed, ref)
			return s.down
		},
	}
	return s
}

// in returns a delivery of feedback in a new session to a new automation.
func (s *stage) in(t *testing.T, change func(*automation.Automation)) delivery.Delivery {
	t.Helper()
	a := review()
	a.ID = uuid.NewString()
	if change != nil {
		change(&a)
	}
	if _, err := s.store.Automations.CreateAutomation(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	n := session.New{ID: uuid.NewString(), UserID: a.UserID, AppName: "shop", Agent: "helper", Nonce: "n"}
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Sessions.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	s.handed = nil
	t.Cleanup(func() {
		if err := s.store.Automations.DeleteAutomation(context.WithoutCancel(t.Context()), a.UserID, a.ID); err != nil {
			t.Error(err)
		}
	})
	return delivery.Delivery{Target: automation.Target(a.UserID, a.ID, n.ID), Event: notification.Event{
		ID: "feedback." + n.ID, Type: notification.FeedbackCreated, UserID: a.UserID, SessionID: n.ID, Agent: "helper",
		TaskID: "t1", Feedback: "down", Time: s.now.UnixMilli(),
	}}
}

func (s *stage) mustAct(t *testing.T, d delivery.Delivery, want error) {
	t.Helper()
	if err := s.Act(t.Context(), d); !errors.Is(err, want) {
		t.Fatalf("%v, not %v", err, want)
	}
}

// said returns the only event that a session shows: the input of a run.
func (s *stage) said(t *testing.T, sessionID string) session.Event {
	t.Helper()
	page, err := s.store.Sessions.Events(t.Context(), "alice", sessionID, session.EventQuery{View: session.Effective, Limit: 10})
	if err != nil || len(page.Events) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	return page.Events[0]
}

func TestAct(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	t.Run("starts one run in the session", func(t *testing.T) {
		d := s.in(t, nil)
		s.mustAct(t, d, nil)
		s.mustAct(t, d, nil)
		e := s.said(t, d.Event.SessionID)
		if e.Author != "user" || !strings.Contains(string(e.Fields["content"]), `"Look at t1."`) ||
			!strings.Contains(string(e.Fields["automation"]), `"depth":1`) {
			t.Errorf("the input is %+v", e)
		}
		ref := run.Ref{UserID: "alice", SessionID: d.Event.SessionID, RunID: e.InvocationID}
		if diff := cmp.Diff([]run.Ref{ref, ref}, s.handed); diff != "" {
			t.Errorf("handed (-want +got):\n%s", diff)
		}
		if r, err := s.store.Runs.Run(t.Context(), ref); err != nil || r.Agent != "reviewer" {
			t.Errorf("%+v, %v", r, err)
		}
		if _, err := s.store.Runs.End(t.Context(), ref, run.Completed, nil); err != nil {
			t.Fatal(err)
		}
		s.mustAct(t, d, nil) // late
		if len(s.handed) != 2 {
			t.Errorf("a final run is started: %v", s.handed)
		}
	})
	t.Run("retries if no worker can be started", func(t *testing.T) {
		d := s.in(t, nil)
		s.down = errors.New("no worker")
		s.mustAct(t, d, s.down)
		s.down = nil
		s.mustAct(t, d, nil)
		s.said(t, d.Event.SessionID)
	})
	t.Run("queues its run behind another", func(t *testing.T) {
		d := s.in(t, func(a *automation.Automation) { a.Do.OnActive = run.Enqueue })
		ref := run.Ref{UserID: "alice", SessionID: d.Event.SessionID, RunID: "other"}
		start := run.Start{Ref: ref, Agent: "helper", Mode: run.Managed, Input: []session.Event{{Author: "user", InvocationID: "other"}}}
		if _, err := s.store.Runs.Start(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		s.mustAct(t, d, nil)
		s.mustAct(t, d, nil)
		if len(s.handed) > 0 {
			t.Errorf("a queued run is handed over: %v", s.handed)
		}
		if _, err := s.store.Runs.End(t.Context(), ref, run.Completed, nil); err != nil {
			t.Fatal(err)
		}
		r, err := s.store.Runs.StartQueued(t.Context(), "alice", d.Event.SessionID)
		if err != nil || r == nil || r.Agent != "reviewer" {
			t.Errorf("began %+v, %v", r, err)
		}
	})
	t.Run("waits while another run is in progress", func(t *testing.T) {
		d := s.in(t, nil)
		ref := run.Ref{UserID: "alice", SessionID: d.Event.SessionID, RunID: "other"}
		input := []session.Event{{Author: "user", Fields: map[string]json.RawMessage{"content": json.RawMessage(`{}`)}}}
		if _, err := s.store.Runs.Start(t.Context(), run.Start{Ref: ref, Mode: run.Managed, Input: input}); err != nil {
			t.Fatal(err)
		}
		s.mustAct(t, d, delivery.ErrNotYet)
		if _, err := s.store.Runs.End(t.Context(), ref, run.Completed, nil); err != nil {
			t.Fatal(err)
		}
		s.mustAct(t, d, nil)
	})
	t.Run("keeps a run that fails if its agent's configuration says so", func(t *testing.T) {
		s.agents = append(s.agents, "keeper")
		for agent, want := range map[string]run.OnFailed{"keeper": run.Keep, "reviewer": ""} {
			for _, in := range []automation.Where{automation.Same, automation.New} {
				d := s.in(t, func(a *automation.Automation) { a.Do.Agent, a.Do.Session = agent, in })
				s.mustAct(t, d, nil)
				r, err := s.store.Runs.End(t.Context(), s.handed[0], run.Failed, run.NewProblem("boom", "it broke"))
				if err != nil || r.OnFailed != want {
					t.Errorf("%s, in the %s session: %q, want %q (%v)", agent, in, r.OnFailed, want, err)
				}
			}
		}
	})
	t.Run("records the origin in a new session", func(t *testing.T) {
		d := s.in(t, func(a *automation.Automation) { a.Do.Session = automation.New })
		s.mustAct(t, d, nil)
		s.mustAct(t, d, nil)
		made := s.handed[0].SessionID
		got, err := s.store.Sessions.Get(t.Context(), "alice", made)
		if err != nil || got.AppName != "shop" || got.Agent != "reviewer" || got.Name != "review" ||
			!strings.Contains(string(got.Metadata), `"session_id":"`+d.Event.SessionID+`"`) {
			t.Errorf("%+v, %v", got, err)
		}
		s.said(t, made)
	})
	t.Run("starts a run in a new session if the session was deleted", func(t *testing.T) {
		d := s.in(t, func(a *automation.Automation) {
			a.On.Types, a.Do.Session = []string{"session.*"}, automation.New
		})
		d.Event.Type = notification.SessionDeleted
		if err := s.store.Sessions.Delete(t.Context(), "alice", d.Event.SessionID); err != nil {
			t.Fatal(err)
		}
		s.mustAct(t, d, nil)
		if got, err := s.store.Sessions.Get(t.Context(), "alice", s.handed[0].SessionID); err != nil || got.AppName != "reviewer" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("does nothing if there is nothing to do", func(t *testing.T) {
		d := s.in(t, nil)
		own := d
		own.Event.Chain = []string{"au0", "au1", "au2"}
		s.mustAct(t, own, delivery.ErrNothing)
		unknown := d
		unknown.Target = automation.Target("alice", "nobody", d.Event.SessionID)
		s.mustAct(t, unknown, delivery.ErrNothing)
		unknown.Target = delivery.Target{Kind: "other", Name: "x"}
		s.mustAct(t, unknown, delivery.ErrNothing)
		if err := s.store.Sessions.Delete(t.Context(), "alice", d.Event.SessionID); err != nil {
			t.Fatal(err)
		}
		s.mustAct(t, d, delivery.ErrNothing)
	})
	t.Run("abandons what cannot be done", func(t *testing.T) {
		d := s.in(t, func(a *automation.Automation) { a.Do.Agent = "gone" })
		s.mustAct(t, d, delivery.ErrNever)
		nowhere := s.in(t, nil)
		nowhere.Event.SessionID = ""
		s.mustAct(t, nowhere, delivery.ErrNever)
	})
	t.Run("disables an automation that starts too many runs", func(t *testing.T) {
		d := s.in(t, func(a *automation.Automation) { a.Do.Session = automation.New })
		first := d.Event.ID
		for i := range automation.MaxRuns {
			d.Event.ID = first + string(rune('a'+i))
			s.mustAct(t, d, nil)
			s.mustAct(t, d, nil) // a repeat, which is not counted
		}
		d.Event.ID = first + "!"
		s.mustAct(t, d, delivery.ErrNever)
		all, err := s.store.Automations.Automations(t.Context(), "alice")
		if err != nil || len(all) != 1 || all[0].Status != automation.Disabled || all[0].DisabledReason != automation.Runaway {
			t.Fatalf("%+v, %v", all, err)
		}
		s.mustAct(t, d, delivery.ErrNothing)
		s.now = s.now.Add(automation.RunsWithin)
		active := automation.Active
		if _, err := s.store.Automations.ChangeAutomation(t.Context(), "alice", all[0].ID, automation.Change{Status: &active}); err != nil {
			t.Fatal(err)
		}
		s.mustAct(t, d, nil)
	})
}

func TestStore(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	ctx := t.Context()
	a := review()
	t.Run("stores an automation unchanged", func(t *testing.T) {
		a.On.Agents, a.Proof, a.CreatedTime, a.UpdatedTime, a.Version = []string{"x"}, []string{"scope=finance"}, 5, 6, 1
		if _, err := s.store.Automations.CreateAutomation(ctx, a); err != nil {
			t.Fatal(err)
		}
		got, err := s.store.Automations.Automation(ctx, "alice", a.ID)
		if diff := cmp.Diff(a, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		other := a
		other.Name = "later"
		if again, err := s.store.Automations.CreateAutomation(ctx, other); err != nil || again.Name != a.Name {
			t.Errorf("created again, it is %+v, %v", again, err)
		}
		if _, err := s.store.Automations.Automation(ctx, "bob", a.ID); err == nil {
			t.Error("bob sees it too")
		}
	})
	t.Run("changes only the expected version", func(t *testing.T) {
		name, one := "other", int64(1)
		changed, err := s.store.Automations.ChangeAutomation(ctx, "alice", a.ID, automation.Change{Name: &name, IfMatch: &one})
		if err != nil || changed.Name != name || changed.Version != 2 {
			t.Errorf("%+v, %v", changed, err)
		}
		if _, err := s.store.Automations.ChangeAutomation(ctx, "alice", a.ID, automation.Change{Name: &name, IfMatch: &one}); err == nil {
			t.Error("a change of an older version is accepted")
		}
	})
	t.Run("limits the number of a user's automations, even if they are created concurrently", func(t *testing.T) {
		made := make(chan error, 2*automation.MaxAutomations)
		for range cap(made) {
			go func() {
				b := review()
				b.ID, b.UserID = uuid.NewString(), "carol"
				_, err := s.store.Automations.CreateAutomation(ctx, b)
				made <- err
			}()
		}
		failed := 0
		for range cap(made) {
			if <-made != nil {
				failed++
			}
		}
		all, err := s.store.Automations.Automations(ctx, "carol")
		if err != nil || len(all) != automation.MaxAutomations || failed != automation.MaxAutomations {
			t.Errorf("%d exist, %d failed, %v", len(all), failed, err)
		}
	})
	t.Run("an erasure removes existing automations", func(t *testing.T) {
		report, err := s.store.Lifecycle.Erase(ctx, "carol")
		if err != nil || report.Removed.Automations != automation.MaxAutomations {
			t.Errorf("%+v, %v", report, err)
		}
		if all, err := s.store.Automations.Automations(ctx, "carol"); err != nil || len(all) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
	})
	t.Run("finds the automations of an event", func(t *testing.T) {
		e := notification.Event{ID: "e", Type: notification.FeedbackCreated, UserID: "alice", SessionID: "s", Agent: "x"}
		got, err := s.store.Targets(ctx, e)
		if diff := cmp.Diff([]delivery.Target{automation.Target("alice", a.ID, "s")}, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		for _, other := range []notification.Event{
			{ID: "e", Type: notification.FeedbackCreated, UserID: "alice", Agent: "y"},
			{ID: "e", Type: notification.FeedbackCreated, UserID: "alice", Agent: "x", Chain: []string{a.ID}},
			{ID: "e", Type: notification.ItemCompleted, Log: "l", RunID: "r"},
		} {
			if got, err := s.store.Targets(ctx, other); err != nil || len(got) != 0 {
				t.Errorf("%+v: %v, %v", other, got, err)
			}
		}
	})
	t.Run("keeps the last runs of an automation, newest first, until it is deleted", func(t *testing.T) {
		var want []automation.LastRun
		for i := range automation.KeptRuns + 2 {
			r := automation.LastRun{RunID: fmt.Sprint("r", i), SessionID: "s", EventType: "feedback.created"}
			if i == automation.KeptRuns {
				r.SessionID = r.RunID // a new session
			}
			for range 2 {
				if ok, err := s.store.Automations.CountRun(ctx, a, r); err != nil || !ok {
					t.Fatalf("%t, %v", ok, err)
				}
			}
			r.Time = s.now.UnixMilli()
			want = append([]automation.LastRun{r}, want...)
			s.now = s.now.Add(automation.KeepRuns / 10)
		}
		last := func() []automation.LastRun {
			t.Helper()
			got, err := s.store.Automations.LastRuns(ctx, "alice", a.ID)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if diff := cmp.Diff(want[:automation.KeptRuns], last()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		s.now = time.UnixMilli(want[1].Time).Add(automation.KeepRuns)
		if diff := cmp.Diff(want[:2], last()); diff != "" {
			t.Errorf("later, -want +got:\n%s", diff)
		}
		if got, err := s.store.Automations.LastRuns(ctx, "bob", a.ID); err != nil || len(got) != 0 {
			t.Errorf("bob reads %v, %v", got, err)
		}
	})
	t.Run("a deleted automation is gone", func(t *testing.T) {
		if err := s.store.Automations.DeleteAutomation(ctx, "alice", a.ID); err != nil {
			t.Fatal(err)
		}
		if err := s.store.Automations.DeleteAutomation(ctx, "alice", a.ID); err == nil {
			t.Error("it can be deleted twice")
		}
		if got, err := s.store.Automations.LastRuns(ctx, "alice", a.ID); err != nil || len(got) != 0 {
			t.Errorf("its runs are %v, %v", got, err)
		}
	})
	t.Run("an erasure removes the runs of deleted automations", func(t *testing.T) {
		if _, err := s.store.Automations.CountRun(ctx, a, automation.LastRun{RunID: "late", SessionID: "s"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.store.Lifecycle.Erase(ctx, "alice"); err != nil {
			t.Fatal(err)
		}
		if got, err := s.store.Automations.LastRuns(ctx, "alice", a.ID); err != nil || len(got) != 0 {
			t.Errorf("%v, %v", got, err)
		}
	})
}
