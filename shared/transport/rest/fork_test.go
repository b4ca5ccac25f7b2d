package rest_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
)

func TestForkRequest(t *testing.T) {
	s, store := listening(t)
	text := func(v string) *string { return &v }
	for name, c := range map[string]struct {
		body string
		want session.ForkOf
	}{
		"no body":         {``, session.ForkOf{}},
		"blank":           {" \n", session.ForkOf{}},
		"empty":           {`{}`, session.ForkOf{}},
		"null":            {`{"rewind_before_invocation_id":null,"name":null,"dry_run":null,"strict":null}`, session.ForkOf{}},
		"unknown members": {`{"id":"mine","boundary":"i"}`, session.ForkOf{}},
		"an empty name":   {`{"name":""}`, session.ForkOf{Name: text("")}},
		"everything": {
			`{"rewind_before_invocation_id":"i 1","name":"` + strings.Repeat("é", 256) + `","strict":true}`,
			session.ForkOf{Before: text("i 1"), Name: text(strings.Repeat("é", 256)), Strict: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			store.forks = nil
			got := s.must(t, http.StatusCreated, post(alice, "/sessions/a%20b/fork", c.body))
			c.want.SessionID, c.want.UserID = "a b", alice
			if len(store.forks) != 1 || store.forks[0].ID == "" || store.forks[0].Nonce == "" {
				t.Fatalf("asked %+v", store.forks)
			}
			c.want.ID, c.want.Nonce = store.forks[0].ID, store.forks[0].Nonce
			if diff := cmp.Diff(c.want, store.forks[0]); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got.header.Get("Location") != "/api/v1/sessions/"+c.want.ID || got.header.Get("ETag") != `"1"` {
				t.Errorf("header %v", got.header)
			}
		})
	}
	t.Run("returns a location below the bare path", func(t *testing.T) {
		got := s.must(t, http.StatusCreated, post(alice, "/api/sessions/s/fork", ""))
		if at := got.header.Get("Location"); !strings.HasPrefix(at, "/api/sessions/") {
			t.Errorf("Location %q", at)
		}
	})
	t.Run("returns no location for a dry run", func(t *testing.T) {
		got := s.must(t, http.StatusOK, post(alice, "/sessions/s/fork", `{"dry_run":true}`))
		if !store.forks[len(store.forks)-1].DryRun || got.header.Get("Location") != "" {
			t.Errorf("asked %+v, header %v", store.forks, got.header)
		}
	})
	t.Run("treats an absent body and an empty object as the same request", func(t *testing.T) {
		s.mustCreate(t, alice, `{"id":"s"}`)
		first := s.must(t, http.StatusCreated, post(alice, "/sessions/s/fork", ``).with("Idempotency-Key", "k"))
		second := s.must(t, http.StatusCreated, post(alice, "/sessions/s/fork", `{}`).with("Idempotency-Key", "k"))
		if string(first.body) != string(second.body) || second.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s, then %s", first.body, second.body)
		}
	})
}

func TestForkBadInput(t *testing.T) {
	s, store := listening(t)
	for name, c := range map[string]struct {
		body    string
		status  int
		pointer string
	}{
		"not JSON":                    {`{"name"`, 400, ""},
		"not an object":               {`[]`, 400, ""},
		"null for a body":             {`null`, 400, ""},
		"an invocation of wrong type": {`{"rewind_before_invocation_id":["i"]}`, 400, "/rewind_before_invocation_id"},
		"an empty invocation":         {`{"rewind_before_invocation_id":""}`, 422, "/rewind_before_invocation_id"},
		"a control character":         {`{"rewind_before_invocation_id":"a\u0000"}`, 422, "/rewind_before_invocation_id"},
		"a name of a wrong type":      {`{"name":{}}`, 400, "/name"},
		"a name too long":             {`{"name":"` + strings.Repeat("é", 257) + `"}`, 422, "/name"},
		"a wrong dry_run":             {`{"dry_run":1}`, 400, "/dry_run"},
		"a wrong strict":              {`{"strict":"true"}`, 400, "/strict"},
	} {
		t.Run(name, func(t *testing.T) {
			s.mustRefuse(t, c.status, c.pointer, post(alice, "/sessions/s/fork", c.body))
		})
	}
	s.mustRefuse(t, http.StatusUnauthorized, "", post("", "/sessions/s/fork", ""))
	s.mustRefuse(t, http.StatusUnauthorized, "", get("", "/sessions/s/forks"))
	s.mustRefuse(t, http.StatusUnprocessableEntity, "session_id", get(alice, "/sessions/a%01b/forks"))
	if len(store.forks) != 0 {
		t.Errorf("refused, and yet asked for: %+v", store.forks)
	}
}

func TestBranchChildrenAreNeverNull(t *testing.T) {
	s, _ := listening(t)
	got := s.must(t, http.StatusOK, get(alice, "/sessions/s/forks"))
	if n := strings.Count(string(got.body), `"children":[]`); n != 1 || strings.Contains(string(got.body), `"children":null`) {
		t.Errorf("got %s", got.body)
	}
}

// treeView is a session in a tree of forks.
type treeView struct {
	ID       string
	Children []treeView
}

func TestForks_pages(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	for range 3 {
		s.must(t, http.StatusCreated, post(alice, "/sessions/s/fork", ""))
	}
	type treePage struct {
		Data treeView
		Meta struct {
			NextCursor *string `json:"next_cursor"`
		}
	}
	whole := decode[treePage](t, s.must(t, http.StatusOK, get(alice, "/sessions/s/forks")))
	if len(whole.Data.Children) != 3 || whole.Meta.NextCursor != nil {
		t.Fatalf("the tree: %+v", whole)
	}
	var got []treeView
	for path, pages := "/sessions/s/forks?limit=2", 0; ; pages++ {
		answer := s.must(t, http.StatusOK, get(alice, path))
		page := decode[treePage](t, answer)
		if page.Data.ID != "s" {
			t.Errorf("page %d begins with %s", pages, page.Data.ID)
		}
		got = append(got, page.Data.Children...)
		next := page.Meta.NextCursor
		if (next == nil) != (answer.header.Get("Link") == "") {
			t.Errorf("next %v, Link %q", next, answer.header.Get("Link"))
		}
		if next == nil {
			break
		}
		path = "/sessions/s/forks?limit=2&cursor=" + url.QueryEscape(*next)
	}
	// A page repeats the fork that it follows.
	got = slices.CompactFunc(got, func(a, b treeView) bool { return a.ID == b.ID })
	if diff := cmp.Diff(whole.Data.Children, got); diff != "" {
		t.Errorf("(-whole +pages)\n%s", diff)
	}
	s.mustRefuse(t, http.StatusBadRequest, "", get(alice, "/sessions/s/forks?limit=0"))
	s.mustRefuse(t, http.StatusBadRequest, "", get(alice, "/sessions/s/forks?cursor=x"))
}
