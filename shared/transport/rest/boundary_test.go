package rest_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/rethread/rethread/shared/domain/session"
)

// TestBoundaries rewinds and forks by a position.
func TestBoundaries(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	s.mustAppend(t, "s", said("i1", "1"), said("i1", "2"), said("i2", "3"), said("i3", "4"))
	texts := func(id string) string {
		t.Helper()
		return decode[one[threadView]](t, s.must(t, http.StatusOK, get(alice, "/sessions/"+id+"/thread"))).Data.texts()
	}
	for at, want := range map[int]string{0: "", 2: "1|2", 3: "1|2|3", 4: "1|2|3|4"} {
		forked := decode[one[session.Session]](t, s.must(t, http.StatusCreated,
			post(alice, "/sessions/s/fork", fmt.Sprintf(`{"at_seq":%d}`, at)))).Data
		if got := texts(forked.ID); got != want {
			t.Errorf("the fork at %d shows %q, want %q", at, got, want)
		}
	}
	forked := decode[one[session.Session]](t, s.must(t, http.StatusCreated, post(alice, "/sessions/s/fork", `{"before":"i2"}`))).Data
	if got := texts(forked.ID); got != "1|2" {
		t.Errorf("the fork before i2 shows %q", got)
	}
	for _, c := range []struct {
		body, pointer string
		rewind, fork  int
	}{
		{`{"at_seq":1}`, "/at_seq", 404, 404}, // within i1
		{`{"at_seq":5}`, "/at_seq", 404, 404},
		{`{"at_seq":-1}`, "/at_seq", 422, 422},
		{`{"at_seq":"2"}`, "/at_seq", 400, 400},
		{`{"at_seq":2,"before":"i2"}`, "/at_seq", 422, 422},
		{`{"before":"i2","rewind_before_invocation_id":"i2"}`, "/before", 422, 422},
		{`{"before":""}`, "/before", 422, 422},
		{`{}`, "/rewind_before_invocation_id", 400, 0},
		{`{"at_seq":4}`, "/at_seq", 404, 0}, // the newest
	} {
		s.mustRefuse(t, c.rewind, c.pointer, post(alice, "/sessions/s/rewind", c.body))
		if c.fork > 0 {
			s.mustRefuse(t, c.fork, c.pointer, post(alice, "/sessions/s/fork", c.body))
		}
	}
	s.must(t, http.StatusOK, post(alice, "/sessions/s/rewind", `{"at_seq":3}`))
	if got := texts("s"); got != "1|2|3" {
		t.Errorf("after a rewind to 3 the session shows %q", got)
	}
	s.must(t, http.StatusOK, post(alice, "/sessions/s/rewind", `{"at_seq":4}`)) // before the marker, which undoes the rewind
	if got := texts("s"); got != "1|2|3|4" {
		t.Errorf("after a rewind to 4 the session shows %q", got)
	}
}
