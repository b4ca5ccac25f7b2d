package rest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/idempotency"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

func TestIdempotencyKey(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	for _, c := range []struct{ name, path, body, other string }{
		{"sessions", "/sessions", `{"name":"n"}`, `{"name":"m"}`},
		{"events", "/sessions/s/events", batch(said("i", "x")), batch(said("i", "y"))},
		{"tasks", "/sessions/s/tasks", taskJSON("t", "x"), taskJSON("t", "y")},
		{"feedback", "/feedback", `{"taskId":"t","feedbackType":"up"}`, `{"taskId":"t","feedbackType":"down"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := post(alice, c.path, c.body).with("Idempotency-Key", "k 1")
			first, second := s.do(t, r), s.do(t, r)
			if first.status/100 != 2 || second.status != first.status {
				t.Fatalf("statuses %d, %d: %s", first.status, second.status, second.body)
			}
			if diff := cmp.Diff(string(first.body), string(second.body)); diff != "" {
				t.Errorf("answers differ:\n%s", diff)
			}
			for _, name := range []string{"Location", "Etag", "Content-Type"} {
				if first.header.Get(name) != second.header.Get(name) {
					t.Errorf("%s: %q, then %q", name, first.header.Get(name), second.header.Get(name))
				}
			}
			if first.header.Get("Idempotency-Replayed") != "" || second.header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("Idempotency-Replayed: %v, then %v", first.header, second.header)
			}
			s.mustRefuse(t, http.StatusUnprocessableEntity, "Idempotency-Key", post(alice, c.path, c.other).with("Idempotency-Key", "k 1"))
		})
	}
	if head := s.headSeq(t, "s"); head != 2 { // the event and the task's position
		t.Errorf("head %d", head)
	}
	t.Run("separates the keys of users", func(t *testing.T) {
		got := s.must(t, http.StatusCreated, post(bob, "/sessions", `{"name":"other"}`).with("Idempotency-Key", "k 1"))
		if got.header.Get("Idempotency-Replayed") != "" {
			t.Error("replayed another user's answer")
		}
	})
	for name, key := range map[string]string{"empty": "", "too long": strings.Repeat("k", 256), "not ASCII": "kéy", "control": "k\tk"} {
		t.Run("refuses a key that is "+name, func(t *testing.T) {
			s.mustRefuse(t, http.StatusBadRequest, "Idempotency-Key", post(alice, "/sessions", `{}`).with("Idempotency-Key", key))
		})
	}
	t.Run("allows another try after an error", func(t *testing.T) {
		r := post(alice, "/sessions/late/events", batch(said("i", "x"))).with("Idempotency-Key", "again")
		s.mustRefuse(t, http.StatusNotFound, "", r)
		s.mustCreate(t, alice, `{"id":"late"}`)
		if got := s.must(t, http.StatusCreated, r); got.header.Get("Idempotency-Replayed") != "" {
			t.Error("replayed a failure")
		}
	})
}

// lossyStore is a session store that does what it is called for but returns an
// error or panics.
type lossyStore struct {
	session.Store
	loss  func() error
	armed atomic.Bool
}

func (l *lossyStore) Append(ctx context.Context, a session.Append) ([]session.Event, int, error) {
	stored, n, err := l.Store.Append(ctx, a)
	if l.armed.CompareAndSwap(true, false) {
		return nil, 0, l.loss()
	}
	return stored, n, err
}

func (l *lossyStore) Create(ctx context.Context, n session.New) (session.Session, error) {
	made, err := l.Store.Create(ctx, n)
	if l.armed.CompareAndSwap(true, false) {
		return session.Session{}, l.loss()
	}
	return made, err
}

func TestRepeatAfterALostAnswer(t *testing.T) {
	for name, loss := range map[string]func() error{
		"error": func() error { return errors.New("secret detail of the connection") },
		"panic": func() error { panic("secret detail of the stack") },
	} {
		t.Run(name, func(t *testing.T) {
			l := &lossyStore{loss: loss}
			s := newSystem(t, func(c *rest.Config) {
				l.Store = c.Sessions
				c.Sessions = l
			})
			create := post(alice, "/sessions", `{"name":"once"}`).with("Idempotency-Key", "c")
			l.armed.Store(true)
			lost := s.mustRefuse(t, http.StatusInternalServerError, "", create)
			if lost["detail"] != "Internal error." || !strings.Contains(s.log.String(), "secret detail") {
				t.Errorf("problem %v, log %s", lost, s.log)
			}
			made := decode[one[sessionView]](t, s.must(t, http.StatusCreated, create)).Data
			if list := decode[page[sessionView]](t, s.must(t, http.StatusOK, get(alice, "/sessions"))); len(list.Data) != 1 {
				t.Errorf("sessions: %+v", list.Data)
			}

			events := post(alice, "/sessions/"+made.ID+"/events", batch(said("i", "x"), said("i", "y"))).with("Idempotency-Key", "e")
			l.armed.Store(true)
			s.mustRefuse(t, http.StatusInternalServerError, "", events)
			stored := decode[one[[]eventView]](t, s.must(t, http.StatusOK, events)).Data
			if len(stored) != 2 || stored[1].Seq != 2 || s.headSeq(t, made.ID) != 2 {
				t.Errorf("events %+v", stored)
			}
		})
	}
}

// slowKeys is an idempotency store that calls a test while a request is in
// progress.
type slowKeys struct {
	idempotency.Store
	meanwhile func()
	fail      error
}

func (s *slowKeys) Finish(ctx context.Context, c idempotency.Claim, a idempotency.Answer) error {
	if run := s.meanwhile; run != nil {
		s.meanwhile = nil
		run()
	}
	if s.fail != nil {
		return s.fail
	}
	return s.Store.Finish(ctx, c, a)
}

func TestKeyInUse(t *testing.T) {
	between := &slowKeys{}
	s := newSystem(t, func(c *rest.Config) {
		between.Store = c.Idempotency
		c.Idempotency = between
	})
	r := post(alice, "/sessions", `{}`).with("Idempotency-Key", "k")
	between.meanwhile = func() {
		got := s.must(t, http.StatusConflict, r)
		if got.header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", got.header)
		}
	}
	s.must(t, http.StatusCreated, r)
	if got := s.must(t, http.StatusCreated, r); got.header.Get("Idempotency-Replayed") != "true" {
		t.Error("not replayed")
	}
}

func TestAnswerThatCannotBeStored(t *testing.T) {
	failing := &slowKeys{fail: errors.New("full")}
	s := newSystem(t, func(c *rest.Config) {
		failing.Store = c.Idempotency
		c.Idempotency = failing
	})
	r := post(alice, "/sessions", `{}`).with("Idempotency-Key", "k")
	first := decode[one[sessionView]](t, s.must(t, http.StatusCreated, r)).Data
	second := decode[one[sessionView]](t, s.must(t, http.StatusCreated, r)).Data
	if first.ID != second.ID || !strings.Contains(s.log.String(), "error=full") {
		t.Errorf("got %s, then %s; log %s", first.ID, second.ID, s.log)
	}
}

// deadlineKeys is an idempotency store that records the deadline for storing an
// answer.
type deadlineKeys struct {
	idempotency.Store
	until time.Time
}

func (u *deadlineKeys) Finish(ctx context.Context, c idempotency.Claim, a idempotency.Answer) error {
	u.until, _ = ctx.Deadline()
	return u.Store.Finish(ctx, c, a)
}

// Storing an answer may take until shortly before the function's deadline, and
// the request is still answered.
func TestStoringAnAnswerUsesTheRemainingTime(t *testing.T) {
	keeping := &deadlineKeys{}
	s := newSystem(t, func(c *rest.Config) {
		keeping.Store = c.Idempotency
		c.Idempotency = keeping
	})
	end := time.Now().Add(29 * time.Second)
	ctx, cancel := context.WithDeadline(access.WithCaller(t.Context(), access.Caller{UserID: alice, ChangesApp: true}), end)
	defer cancel()
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/v1/sessions", strings.NewReader("{}"))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "k")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	if left := end.Sub(keeping.until); w.Code != http.StatusCreated || left < 500*time.Millisecond || left > 2*time.Second {
		t.Errorf("answered %d, with %s left of the function's time", w.Code, left)
	}
}

// readingKeys is an idempotency store that calls a test when an answer was
// found.
type readingKeys struct {
	idempotency.Store
	found func()
}

func (m *readingKeys) Begin(ctx context.Context, c idempotency.Claim) (*idempotency.Answer, error) {
	answer, err := m.Store.Begin(ctx, c)
	if answer != nil && m.found != nil {
		m.found()
	}
	return answer, err
}

// A stored answer is not returned to a caller whose access ended during the
// lookup.
func TestRepeatAfterAccessEnded(t *testing.T) {
	between := &readingKeys{}
	s := newSystem(t, func(c *rest.Config) {
		between.Store = c.Idempotency
		c.Idempotency = between
	})
	s.mustCreate(t, alice, `{"id":"s"}`)
	made, err := s.config.Shares.Share(t.Context(), access.NewShare{
		ID: "share", OwnerID: alice, SessionID: "s", UserID: bob, Right: access.Write,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := post(bob, "/sessions/s/events", batch(said("i", "x"))).with("Idempotency-Key", "k")
	first := s.must(t, http.StatusCreated, r)
	if again := s.must(t, http.StatusCreated, r); string(again.body) != string(first.body) {
		t.Errorf("%s, then %s", first.body, again.body)
	}
	between.found = func() {
		between.found = nil
		if err := s.config.Shares.Revoke(t.Context(), alice, "s", made.ID); err != nil {
			t.Error(err)
		}
	}
	s.mustRefuse(t, http.StatusForbidden, "", r)
	if between.found != nil {
		t.Error("no answer was found")
	}
	between.found = func() { t.Error("an answer was looked up for one who has no access") }
	s.mustRefuse(t, http.StatusForbidden, "", r)

	owners := post(alice, "/sessions/s/events", batch(said("i", "x"))).with("Idempotency-Key", "k")
	s.must(t, http.StatusCreated, owners)
	between.found = func() { // another session has the id when the answer is found
		between.found = nil
		s.must(t, http.StatusNoContent, del(alice, "/sessions/s"))
		s.mustCreate(t, alice, `{"id":"s"}`)
	}
	s.mustRefuse(t, http.StatusNotFound, "", owners)
	s.mustRefuse(t, http.StatusNotFound, "", owners)
}
