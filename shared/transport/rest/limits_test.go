package rest_test

import (
	"net/http"
	"testing"

	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/memory"
	"github.com/rethread/rethread/shared/transport/rest"
)

// withLimits has the handlers use a store with quotas.
func withLimits(l quota.Limits) func(*rest.Config) {
	return func(c *rest.Config) {
		useStore(c, stores.New(memory.New(store.Schema()), stores.WithQuotas(l)))
	}
}

type retained struct {
	Retention   *int64 `json:"retention"`
	ExpiresTime *int64 `json:"expires_time"`
	UpdatedTime int64  `json:"updated_time"`
}

func TestRetentionOfSessions(t *testing.T) {
	s := newSystem(t)
	t.Run("is returned if one is set", func(t *testing.T) {
		for _, c := range []struct {
			r      request
			status int
			want   int64
		}{
			{post(alice, "/sessions", `{"id":"s","retention":60}`), http.StatusCreated, 60},
			{get(alice, "/sessions/s"), http.StatusOK, 60},
			{patch(alice, "/sessions/s", `{"retention":315360000}`), http.StatusOK, 315360000},
			{patch(alice, "/sessions/s", `{"name":"x"}`), http.StatusOK, 315360000},
			{patch(alice, "/sessions/s", `{"retention":null}`), http.StatusOK, 0},
			{get(alice, "/sessions/s"), http.StatusOK, 0},
			{post(alice, "/sessions", `{"retention":null}`), http.StatusCreated, 0},
		} {
			got := decode[one[retained]](t, s.must(t, c.status, c.r)).Data
			switch {
			case c.want == 0 && (got.Retention != nil || got.ExpiresTime != nil):
				t.Errorf("%s %s %s: %+v", c.r.method, c.r.path, c.r.body, got)
			case c.want == 0:
			case got.Retention == nil || *got.Retention != c.want || got.ExpiresTime == nil ||
				*got.ExpiresTime != got.UpdatedTime+1000*c.want:
				t.Errorf("%s %s %s: %+v", c.r.method, c.r.path, c.r.body, got)
			}
		}
	})
	t.Run("is refused if it is invalid or of a wrong type", func(t *testing.T) {
		for body, status := range map[string]int{
			`{"retention":59}`: 422, `{"retention":0}`: 422, `{"retention":-60}`: 422, `{"retention":315360001}`: 422,
			`{"retention":"30d"}`: 400, `{"retention":60.5}`: 400, `{"retention":true}`: 400,
		} {
			s.mustRefuse(t, status, "/retention", post(alice, "/sessions", body))
			s.mustRefuse(t, status, "/retention", patch(alice, "/sessions/s", body))
		}
	})
}

type usage struct {
	Sessions, Runs, Bytes struct {
		Used  int64
		Limit *int64
	}
}

func TestQuotas(t *testing.T) {
	s := newSystem(t, withLimits(quota.Limits{Sessions: 2, Runs: 1}))
	mustUse := func(t *testing.T, sessions, runs int64) {
		t.Helper()
		got := decode[one[usage]](t, s.must(t, http.StatusOK, get(alice, "/me/usage"))).Data
		if got.Sessions.Used != sessions || got.Runs.Used != runs || *got.Sessions.Limit != 2 || *got.Runs.Limit != 1 ||
			got.Bytes.Limit != nil {
			t.Errorf("used is %+v", got)
		}
	}
	mustUse(t, 0, 0)
	s.mustCreate(t, alice, `{"id":"a"}`)
	s.mustCreate(t, alice, `{"id":"b"}`)
	const input = `{"mode":"external","input":[{"content":{"parts":[{"text":"hi"}]}}]}`
	s.must(t, http.StatusAccepted, post(alice, "/sessions/a/runs", input))
	mustUse(t, 2, 1)

	for _, c := range []struct {
		r     request
		quota string
		limit float64
	}{
		{post(alice, "/sessions", `{}`), "sessions", 2},
		{post(alice, "/sessions/a/fork", `{}`), "sessions", 2},
		{post(alice, "/sessions/b/runs", input), "runs", 1},
	} {
		got := s.must(t, http.StatusTooManyRequests, c.r)
		problem := decode[map[string]any](t, got)
		if problem["quota"] != c.quota || problem["limit"] != c.limit || problem["used"] != c.limit ||
			problem["detail"] == "" || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: %v, Retry-After %s", c.r.path, problem, got.header.Get("Retry-After"))
		}
		if running, ok := problem["running"].([]any); (c.quota == "runs") != (ok && len(running) == 1) {
			t.Errorf("%s: at work are %v", c.r.path, problem["running"])
		}
	}
	s.must(t, http.StatusNoContent, del(alice, "/sessions/b"))
	s.mustCreate(t, alice, `{"id":"c"}`)
	mustUse(t, 2, 1)
	s.must(t, http.StatusUnauthorized, get("", "/me/usage"))
}
