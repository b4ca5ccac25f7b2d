package rest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// forgetfulStore rewinds and forks, but its answers are lost.
type forgetfulStore struct {
	session.Rewinder
	armed bool
}

func (f *forgetfulStore) lost(err error) error {
	if err == nil && f.armed {
		f.armed = false
		return errors.New("the connection broke")
	}
	return err
}

func (f *forgetfulStore) Rewind(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	done, err := f.Rewinder.Rewind(ctx, r)
	return done, f.lost(err)
}

func (f *forgetfulStore) Fork(ctx context.Context, o session.ForkOf) (session.Session, error) {
	made, err := f.Rewinder.Fork(ctx, o)
	return made, f.lost(err)
}

func TestRewindAndForkOnceAfterALostAnswer(t *testing.T) {
	store := &forgetfulStore{}
	s := newSystem(t, func(c *rest.Config) {
		store.Rewinder = c.Rewinds
		c.Rewinds = store
	})
	s.mustCreate(t, alice, `{"id":"s"}`)
	s.mustAppend(t, "s", said("i1", "x"), said("i2", "y"))

	store.armed = true
	rewind := post(alice, "/sessions/s/rewind", `{"rewind_before_invocation_id":"i2"}`).with("Idempotency-Key", "r")
	s.mustRefuse(t, http.StatusInternalServerError, "", rewind)
	s.must(t, http.StatusOK, rewind)
	if head := s.headSeq(t, "s"); head != 3 {
		t.Errorf("the log has %d entries, want two events and a marker", head)
	}

	store.armed = true
	fork := post(alice, "/sessions/s/fork", `{}`).with("Idempotency-Key", "f")
	s.mustRefuse(t, http.StatusInternalServerError, "", fork)
	made := decode[one[sessionView]](t, s.must(t, http.StatusCreated, fork)).Data
	list := decode[page[sessionView]](t, s.must(t, http.StatusOK, get(alice, "/sessions"))).Data
	if len(list) != 2 || list[0].ID != made.ID && list[1].ID != made.ID {
		t.Errorf("made %s, listed %+v", made.ID, list)
	}
}

func TestRewindAndForkReturnTheStoredSession(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s","name":"talk"}`)
	s.mustAppend(t, "s", said("i1", "x"), said("i2", "y"))

	type rewoundView struct {
		Event   eventView   `json:"event"`
		Session sessionView `json:"session"`
	}
	rewound := decode[one[rewoundView]](t, s.must(t, http.StatusOK, post(alice, "/sessions/s/rewind", `{"rewind_before_invocation_id":"i2"}`)))
	all := decode[page[eventView]](t, s.must(t, http.StatusOK, get(alice, "/sessions/s/events?view=all"))).Data
	if diff := cmp.Diff(all[len(all)-1], rewound.Data.Event); diff != "" || rewound.Data.Session.HeadSeq != 3 {
		t.Errorf("%+v\n%s", rewound.Data.Session, diff)
	}
	shown := decode[page[eventView]](t, s.must(t, http.StatusOK, get(alice, "/sessions/s/events"))).Data
	if len(shown) != 1 || shown[0].InvocationID != "i1" {
		t.Errorf("shown %+v", shown)
	}

	fork := s.must(t, http.StatusCreated, post(alice, "/sessions/s/fork", ""))
	read := s.must(t, http.StatusOK, get(alice, fork.header.Get("Location")))
	if string(read.body) != string(fork.body) || read.header.Get("ETag") != fork.header.Get("ETag") {
		t.Errorf("answered %s, stored %s", fork.body, read.body)
	}
	tree := s.must(t, http.StatusOK, get(alice, "/sessions/s/forks"))
	if !strings.Contains(string(tree.body), decode[one[sessionView]](t, fork).Data.ID) {
		t.Errorf("tree %s", tree.body)
	}
}

func TestRewindAndForkOfAnotherUser(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	s.mustAppend(t, "s", said("i1", "x"))
	const before = `{"rewind_before_invocation_id":"i1"}`
	s.mustRefuse(t, http.StatusForbidden, "", post(bob, "/sessions/s/rewind", before))
	s.mustRefuse(t, http.StatusForbidden, "", post(bob, "/sessions/s/fork", before))
	s.mustRefuse(t, http.StatusForbidden, "", get(bob, "/sessions/s/forks"))
	s.mustRefuse(t, http.StatusNotFound, "", post(alice, "/sessions/other/rewind", before))
	s.mustRefuse(t, http.StatusNotFound, "", post(alice, "/sessions/other/fork", before))
	s.mustRefuse(t, http.StatusNotFound, "", get(alice, "/sessions/other/forks"))
	s.mustRefuse(t, http.StatusNotFound, "", post(alice, "/sessions/s/rewind", `{"rewind_before_invocation_id":"i9"}`))
	s.mustRefuse(t, http.StatusBadRequest, "/rewind_before_invocation_id",
		post(alice, "/sessions/s/fork", `{"rewind_before_invocation_id":"i9","strict":true}`))
	if head := s.headSeq(t, "s"); head != 1 {
		t.Errorf("refused, and yet the log has %d entries", head)
	}
}
