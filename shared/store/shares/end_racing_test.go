package shares_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

const later = "written after the end of the share"

// guestReads are what a guest reads of the session s, as text.
func guestReads() map[access.Action]func(context.Context, *stores.Store, string) (any, error) {
	return map[access.Action]func(context.Context, *stores.Store, string) (any, error){
		access.ReadSession: func(ctx context.Context, s *stores.Store, owner string) (any, error) {
			return s.Runs.Thread(ctx, owner, "s", run.ThreadQuery{Limit: 10})
		},
		access.ReadRun: func(ctx context.Context, s *stores.Store, owner string) (any, error) {
			return s.Sessions.Events(ctx, owner, "s", session.EventQuery{Limit: 10})
		},
		access.ReadTasks: func(ctx context.Context, s *stores.Store, owner string) (any, error) {
			return s.Sessions.Get(ctx, owner, "s")
		},
	}
}

// Once the end of a share is answered, no read of its guest returns what was written later.
func TestRevoke_during_a_guests_read(t *testing.T) {
	t.Parallel()
	cases := 0
	for action, read := range guestReads() {
		for at := 1; ; at++ {
			r := revoking{at: at}
			var got any
			err := r.play(t, action, func(ctx context.Context, s *stores.Store, p access.Permission) (err error) {
				got, err = read(ctx, s, p.Owner)
				return err
			})
			if !r.revoked {
				break
			}
			cases++
			if err == nil && strings.Contains(fmt.Sprintf("%+v", got), later) {
				t.Errorf("%s, with the share's end before request %d: shows what was written later", action, at)
			}
			if err != nil && !errors.Is(err, fault.Of(fault.Forbidden)) {
				t.Errorf("%s, with the share's end before request %d: %v", action, at, err)
			}
		}
	}
	if cases < 12 {
		t.Errorf("%d cases, want at least 12", cases)
	}
}

// guestWrites are what a guest changes in the session s, in which a task t was saved, an
// external run is active and another one begun by a user waits.
func guestWrites(t *testing.T) map[string]guestWrite {
	t.Helper()
	input := []session.Event{fixture.Event(t, "", "input", "a guest's")}
	start := func(id string, how run.OnActive) func(context.Context, *stores.Store, string) error {
		return func(ctx context.Context, s *stores.Store, owner string) error {
			_, err := s.Runs.Start(ctx, run.Start{Ref: run.Ref{UserID: owner, SessionID: "s", RunID: id}, Input: input, OnActive: how})
			return err
		}
	}
	pushed := func(owner string) run.Ref { return run.Ref{UserID: owner, SessionID: "s", RunID: "pushed"} }
	return map[string]guestWrite{
		"append": {access.AppendEvents, func(ctx context.Context, s *stores.Store, owner string) error {
			_, _, err := s.Sessions.Append(ctx, session.Append{SessionID: "s", UserID: owner, Events: []session.Event{fixture.Event(t, "", "guest", "a guest's")}})
			return err
		}},
		"run that waits": {access.StartRun, start("waits", run.Enqueue)},
		"run instead":    {access.StartRun, start("instead", run.CancelAndMerge)},
		"cancellation": {access.CancelRun, func(ctx context.Context, s *stores.Store, owner string) error {
			_, err := s.Runs.Cancel(ctx, pushed(owner))
			return err
		}},
		"end of a pushed run": {access.PushRun, func(ctx context.Context, s *stores.Store, owner string) error {
			_, err := s.Runs.End(ctx, pushed(owner), run.Completed, nil)
			return err
		}},
		"events of a pushed run": {access.PushRun, func(ctx context.Context, s *stores.Store, owner string) error {
			_, err := s.Runs.AppendEvents(ctx, pushed(owner), []session.Event{fixture.Event(t, "", "pushed", "a guest's")})
			return err
		}},
		"rewind": {access.Rewind, func(ctx context.Context, s *stores.Store, owner string) error {
			_, err := s.History.Rewind(ctx, session.Rewind{SessionID: "s", UserID: owner, Before: "first", Nonce: "rewind", CancelRun: true})
			return err
		}},
		"new task": {access.SaveTask, func(ctx context.Context, s *stores.Store, owner string) error {
			_, _, err := s.Tasks.Save(ctx, savedTask(owner, "other", "a guest's"))
			return err
		}},
		"task": {access.SaveTask, func(ctx context.Context, s *stores.Store, owner string) error {
			_, _, err := s.Tasks.Save(ctx, savedTask(owner, "t", "a guest's"))
			return err
		}},
		"deletion of a task": {access.DeleteTask, func(ctx context.Context, s *stores.Store, owner string) error {
			return s.Tasks.DeleteTask(ctx, owner, "s", "t")
		}},
		"artifact": {access.PutArtifact, func(ctx context.Context, s *stores.Store, owner string) error {
			_, err := s.Artifacts.PutArtifact(ctx, artifact.Put{SessionID: "s", UserID: owner, Name: "a", MimeType: "text/plain", Body: []byte("x")})
			return err
		}},
		"feedback": {access.GiveFeedback, func(ctx context.Context, s *stores.Store, owner string) error {
			return s.Feedback.AddFeedback(ctx, task.Feedback{ID: "f", UserID: "bob", OwnerID: owner, SessionID: "s", TaskID: "t", Type: "up", CreatedTime: 1})
		}},
	}
}

type guestWrite struct {
	action access.Action
	do     func(ctx context.Context, s *stores.Store, owner string) error
}

func savedTask(owner, id, text string) task.Save {
	return task.Save{SessionID: "s", UserID: owner, Task: task.Task{ID: id, UserMessage: json.RawMessage(`"` + text + `"`), Bubbles: json.RawMessage(`[]`)}}
}

// Once the end of a share is answered, nothing that its guest writes is seen, whatever the
// request had done by then.
func TestRevoke_during_a_guests_write(t *testing.T) {
	t.Parallel()
	cases := 0
	for name, write := range guestWrites(t) {
		done := 0
		for at := 1; ; at++ {
			r := revoking{at: at}
			err := r.play(t, write.action, func(ctx context.Context, s *stores.Store, p access.Permission) error {
				return write.do(ctx, s, p.Owner)
			})
			if !r.revoked {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				break
			}
			cases++
			if err == nil {
				done++
			} else if !errors.Is(err, fault.Of(fault.Forbidden)) {
				t.Errorf("%s, with the share's end before request %d: %v", name, at, err)
			}
			if diff := cmp.Diff(r.then, r.seen(t.Context(), t)); diff != "" {
				t.Errorf("%s, with the share's end before request %d, changed (-then +now)\n%s", name, at, diff)
			}
		}
	}
	if cases < 110 {
		t.Errorf("%d cases, want at least 110", cases)
	}
}

// revoking ends a share before a request of its guest, and then writes to the session.
type revoking struct {
	at, request int
	revoked     bool
	owner       *stores.Store
	then        map[string]any // what the owner saw after that
}

// seen is what the owner sees.
func (r *revoking) seen(ctx context.Context, t *testing.T) map[string]any {
	t.Helper()
	all := map[string]any{}
	for name, read := range map[string]func() (any, error){
		"thread": func() (any, error) { return r.owner.Runs.Thread(ctx, fixture.Alice, "s", run.ThreadQuery{Limit: 100}) },
		"events": func() (any, error) {
			return r.owner.Sessions.Events(ctx, fixture.Alice, "s", session.EventQuery{View: session.All, Limit: 100})
		},
		"tasks": func() (any, error) {
			return r.owner.Tasks.Tasks(ctx, task.Query{SessionID: "s", UserID: fixture.Alice})
		},
		"artifacts": func() (any, error) {
			return r.owner.Artifacts.Artifacts(ctx, artifact.Query{SessionID: "s", UserID: fixture.Alice, Limit: 10})
		},
		"feedback": func() (any, error) {
			return r.owner.Feedback.ListFeedback(ctx, task.FeedbackQuery{UserID: "bob", Limit: 10})
		},
	} {
		var err error
		if all[name], err = read(); err != nil {
			t.Errorf("read %s: %v", name, err)
		}
	}
	return all
}

func (r *revoking) play(
	t *testing.T, action access.Action, do func(context.Context, *stores.Store, access.Permission) error,
) error {
	t.Helper()
	engine := storetest.Engine(t)
	owner := stores.New(engine)
	r.owner = owner
	fixture.Session(t, owner, fixture.Alice, "s", nil)
	fixture.Append(t, owner, fixture.Alice, "s", fixture.Event(t, "", "first", "before"))
	if _, _, err := owner.Tasks.Save(t.Context(), savedTask(fixture.Alice, "t", "before")); err != nil {
		t.Fatal(err)
	}
	_, err := owner.Runs.Start(t.Context(), run.Start{
		Ref: run.Ref{UserID: fixture.Alice, SessionID: "s", RunID: "pushed"}, Mode: run.External,
		Input: []session.Event{fixture.Event(t, "", "pushed", "asks")},
	})
	if err != nil {
		t.Fatal(err)
	}
	share := fixture.Share(t, owner, access.NewShare{SessionID: "s", UserID: "bob", Right: access.Write})
	guest := stores.New(storetest.Before(engine, func(ctx context.Context, c hooks.Call) error {
		if c.Query.Index != "" { // beside the others
			return nil
		}
		if r.request++; r.request != r.at {
			return nil
		}
		r.revoked = true
		if err := owner.Shares.Revoke(ctx, fixture.Alice, "s", share); err != nil {
			return err
		}
		_, _, err := owner.Sessions.Append(ctx, session.Append{
			SessionID: "s", UserID: fixture.Alice, Events: []session.Event{fixture.Event(t, "", "last", later)},
		})
		r.then = r.seen(ctx, t)
		return err
	}))
	gate := access.NewGate(guest.Shares, time.Now, slog.New(slog.DiscardHandler))
	ctx := records.Fencing(t.Context())
	return gate.Do(ctx, access.Caller{UserID: "bob"}, "s", action, func(p access.Permission) error {
		return do(ctx, guest, p)
	})
}

// A write of a guest costs what a transaction with the check of a share does; one of the
// owner costs what it does without shares.
func TestFence_cost(t *testing.T) {
	t.Parallel()
	meter := &capacity.Meter{}
	s := stores.New(meter.Around(storetest.Engine(t)))
	fixture.Session(t, s, fixture.Alice, "s", nil)
	fixture.Append(t, s, fixture.Alice, "s", fixture.Event(t, "", "first", "before"))
	fixture.Share(t, s, access.NewShare{SessionID: "s", UserID: "bob", Right: access.Write})
	gate := access.NewGate(s.Shares, time.Now, slog.New(slog.DiscardHandler))
	cost := func(user string) capacity.Usage {
		before := meter.Total()
		ctx := records.Fencing(t.Context())
		err := gate.Do(ctx, access.Caller{UserID: user}, "s", access.AppendEvents, func(p access.Permission) error {
			_, _, err := s.Sessions.Append(ctx, session.Append{SessionID: "s", UserID: p.Owner, Events: []session.Event{fixture.Event(t, "", "first", "x")}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return meter.Total().Sub(before)
	}
	if owner := cost(fixture.Alice); owner.Writes != 1 || owner.Reads > 1.5 {
		t.Errorf("the owner's append costs %+v, want a write and 1.5 reads", owner)
	}
	if guest := cost("bob"); guest.Writes != 4 || guest.Reads > 6.5 {
		t.Errorf("the guest's append costs %+v, want 4 writes and 6.5 reads", guest)
	}
}
