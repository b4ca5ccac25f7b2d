package rest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestErrors_all lists every broken rule of a request.
func TestErrors_all(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	for _, c := range []struct {
		name   string
		status int
		code   string
		req    request
		want   []string
	}{
		{
			"of a session", 422, "invalid_field",
			post(alice, "/sessions", `{"agnet":"x","metdata":{},"id":"a/b","name":"`+strings.Repeat("n", 257)+`","state":{"":1,"user:":2},"retention":1}`),
			[]string{"/agnet", "/metdata", "/retention", "/id", "/name", "/state/", "/state/user:"},
		},
		{"of an unknown member", 422, "invalid_field", post(alice, "/sessions", `{"user_id":"bob"}`), []string{"/user_id"}},
		{
			"of members with wrong types", 400, "malformed_field",
			post(alice, "/sessions", `{"id":1,"name":true,"agent":"a/b/c"}`),
			[]string{"/id", "/name", "/agent"},
		},
		{
			"of events", 422, "invalid_field",
			post(alice, "/sessions/s/events", `{"expected_seq":-1,"events":[{"author":"a","content":1},{"invocation_id":"?","author":""}]}`),
			[]string{"/expected_seq", "/events/0/invocation_id", "/events/0/content", "/events/1/author"},
		},
		{
			"of a run", 422, "invalid_field",
			post(alice, "/sessions/s/runs", `{"input":"","mode":"x","on_active":"y","on_failed":"z","agent":"a/b/c"}`),
			[]string{"/input", "/mode", "/on_active", "/on_failed", "/agent"},
		},
		{
			"of a rewind", 422, "invalid_field",
			post(alice, "/sessions/s/rewind", `{"before":"a/b","at_seq":-1,"scopes":[],"on_conflict":"x","expected_seq":-2}`),
			[]string{"/before", "/at_seq", "/scopes", "/on_conflict", "/expected_seq"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := decode[struct {
				Code   string
				Errors []struct{ Pointer, Detail string }
			}](t, s.must(t, c.status, c.req))
			var pointers []string
			for _, e := range got.Errors {
				pointers = append(pointers, e.Pointer)
			}
			if diff := cmp.Diff(c.want, pointers); diff != "" || got.Code != c.code {
				t.Errorf("%s (-want +got):\n%s", got.Code, diff)
			}
		})
	}
}
