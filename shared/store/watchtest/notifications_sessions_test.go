package watchtest_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
)

// want compares the events except for ids and times, which must be set and
// distinct.
func (s *collector) want(t *testing.T, want ...notification.Event) {
	t.Helper()
	got := s.events(t)
	ids := map[string]bool{}
	for _, e := range got {
		if e.ID == "" || ids[e.ID] || e.Time < 1_000_000_000_000 {
			t.Errorf("got %+v", e)
		}
		ids[e.ID] = true
	}
	unlikely := cmpopts.IgnoreFields(notification.Event{}, "ID", "Time", "Log")
	if diff := cmp.Diff(want, got, unlikely, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func (s *collector) mustCreate(t *testing.T, n session.New) {
	t.Helper()
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Sessions.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

// of returns an event of the collector's session, which names the agent helper.
func (s *collector) of(typ notification.Type) notification.Event {
	return notification.Event{Type: typ, UserID: watched, SessionID: s.session, Agent: "helper"}
}

// with returns the collector of a new session of the agent helper, after its first
// event.
func (s *collector) with(t *testing.T, chain ...string) *collector {
	t.Helper()
	s = &collector{store: s.store, records: s.records, session: uuid.NewString()}
	s.mustCreate(t, session.New{
		ID: s.session, UserID: watched, Agent: "helper", Nonce: "n", Chain: chain,
		State: session.Delta{"k": []byte("1")},
	})
	e := s.of(notification.SessionCreated)
	e.Chain, e.Depth = chain, len(chain)
	s.want(t, e)
	return s
}

func (s *collector) mustAppend(t *testing.T, invocation string) {
	t.Helper()
	e := spoken("user", "hello")
	e.InvocationID = invocation
	if _, _, err := s.store.Sessions.Append(t.Context(), session.Append{
		SessionID: s.session, UserID: watched, Events: []session.Event{e},
	}); err != nil {
		t.Fatal(err)
	}
}

func (s *collector) mustSave(t *testing.T, id string) {
	t.Helper()
	if _, _, err := s.store.Tasks.Save(t.Context(), task.Save{SessionID: s.session, UserID: watched, Task: task.Task{
		ID: id, Bubbles: []byte(`[{"id":"b","type":"agent","text":"x"}]`),
	}}); err != nil {
		t.Fatal(err)
	}
}

func (s *collector) mustPut(t *testing.T, name string, size int) {
	t.Helper()
	put := artifact.Put{
		UserID: watched, SessionID: s.session, Name: name, MimeType: "text/plain", Body: bytes.Repeat([]byte{'a'}, size),
	}
	if _, err := s.store.Artifacts.PutArtifact(t.Context(), put); err != nil {
		t.Fatal(err)
	}
}

func (s *collector) mustFeedback(t *testing.T, f task.Feedback) {
	t.Helper()
	f.UserID, f.CreatedTime = watched, time.Now().UnixMilli()
	if err := s.store.Feedback.AddFeedback(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

func TestNotifications_of_sessions(t *testing.T) {
	all := newCollector(t)
	t.Run("a session is created, written to, renamed and deleted", func(t *testing.T) {
		s := all.with(t)
		s.mustAppend(t, "i1")
		name := "other"
		if _, err := s.store.Sessions.Update(t.Context(), watched, s.session, session.Patch{Name: &name}); err != nil {
			t.Fatal(err)
		}
		s.mustPut(t, "report", 10)
		s.mustSave(t, "t1")
		if got := len(s.events(t)); got != 2 {
			t.Errorf("%d events", got)
		}
		if err := s.store.Sessions.Delete(t.Context(), watched, s.session); err != nil {
			t.Fatal(err)
		}
		s.want(t, s.of(notification.SessionDeleted))
	})
	t.Run("a session with forks is deleted once", func(t *testing.T) {
		s := all.with(t)
		s.mustAppend(t, "i1")
		before := "i1"
		f := session.ForkOf{UserID: watched, SessionID: s.session, ID: uuid.NewString(), Before: &before, Nonce: "f"}
		if _, err := s.store.History.Fork(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		forked := s.of(notification.SessionForked)
		forked.SessionID, forked.Source, forked.Before = f.ID, s.session, "i1"
		s.want(t, forked)
		for _, id := range []string{s.session, f.ID} {
			if err := s.store.Sessions.Delete(t.Context(), watched, id); err != nil {
				t.Fatal(err)
			}
		}
		gone := forked
		gone.Type, gone.Source, gone.Before = notification.SessionDeleted, "", ""
		s.want(t, s.of(notification.SessionDeleted), gone)
	})
	t.Run("a fork of everything has one event", func(t *testing.T) {
		s := all.with(t)
		s.mustSave(t, "t1")
		s.mustPut(t, "report", 10)
		s.events(t)
		f := session.ForkOf{UserID: watched, SessionID: s.session, ID: uuid.NewString(), Nonce: "f"}
		if _, err := s.store.History.Fork(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		forked := s.of(notification.SessionForked)
		forked.SessionID, forked.Source = f.ID, s.session
		s.want(t, forked)
	})
	t.Run("a rewind names its boundary, and restored items have no events", func(t *testing.T) {
		s := all.with(t)
		s.mustPut(t, "report", 10)
		s.mustAppend(t, "i1")
		e := spoken("agent", "so")
		e.InvocationID, e.ArtifactDelta = "i2", map[string]int64{"report": 0}
		e.Fields["actions"] = []byte(`{"artifact_delta":{"report":0}}`)
		if _, _, err := s.store.Sessions.Append(t.Context(), session.Append{
			SessionID: s.session, UserID: watched, Events: []session.Event{e},
		}); err != nil {
			t.Fatal(err)
		}
		s.events(t)
		r := session.Rewind{UserID: watched, SessionID: s.session, Before: "i2", Nonce: uuid.NewString()}
		if _, err := s.store.History.Rewind(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		rewound := s.of(notification.SessionRewound)
		rewound.Before, rewound.Seq = "i2", 4
		s.want(t, rewound)
	})
	t.Run("an import has an event for the session and none for its contents", func(t *testing.T) {
		s := all.with(t)
		ref := s.mustStart(t)
		s.mustEnd(t, ref, run.Failed)
		s.mustPut(t, "report", 10)
		s.mustSave(t, "t1")
		s.mustFeedback(t, task.Feedback{ID: uuid.NewString(), SessionID: s.session, TaskID: "t1", Type: task.Up})
		r := session.Rewind{UserID: watched, SessionID: s.session, Before: ref.RunID, Nonce: uuid.NewString()}
		if _, err := s.store.History.Rewind(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		var doc bytes.Buffer
		if err := s.store.Archives.Export(t.Context(), watched, s.session, archive.NewWriter(&doc)); err != nil {
			t.Fatal(err)
		}
		part, err := archive.Parse(doc.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		s.events(t)
		u := archive.Upload{UserID: "somebody", ImportID: uuid.NewString(), Number: 1, Digest: "d", SessionID: "taken", Part: part}
		if _, err := s.store.Archives.Import(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		e := s.of(notification.SessionCreated)
		e.UserID, e.SessionID = "somebody", "taken"
		s.want(t, e)
	})
}

func TestNotifications_in_sessions(t *testing.T) {
	all := newCollector(t)
	t.Run("a failed run has its error, and the next run discards it", func(t *testing.T) {
		s := all.with(t)
		ref := s.mustStart(t)
		if _, err := s.store.Runs.End(t.Context(), ref, run.Failed, run.NewProblem("agent_failed", "secret")); err != nil {
			t.Fatal(err)
		}
		next := run.Start{
			Ref: run.Ref{UserID: watched, SessionID: s.session, RunID: "r2"}, Mode: run.Managed, Agent: "other",
			Input: []session.Event{spoken("user", "again")}, Chain: []string{"au1"},
		}
		if _, err := s.store.Runs.Start(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		began, failed, back, again := s.of(notification.RunStarted), s.of(notification.RunFailed), s.of(notification.SessionRewound), s.of(notification.RunStarted)
		began.RunID, began.Seq = "r1", 3
		failed.RunID, failed.Seq, failed.Error = "r1", 4, "agent_failed"
		back.Before, back.Seq, back.Chain, back.Depth = "r1", 5, []string{"au1"}, 1
		again.RunID, again.Seq, again.Agent, again.Chain, again.Depth = "r2", 6, "other", []string{"au1"}, 1
		s.want(t, began, failed, back, again)
	})
	t.Run("writes during an automation's run are attributed to the automation", func(t *testing.T) {
		s := all.with(t, "au0")
		ref := run.Ref{UserID: watched, SessionID: s.session, RunID: "r1"}
		for _, chain := range [][]string{{"au1", "au2"}, nil} {
			start := run.Start{Ref: ref, Mode: run.Managed, Input: []session.Event{spoken("user", "x")}, Chain: chain}
			if _, err := s.store.Runs.Start(t.Context(), start); err != nil {
				t.Fatal(err)
			}
			s.mustPut(t, "report", 10)
			s.mustSave(t, "t1")
			s.mustFeedback(t, task.Feedback{ID: uuid.NewString(), SessionID: s.session, TaskID: "t1", Type: task.Up})
			s.mustEnd(t, ref, run.Completed)
			s.mustPut(t, "report", 10)
			var depths []int
			for _, e := range s.events(t) {
				if e.Depth != len(e.Chain) {
					t.Errorf("got %+v", e)
				}
				depths = append(depths, e.Depth)
			}
			n := len(chain) // a person gives feedback, and the last one is after the end
			if diff := cmp.Diff([]int{n, n, n, 0, n, 0}, depths); diff != "" {
				t.Errorf("depths with %v (-want +got):\n%s", chain, diff)
			}
			ref.RunID = "r2"
		}
	})
	t.Run("a task has an event for each save, and no others", func(t *testing.T) {
		s := all.with(t)
		s.mustSave(t, "t1")
		saved := s.of(notification.TaskSaved)
		saved.TaskID = "t1"
		s.want(t, saved)
		s.mustSave(t, "t1")
		if err := s.store.Feedback.MarkTask(t.Context(), task.Feedback{UserID: watched, SessionID: s.session, TaskID: "t1", Type: task.Up}); err != nil {
			t.Fatal(err)
		}
		s.want(t, saved)
		f := session.ForkOf{UserID: watched, SessionID: s.session, ID: uuid.NewString(), Nonce: "f"}
		if _, err := s.store.History.Fork(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		s.events(t)
		s.mustSave(t, "t1") // keeps the version that the fork shows
		s.want(t, saved)
		in := *s
		in.session = f.ID
		in.mustSave(t, s.takenTask(t, f.ID)) // copies it first
		if got := in.events(t); len(got) != 1 || got[0].Type != notification.TaskSaved || got[0].SessionID != f.ID {
			t.Errorf("got %+v", got)
		}
		if err := s.store.Tasks.DeleteTask(t.Context(), watched, s.session, "t1"); err != nil {
			t.Fatal(err)
		}
		s.want(t)
		s.mustSave(t, "t1")
		s.want(t, saved)
	})
	t.Run("artifacts have one event for each version", func(t *testing.T) {
		s := all.with(t)
		s.mustPut(t, "report", 10)
		s.mustPut(t, "report", 1<<20)
		s.mustPut(t, "user:profile", 10)
		if err := s.store.Artifacts.DeleteArtifact(t.Context(), watched, s.session, "report"); err != nil {
			t.Fatal(err)
		}
		one, two, shared := s.of(notification.ArtifactSaved), s.of(notification.ArtifactSaved), s.of(notification.ArtifactSaved)
		one.Artifact, two.Artifact, two.Version, shared.Artifact = "report", "report", 1, "user:profile"
		s.want(t, one, two, shared)
	})
	t.Run("feedback has one event, with its session if it has one", func(t *testing.T) {
		s := all.with(t)
		f := task.Feedback{ID: uuid.NewString(), SessionID: s.session, TaskID: "t1", Type: task.Down, Text: "secret"}
		s.mustFeedback(t, f)
		s.mustFeedback(t, f)
		s.mustFeedback(t, task.Feedback{ID: uuid.NewString(), TaskID: "t2", Type: task.Up})
		in := s.of(notification.FeedbackCreated)
		in.TaskID, in.Feedback = "t1", task.Down
		s.want(t, in, notification.Event{Type: notification.FeedbackCreated, UserID: watched, TaskID: "t2", Feedback: task.Up})
	})
}

// takenTask returns the id of a fork's only task.
func (s *collector) takenTask(t *testing.T, fork string) string {
	t.Helper()
	page, err := s.store.Tasks.Tasks(t.Context(), task.Query{UserID: watched, SessionID: fork})
	if err != nil || len(page.Tasks) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	return page.Tasks[0].ID
}
