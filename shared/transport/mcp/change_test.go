package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/mcp"
)

type changed struct {
	Undo      string `json:"undo_before_invocation_id"`
	DryRun    bool   `json:"dry_run"`
	Session   session.Session
	State     map[string]any   `json:"restored_state"`
	Artifacts map[string]int64 `json:"restored_artifacts"`
	Conflicts []session.Conflict
}

// said returns what a session shows to alice.
func (r *rig) said(t *testing.T, id string) (out []string) {
	t.Helper()
	all, _ := readAll(t, r, object{"session_id": id}, 1<<20)
	for _, e := range all {
		out = append(out, e.said())
	}
	return out
}

func mustSay(t *testing.T, r *rig, id string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.said(t, id)); diff != "" {
		t.Errorf("%s shows (-want +got)\n%s", id, diff)
	}
}

func TestRewind(t *testing.T) {
	t.Parallel()
	t.Run("a preview changes nothing, a rewind hides, and its undo shows everything again", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.create(t, alice, "s", "one", "two", "three")
		c := r.connect(t, alice)
		args := object{"session_id": "s", "rewind_before_invocation_id": "i2", "dry_run": true}
		if got := must[changed](t, c, "rewind_session", args); !got.DryRun || got.Undo != "" {
			t.Errorf("the preview is %+v", got)
		}
		mustSay(t, r, "s", "one", "two", "three")
		delete(args, "dry_run")
		done := must[changed](t, c, "rewind_session", args)
		mustSay(t, r, "s", "one")
		must[changed](t, c, "rewind_session", object{"session_id": "s", "rewind_before_invocation_id": done.Undo})
		mustSay(t, r, "s", "one", "two", "three")
	})
	t.Run("state is restored, and a shared value that another session has changed is kept", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.create(t, alice, "s", "one")
		r.create(t, alice, "other")
		r.setState(t, "s", "i2", `{"mood":"happy","user:lang":"en"}`)
		r.setState(t, "other", "o1", `{"user:lang":"de"}`)
		got := must[changed](t, r.connect(t, alice), "rewind_session", object{"session_id": "s", "rewind_before_invocation_id": "i2"})
		if diff := cmp.Diff(map[string]any{"mood": nil}, got.State); diff != "" || !cmp.Equal(got.Conflicts, []session.Conflict{{Key: "user:lang", Reason: session.ChangedSince}}) {
			t.Errorf("(-want +got)\n%s%+v", diff, got)
		}
	})
	t.Run("a repeat with its request id changes nothing, not even what came since", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.create(t, alice, "s", "one", "two")
		c := r.connect(t, alice)
		args := object{"session_id": "s", "rewind_before_invocation_id": "i2", "request_id": "r1"}
		first := must[changed](t, c, "rewind_session", args)
		r.say(t, alice, "s", "i9", "since")
		again := must[changed](t, c, "rewind_session", args)
		mustSay(t, r, "s", "one", "since")
		if again.Undo != first.Undo || again.Session.Epoch != first.Session.Epoch {
			t.Errorf("got %+v after %+v", again, first)
		}
	})
	t.Run("two callers at the same instant: both rewinds are in the log, one after the other", func(t *testing.T) {
		t.Parallel()
		var meet sync.WaitGroup
		meet.Add(2)
		r := newRig(t, func(c *mcp.Config) { c.Rewinds = meeting{c.Rewinds, &meet} })
		r.create(t, alice, "s", "one", "two", "three")
		r.share(t, "s", access.Write)
		results := make(chan changed, 2)
		for user, before := range map[string]string{alice: "i2", bob: "i3"} {
			c := r.connect(t, user)
			go func() {
				var got changed
				result, err := c.CallTool(t.Context(), &sdk.CallToolParams{
					Name: "rewind_session", Arguments: object{"session_id": "s", "rewind_before_invocation_id": before},
				})
				if err == nil && !result.IsError {
					err = json.Unmarshal([]byte(text(result)), &got)
				}
				if err != nil || result.IsError {
					t.Errorf("%s: %v %+v", user, err, result)
				}
				results <- got
			}()
		}
		epochs := []int64{(<-results).Session.Epoch, (<-results).Session.Epoch}
		slices.Sort(epochs)
		if !slices.Equal(epochs, []int64{1, 2}) {
			t.Errorf("the epochs are %v", epochs)
		}
		if got := r.said(t, "s"); !cmp.Equal(got, []string{"one"}) && !cmp.Equal(got, []string{"one", "two"}) {
			t.Errorf("the session shows %q", got)
		}
	})
	t.Run("refuses what the REST API refuses, and changes nothing", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.create(t, alice, "s", "one", "two")
		c := r.connect(t, alice)
		for name, test := range map[string]struct {
			status float64
			args   object
		}{
			"an unknown invocation":   {http.StatusNotFound, object{"rewind_before_invocation_id": "never"}},
			"no invocation":           {http.StatusUnprocessableEntity, object{}},
			"an unknown scope":        {http.StatusUnprocessableEntity, object{"rewind_before_invocation_id": "i2", "scopes": []string{"world"}}},
			"no scope":                {http.StatusUnprocessableEntity, object{"rewind_before_invocation_id": "i2", "scopes": []string{}}},
			"an unknown way":          {http.StatusUnprocessableEntity, object{"rewind_before_invocation_id": "i2", "on_conflict": "fight"}},
			"an id with a slash":      {http.StatusUnprocessableEntity, object{"rewind_before_invocation_id": "a/b"}},
			"a number for a switch":   {http.StatusUnprocessableEntity, object{"rewind_before_invocation_id": "i2", "dry_run": 1}},
			"an argument of no tool":  {http.StatusUnprocessableEntity, object{"rewind_before_invocation_id": "i2", "force": true}},
			"a session without an id": {http.StatusUnprocessableEntity, object{"rewind_before_invocation_id": "i2", "session_id": ""}},
		} {
			if _, given := test.args["session_id"]; !given {
				test.args["session_id"] = "s"
			}
			if got := refused(t, c, "rewind_session", test.args); got["status"] != test.status {
				t.Errorf("%s: got %v", name, got)
			}
		}
		mustSay(t, r, "s", "one", "two")
	})
}

// meeting lets the first rewinds of two callers begin together.
type meeting struct {
	session.Rewinder

	meet *sync.WaitGroup
}

func (m meeting) Rewind(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	if r.UserID == alice { // a guest's is first tried as an owner's
		m.meet.Done()
		m.meet.Wait()
	}
	return m.Rewinder.Rewind(ctx, r)
}

func TestFork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(t, alice, "s", "one", "two", "three")
	c := r.connect(t, alice)
	t.Run("has what came before the invocation", func(t *testing.T) {
		t.Parallel()
		got := must[changed](t, c, "fork_session", object{"session_id": "s", "rewind_before_invocation_id": "i3", "name": "mine"})
		mustSay(t, r, got.Session.ID, "one", "two")
		mustSay(t, r, "s", "one", "two", "three")
		if got.Session.Name != "mine" || got.Session.Fork == nil {
			t.Errorf("got %+v", got.Session)
		}
	})
	t.Run("a repeat with its request id returns the same fork; other arguments make another", func(t *testing.T) {
		t.Parallel()
		args := object{"session_id": "s", "request_id": "r1"}
		first, again := must[changed](t, c, "fork_session", args), must[changed](t, c, "fork_session", args)
		args["name"] = "other"
		other := must[changed](t, c, "fork_session", args)
		if first.Session.ID != again.Session.ID || first.Session.ID == other.Session.ID {
			t.Errorf("%s, %s, %s", first.Session.ID, again.Session.ID, other.Session.ID)
		}
	})
	t.Run("a preview creates nothing", func(t *testing.T) {
		t.Parallel()
		got := must[changed](t, c, "fork_session", object{"session_id": "s", "dry_run": true})
		if !got.DryRun {
			t.Errorf("got %+v", got)
		}
		refused(t, c, "get_session", object{"session_id": got.Session.ID})
	})
	t.Run("an invocation that is not there is refused", func(t *testing.T) {
		t.Parallel()
		got := refused(t, c, "fork_session", object{"session_id": "s", "rewind_before_invocation_id": "never"})
		if got["status"] != float64(http.StatusBadRequest) {
			t.Errorf("got %v", got)
		}
	})
}
