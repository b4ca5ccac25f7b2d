package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListRuns(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	list := func(query string) (ids []string, pages int) {
		t.Helper()
		pages = follow(t, s, get(alice, "/sessions/s/runs"+query), func(r response) {
			for _, one := range decode[page[runView]](t, r).Data {
				if one.SessionID != "s" {
					t.Errorf("a run of session %q", one.SessionID)
				}
				ids = append(ids, one.ID+" "+one.Status)
			}
		})
		return ids, pages
	}
	if got, _ := list(""); len(got) != 0 {
		t.Errorf("a new session has the runs %v", got)
	}
	var want []string
	for n := range 5 {
		got := s.must(t, http.StatusAccepted, post(alice, "/sessions/s/runs", `{"input":"question","mode":"external"}`))
		id := decode[struct {
			RunID string `json:"run_id"`
		}](t, got).RunID
		if got.header.Get("Location") != "/api/v1/sessions/s/runs/"+id {
			t.Fatalf("run_id is %q, and the location %q", id, got.header.Get("Location"))
		}
		status := "in_progress"
		if n < 4 {
			status = []string{"completed", "failed"}[n%2]
			s.must(t, http.StatusOK, patch(alice, "/sessions/s/runs/"+id, fmt.Sprintf(`{"status":%q}`, status)))
		}
		want = append([]string{id + " " + status}, want...)
	}
	for query, least := range map[string]int{"": 1, "?limit=1": 5, "?limit=2": 3} {
		got, pages := list(query)
		if diff := cmp.Diff(want, got); diff != "" || pages < least {
			t.Errorf("%q in %d pages (-want +got):\n%s", query, pages, diff)
		}
	}
	t.Run("goes on after a rewind, and lists rewound runs", func(t *testing.T) {
		first := s.must(t, http.StatusOK, get(alice, "/sessions/s/runs?limit=2"))
		id, _, _ := strings.Cut(want[3], " ")
		s.must(t, http.StatusOK, post(alice, "/sessions/s/rewind", `{"before":"`+id+`","cancel_run":true}`))
		var got []string
		link := first.header.Get("Link")
		follow(t, s, get(alice, link[1:strings.Index(link, ">")]), func(r response) {
			for _, one := range decode[page[runView]](t, r).Data {
				got = append(got, one.ID+" "+one.Status)
			}
		})
		if diff := cmp.Diff(want[2:], got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("is no list for others", func(t *testing.T) {
		s.mustRefuse(t, http.StatusForbidden, "", get(bob, "/sessions/s/runs"))
		s.mustRefuse(t, http.StatusNotFound, "", get(alice, "/sessions/no/runs"))
		s.mustRefuse(t, http.StatusBadRequest, "cursor", get(alice, "/sessions/s/runs?cursor=x"))
		s.mustRefuse(t, http.StatusBadRequest, "limit", get(alice, "/sessions/s/runs?limit=0"))
	})
}

func TestStartInput_text(t *testing.T) {
	s, started := newSystem(t).listenToStarts()
	s.mustCreate(t, alice, `{"id":"s"}`)
	s.must(t, http.StatusAccepted, post(alice, "/sessions/s/runs", `{"input":"How <much>?","mode":"external"}`))
	e := started.starts[0].Input[0]
	if got := string(e.Fields["content"]); e.Author != "user" || got != `{"parts":[{"text":"How <much>?"}],"role":"user"}` {
		t.Errorf("%s says %s", e.Author, got)
	}
	for body, status := range map[string]int{`{"input":""}`: 422, `{"input":7}`: 400, `{"input":null}`: 400, `{}`: 400} {
		s.mustRefuse(t, status, "/input", post(alice, "/sessions/s/runs", body))
	}
}
