package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/memory"
	"github.com/rethread/rethread/shared/transport/rest"
)

type sentView struct {
	Number, Size int
	Method, Path string
	Body         string
	Cut          bool
	SentTime     int64 `json:"sent_time"`
	ExpiresTime  int64 `json:"expires_time"`
}

// keepingSystem is a system that keeps what agents are sent, with a run of alice's.
func keepingSystem(t *testing.T) (s *system, all *stores.Store, to run.SentTo) {
	t.Helper()
	all = stores.New(memory.New(store.Schema()), stores.WithCodec(storetest.Codec()), stores.WithQuotas(quota.Limits{RequestDays: 1}))
	s = newSystem(t, func(c *rest.Config) { useStore(c, all) })
	return s, all, s.mustBeAtWork(t, all, alice)
}

// mustBeAtWork creates the session s of a user, with a run that a worker has, and returns
// what the worker's requests are kept of.
func (s *system) mustBeAtWork(t *testing.T, all *stores.Store, user string) (to run.SentTo) {
	t.Helper()
	session := "s-" + user
	s.mustCreate(t, user, `{"id":"`+session+`"}`)
	started := decode[struct {
		RunID string `json:"run_id"`
	}](t, s.must(t, http.StatusAccepted, post(user, "/sessions/"+session+"/runs", `{"input":"question"}`)))
	to.Ref = run.Ref{UserID: user, SessionID: session, RunID: started.RunID}
	if _, err := all.Runs.Claim(t.Context(), to.Ref, run.Claimant{Worker: "w", Continuations: func(string) int { return 0 }}); err != nil {
		t.Fatal(err)
	}
	h, err := all.Runs.AsOfInput(t.Context(), to.Ref, run.HistoryLimit{})
	if err != nil {
		t.Fatal(err)
	}
	to.LogID = h.LogID
	return to
}

func mustKeep(t *testing.T, all *stores.Store, to run.SentTo, r run.SentRequest) {
	t.Helper()
	r.SentTime, r.Method, r.Path = 5, http.MethodPost, "/run"
	if err := all.Runs.KeepRequest(t.Context(), to, r); err != nil {
		t.Fatal(err)
	}
}

func TestListSentRequests(t *testing.T) {
	s, all, to := keepingSystem(t)
	of := "/sessions/" + to.SessionID
	path := of + "/runs/" + to.RunID + "/requests"
	if got := decode[page[sentView]](t, s.must(t, http.StatusOK, get(alice, path))).Data; got == nil || len(got) > 0 {
		t.Errorf("before any was sent: %v", got)
	}
	for n := range 3 {
		mustKeep(t, all, to, run.SentRequest{Number: n + 1, Body: fmt.Sprintf(`{"n":%d}`, n), Size: 300_000, Cut: n == 2})
	}
	for query, want := range map[string]int{"": 1, "?limit=1": 3, "?limit=2": 2} {
		var got []sentView
		pages := follow(t, s, get(alice, path+query), func(r response) {
			got = append(got, decode[page[sentView]](t, r).Data...)
		})
		if len(got) != 3 || pages != want {
			t.Fatalf("%q: %d requests on %d pages, want 3 on %d", query, len(got), pages, want)
		}
		last := got[2]
		if want := (sentView{3, 300_000, "POST", "/run", `{"n":2}`, true, 5, last.ExpiresTime}); last != want || last.ExpiresTime == 0 || got[0].Cut {
			t.Errorf("%q: got %+v", query, got)
		}
	}
	t.Run("refuses what cannot be", func(t *testing.T) {
		s.mustRefuse(t, http.StatusNotFound, "", get(alice, of+"/runs/none/requests"))
		s.mustRefuse(t, http.StatusBadRequest, "cursor", get(alice, path+"?cursor=x"))
		s.mustRefuse(t, http.StatusBadRequest, "limit", get(alice, path+"?limit=0"))
	})
	t.Run("is for the owner and admins", func(t *testing.T) {
		s.mustRefuse(t, http.StatusForbidden, "", get(bob, path))
		for _, right := range []string{"read", "write"} {
			s.must(t, http.StatusCreated, post(alice, of+"/shares", `{"user_id":"bob","access":"`+right+`"}`))
			s.must(t, http.StatusOK, get(bob, of+"/runs/"+to.RunID))
			refused := s.do(t, get(bob, path))
			if code := decode[struct{ Code string }](t, refused).Code; refused.status != http.StatusForbidden || code != "right_required" {
				t.Errorf("a guest who may %s: %d %s", right, refused.status, refused.body)
			}
		}
		for admin, want := range map[bool]int{true: http.StatusOK, false: http.StatusForbidden} {
			w := httptest.NewRecorder()
			ctx := access.WithCaller(context.Background(), access.Caller{UserID: "root", Admin: admin})
			s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1"+path, http.NoBody))
			if w.Code != want {
				t.Errorf("an admin (%t): %d %s", admin, w.Code, w.Body)
			}
		}
	})
	t.Run("is not under the bare path", func(t *testing.T) {
		if got := s.do(t, get(alice, "/api"+path)).status; got != http.StatusNotFound {
			t.Errorf("%d", got)
		}
	})
}
