package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// recordingStore records what a request asks of the store and returns next to
// nothing.
type recordingStore struct {
	rewinds []session.Rewind
	forks   []session.ForkOf
}

func (a *recordingStore) Rewind(_ context.Context, r session.Rewind) (session.Rewound, error) {
	a.rewinds = append(a.rewinds, r)
	return session.Rewound{}, nil
}

func (a *recordingStore) Fork(_ context.Context, f session.ForkOf) (session.Session, error) {
	a.forks = append(a.forks, f)
	return session.Session{ID: f.ID, Version: 1}, nil
}

func (a *recordingStore) Forks(_ context.Context, q session.TreeQuery) (session.TreePage, error) {
	return session.TreePage{Root: session.Branch{ID: q.SessionID, Children: []session.Branch{{ID: "child"}}}}, nil
}

// listening returns a system whose rewinds and forks reach the returned store.
func listening(t *testing.T) (*system, *recordingStore) {
	t.Helper()
	a := &recordingStore{}
	return newSystem(t, func(c *rest.Config) { c.Rewinds = a }), a
}

func TestRewindRequest(t *testing.T) {
	s, store := listening(t)
	for name, c := range map[string]struct {
		body string
		want session.Rewind
	}{
		"only the required member": {`{"rewind_before_invocation_id":"i"}`, session.Rewind{}},
		"unknown members": {
			`{"rewind_before_invocation_id":"i","dryRun":true,"state":{"a":1}}`, session.Rewind{},
		},
		"everything": {
			`{"rewind_before_invocation_id":"i","scopes":["session"],"on_conflict":"restore","dry_run":true,"cancel_run":true,"expected_seq":7}`,
			session.Rewind{
				Scopes: []session.Scope{session.ScopeSession}, Restore: true, DryRun: true, CancelRun: true, ExpectedSeq: new(int64(7)),
			},
		},
		"all scopes": {
			`{"rewind_before_invocation_id":"i","scopes":["app","user","session"],"on_conflict":"keep","dry_run":false}`,
			session.Rewind{Scopes: []session.Scope{session.ScopeApp, session.ScopeUser, session.ScopeSession}},
		},
		"the same scope twice": {
			`{"rewind_before_invocation_id":"i","scopes":["user","user"]}`,
			session.Rewind{Scopes: []session.Scope{session.ScopeUser, session.ScopeUser}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			store.rewinds = nil
			s.must(t, http.StatusOK, post(alice, "/sessions/a%20b/rewind", c.body))
			c.want.SessionID, c.want.UserID, c.want.Before = "a b", alice, "i"
			if len(store.rewinds) != 1 || store.rewinds[0].Nonce == "" {
				t.Fatalf("asked %+v", store.rewinds)
			}
			c.want.Nonce = store.rewinds[0].Nonce
			if diff := cmp.Diff(c.want, store.rewinds[0]); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRewindBadInput(t *testing.T) {
	s, store := listening(t)
	with := func(more string) string { return `{"rewind_before_invocation_id":"i",` + more + `}` }
	for name, c := range map[string]struct {
		body    string
		status  int
		pointer string
	}{
		"no body":                    {``, 400, ""},
		"not an object":              {`["i"]`, 400, ""},
		"no invocation":              {`{}`, 400, "/rewind_before_invocation_id"},
		"null for an invocation":     {`{"rewind_before_invocation_id":null}`, 400, "/rewind_before_invocation_id"},
		"a number for an invocation": {`{"rewind_before_invocation_id":7}`, 400, "/rewind_before_invocation_id"},
		"an empty invocation":        {`{"rewind_before_invocation_id":""}`, 422, "/rewind_before_invocation_id"},
		"a long invocation":          {`{"rewind_before_invocation_id":"` + strings.Repeat("i", 129) + `"}`, 422, "/rewind_before_invocation_id"},
		"a slash":                    {`{"rewind_before_invocation_id":"a/b"}`, 422, "/rewind_before_invocation_id"},
		"scopes of a wrong type":     {with(`"scopes":"user"`), 400, "/scopes"},
		"scopes that are null":       {with(`"scopes":null`), 400, "/scopes"},
		"no scope":                   {with(`"scopes":[]`), 422, "/scopes"},
		"a scope of a wrong type":    {with(`"scopes":["user",1]`), 400, "/scopes/1"},
		"a null scope":               {with(`"scopes":[null]`), 400, "/scopes/0"},
		"an unknown scope":           {with(`"scopes":["user","temp"]`), 422, "/scopes/1"},
		"an unknown conflict":        {with(`"on_conflict":"ask"`), 422, "/on_conflict"},
		"an empty conflict":          {with(`"on_conflict":""`), 422, "/on_conflict"},
		"a wrong conflict":           {with(`"on_conflict":true`), 400, "/on_conflict"},
		"a wrong dry_run":            {with(`"dry_run":"yes"`), 400, "/dry_run"},
		"a wrong cancel_run":         {with(`"cancel_run":null`), 400, "/cancel_run"},
		"a wrong expected_seq":       {with(`"expected_seq":"7"`), 400, "/expected_seq"},
		"a negative expected_seq":    {with(`"expected_seq":-1`), 422, "/expected_seq"},
	} {
		t.Run(name, func(t *testing.T) {
			s.mustRefuse(t, c.status, c.pointer, post(alice, "/sessions/s/rewind", c.body))
		})
	}
	s.mustRefuse(t, http.StatusUnauthorized, "", post("", "/sessions/s/rewind", `{"rewind_before_invocation_id":"i"}`))
	s.mustRefuse(t, http.StatusUnprocessableEntity, "session_id",
		post(alice, "/sessions/"+strings.Repeat("s", 129)+"/rewind", `{"rewind_before_invocation_id":"i"}`))
	if len(store.rewinds) != 0 {
		t.Errorf("refused, and yet asked for: %+v", store.rewinds)
	}
}

func TestRewindMembersAreNeverNull(t *testing.T) {
	s, _ := listening(t)
	got := s.must(t, http.StatusOK, post(alice, "/sessions/s/rewind", `{"rewind_before_invocation_id":"i"}`))
	body := decode[one[map[string]json.RawMessage]](t, got).Data
	if string(body["restored"]) != `{"state":{},"artifacts":{}}` || string(body["conflicts"]) != `[]` {
		t.Errorf("got %s", got.body)
	}
}

func TestRewindWithAKeyIsRepeatable(t *testing.T) {
	s, store := listening(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	s.mustCreate(t, alice, `{"id":"r"}`)
	rewind := func(path, key string) {
		t.Helper()
		r := post(alice, path, `{"rewind_before_invocation_id":"i"}`)
		if key != "" {
			r = r.with("Idempotency-Key", key)
		}
		s.must(t, http.StatusOK, r)
	}
	rewind("/sessions/s/rewind", "k")
	rewind("/sessions/s/rewind", "k") // replayed
	rewind("/sessions/s/rewind", "other")
	rewind("/sessions/r/rewind", "k")
	rewind("/sessions/s/rewind", "")
	rewind("/sessions/s/rewind", "")
	seen := map[string]bool{}
	for _, r := range store.rewinds {
		seen[r.Nonce] = true
	}
	if len(store.rewinds) != 5 || len(seen) != 5 {
		t.Errorf("asked %+v", store.rewinds)
	}
}
