package mcp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/transport/mcp"
)

// onSession are calls of all tools for a session, each with what it takes.
func onSession(id string) map[string]object {
	return map[string]object{
		"get_session":    {"session_id": id},
		"read_session":   {"session_id": id},
		"fork_session":   {"session_id": id, "dry_run": true},
		"rewind_session": {"session_id": id, "rewind_before_invocation_id": "i1", "dry_run": true},
		"list_artifacts": {"session_id": id},
		"read_artifact":  {"session_id": id, "name": "note.txt"},
	}
}

func TestAccess(t *testing.T) {
	t.Parallel()
	now := time.Now()
	r := newRig(t, func(c *mcp.Config) { c.Now = func() time.Time { return now } })
	for _, id := range []string{"closed", "read", "write"} {
		r.create(t, alice, id, "one")
		r.put(t, id, "note.txt", "text/plain", []byte("note"))
	}
	r.put(t, "read", "user:profile", "text/plain", []byte("hers"))
	r.share(t, "read", access.Read)
	r.share(t, "write", access.Write)
	owner, guest, admin := r.connect(t, alice), r.connect(t, bob), r.connect(t, "eve support")
	statusOf := func(t *testing.T, c *sdk.ClientSession, tool string, args object) any {
		t.Helper()
		got := call(t, c, tool, args)
		if !got.IsError {
			return float64(http.StatusOK)
		}
		return got.StructuredContent.(object)["status"]
	}
	t.Run("a foreign session is answered exactly as one that does not exist", func(t *testing.T) {
		t.Parallel()
		unknown := onSession("never")
		for tool, args := range onSession("closed") {
			foreign, missing := refused(t, guest, tool, args), refused(t, guest, tool, unknown[tool])
			if diff := cmp.Diff(missing, foreign); diff != "" || foreign["status"] != float64(http.StatusNotFound) {
				t.Errorf("%s (-unknown +foreign)\n%s%v", tool, diff, foreign)
			}
		}
	})
	for name, test := range map[string]struct {
		client  *sdk.ClientSession
		session string
		refuses map[string]bool
	}{
		"the owner may do everything":   {owner, "closed", nil},
		"a reader reads":                {guest, "read", map[string]bool{"fork_session": true, "rewind_session": true}},
		"a writer rewinds":              {guest, "write", map[string]bool{"fork_session": true}},
		"an admin reads every session":  {admin, "closed", map[string]bool{"fork_session": true, "rewind_session": true}},
		"an admin reads a shared one":   {admin, "read", map[string]bool{"fork_session": true, "rewind_session": true}},
		"the owner of a shared session": {owner, "read", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for tool, args := range onSession(test.session) {
				want := float64(http.StatusOK)
				if test.refuses[tool] {
					want = http.StatusForbidden
				}
				if got := statusOf(t, test.client, tool, args); got != want {
					t.Errorf("%s: got %v, want %v", tool, got, want)
				}
			}
		})
	}
	t.Run("lists of guests", func(t *testing.T) {
		t.Parallel()
		if got := ids(must[sessionPage](t, guest, "list_sessions", object{})); len(got) != 0 {
			t.Errorf("the guest's own are %v", got)
		}
		if got := must[sessionPage](t, guest, "list_sessions", object{"shared": true}); len(got.Sessions) != 2 || got.Sessions[0].Access == "" {
			t.Errorf("shared with the guest are %+v", got.Sessions)
		}
	})
	t.Run("a guest does not see artifacts of the user", func(t *testing.T) {
		t.Parallel()
		args := object{"session_id": "read", "name": "user:profile"}
		if got := statusOf(t, owner, "read_artifact", args); got != float64(http.StatusOK) {
			t.Errorf("the owner gets %v", got)
		}
		if got := statusOf(t, guest, "read_artifact", args); got != float64(http.StatusNotFound) {
			t.Errorf("the guest gets %v", got)
		}
		if got := must[artifacts](t, guest, "list_artifacts", object{"session_id": "read"}); len(got.Artifacts) != 1 {
			t.Errorf("the guest lists %+v", got)
		}
	})
	t.Run("a guest rewinds the session's own state alone", func(t *testing.T) {
		t.Parallel()
		got := refused(t, guest, "rewind_session", object{
			"session_id": "write", "rewind_before_invocation_id": "i1", "scopes": []string{"user"}, "dry_run": true,
		})
		if got["status"] != float64(http.StatusForbidden) {
			t.Errorf("got %v", got)
		}
	})
}

// Access that ends between two pages ends the reading.
func TestRevoke(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(t, alice, "s", "one", "two")
	share := r.share(t, "s", access.Read)
	c := r.connect(t, bob)
	first := must[eventPage](t, c, "read_session", object{"session_id": "s", "limit": 1})
	if err := r.store.Shares.Revoke(t.Context(), alice, "s", share); err != nil {
		t.Fatal(err)
	}
	got := refused(t, c, "read_session", object{"session_id": "s", "limit": 1, "cursor": first.Next})
	if got["status"] != float64(http.StatusNotFound) {
		t.Errorf("got %v", got)
	}
}
