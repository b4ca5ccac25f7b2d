package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

type (
	runView struct {
		ID        string `json:"id"`
		SessionID string `json:"session_id"`
		Agent     string `json:"agent"`
		Mode      string `json:"mode"`
		Status    string `json:"status"`
		Error     *struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		EndedTime *int64 `json:"ended_time"`
	}
	itemView struct {
		ID           string `json:"id"`
		Seq          int64  `json:"seq"`
		InvocationID string `json:"invocation_id"`
		Author       string `json:"author"`
		Status       string `json:"status"`
		Content      struct {
			Role  string           `json:"role"`
			Parts []map[string]any `json:"parts"`
		} `json:"content"`
	}
	threadView struct {
		Session sessionView `json:"session"`
		Status  string      `json:"status"`
		Items   []itemView  `json:"items"`
		Cursor  string      `json:"cursor"`
		Run     *runView    `json:"run"`
	}
)

// mustThread reads the thread of alice's session s.
func (s *system) mustThread(t *testing.T) threadView {
	t.Helper()
	return decode[one[threadView]](t, s.must(t, http.StatusOK, get(alice, "/sessions/s/thread"))).Data
}

// texts returns the texts of a thread's items.
func (v threadView) texts() string {
	var out []string
	for _, item := range v.Items {
		for _, part := range item.Content.Parts {
			out = append(out, fmt.Sprint(part["text"]))
		}
	}
	return strings.Join(out, "|")
}

// mustStart starts a run of alice's session s and returns its path.
func (s *system) mustStart(t *testing.T, more string) string {
	t.Helper()
	got := s.must(t, http.StatusAccepted, post(alice, "/sessions/s/runs", startOf(more, hello)))
	return strings.TrimPrefix(got.header.Get("Location"), "/api/v1")
}

// external returns a system with a session s, and the path of its external run.
func external(t *testing.T) (*system, string) {
	t.Helper()
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s","agent":"theirs"}`)
	return s, s.mustStart(t, `,"mode":"external"`)
}

func TestRunRequestsAnswerTheThread(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s","agent":"data_analyst"}`)
	started := s.must(t, http.StatusAccepted, post(alice, "/api/sessions/s/runs", startOf("", hello)))
	at := started.header.Get("Location")
	if !strings.HasPrefix(at, "/api/sessions/s/runs/") {
		t.Fatalf("Location %q", at)
	}
	thread := decode[one[threadView]](t, started).Data
	read := string(s.must(t, http.StatusOK, get(alice, "/sessions/s/thread")).body)
	if want := strings.TrimSuffix(read, "}") + `,"run_id":"` + thread.Run.ID + `"}`; want != string(started.body) {
		t.Errorf("the start's thread %s, want %s", started.body, want)
	}
	if thread.Status != "in_progress" || thread.Session.Status != "in_progress" || thread.texts() != "Hello" ||
		thread.Run.Mode != "agent" || thread.Run.Agent != "data_analyst" || thread.Cursor != "0.1.0" {
		t.Errorf("got %s", started.body)
	}
	if thread.Items[0].InvocationID != thread.Run.ID || !strings.HasSuffix(at, thread.Run.ID) {
		t.Errorf("the run's id is not the invocation's: %s", started.body)
	}

	problem := s.mustRefuse(t, http.StatusConflict, "", post(alice, "/sessions/s/runs", startOf("", hello)))
	if problem["run_id"] != thread.Run.ID {
		t.Errorf("problem %v", problem)
	}
	for range 2 {
		cancelled := s.must(t, http.StatusOK, post(alice, at+"/cancel", ""))
		if got := decode[one[threadView]](t, cancelled).Data; got.Status != "idle" || got.texts() != "Hello" {
			t.Errorf("cancelled: %s", cancelled.body)
		}
	}
	if r := decode[one[runView]](t, s.must(t, http.StatusOK, get(alice, at))).Data; r.Status != "cancelled" || r.EndedTime == nil {
		t.Errorf("run %+v", r)
	}
	next := startOf("", strings.Replace(hello, "Hello", "Again", 1))
	again := decode[one[threadView]](t, s.must(t, http.StatusAccepted, post(alice, "/sessions/s/runs", next))).Data
	if again.texts() != "Again" {
		t.Errorf("what was cancelled is still shown: %+v", again)
	}
}

// TestKeptRuns cancels and fails runs that are kept: the next input discards nothing.
func TestKeptRuns(t *testing.T) {
	for name, c := range map[string]struct {
		start, end, body string
		status, run      string // of the session, and of the run
		want             string
	}{
		"cancelled with keep":             {"", "/cancel", `{"on_failed":"keep"}`, "idle", "cancelled", "Hello|par|Again"},
		"started with keep and cancelled": {`,"on_failed":"keep"`, "/cancel", "", "idle", "cancelled", "Hello|par|Again"},
		"started with keep and failed":    {`,"on_failed":"keep"`, "", `{"status":"failed","error":{"message":"no"}}`, "failed", "failed", "Hello|par|Again"},
		"ended as cancelled":              {`,"on_failed":"keep"`, "", `{"status":"cancelled"}`, "idle", "cancelled", "Hello|par|Again"},
		"cancelled with discard":          {`,"on_failed":"keep"`, "/cancel", `{"on_failed":"discard"}`, "idle", "cancelled", "Again"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSystem(t)
			s.mustCreate(t, alice, `{"id":"s"}`)
			at := s.must(t, http.StatusAccepted, post(alice, "/sessions/s/runs", startOf(c.start+`,"mode":"external"`, hello))).header.Get("Location")
			at = strings.TrimPrefix(at, "/api/v1")
			s.must(t, http.StatusOK, post(alice, at+"/deltas", `{"item_id":"i","author":"bot","deltas":[{"part":0,"text":"par"}]}`))
			if c.end == "" {
				s.must(t, http.StatusOK, patch(alice, at, c.body))
			} else {
				s.must(t, http.StatusOK, post(alice, at+c.end, c.body))
			}
			r := decode[map[string]map[string]any](t, s.must(t, http.StatusOK, get(alice, at)))["data"]
			if kept := r["on_failed"] == "keep"; r["status"] != c.run || kept != strings.Contains(c.want, "par") {
				t.Errorf("the run is %v", r)
			}
			thread := decode[one[threadView]](t, s.must(t, http.StatusOK, get(alice, "/sessions/s/thread"))).Data
			if thread.Status != c.status || thread.texts() != "Hello|par" || (thread.Run != nil) != (c.status == "failed") {
				t.Errorf("the thread is %+v", thread)
			}
			next := startOf(`,"mode":"external"`, strings.Replace(hello, "Hello", "Again", 1))
			thread = decode[one[threadView]](t, s.must(t, http.StatusAccepted, post(alice, "/sessions/s/runs", next))).Data
			if thread.texts() != c.want {
				t.Errorf("after another input the thread is %s, want %s", thread.texts(), c.want)
			}
		})
	}
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	at := s.must(t, http.StatusAccepted, post(alice, "/sessions/s/runs", startOf(`,"mode":"external"`, hello))).header.Get("Location")
	at = strings.TrimPrefix(at, "/api/v1")
	s.mustRefuse(t, http.StatusUnprocessableEntity, "/on_failed", post(alice, at+"/cancel", `{"on_failed":"retry"}`))
	s.mustRefuse(t, http.StatusUnprocessableEntity, "/on_failed", post(alice, "/sessions/s/runs", startOf(`,"on_failed":"retry"`, hello)))
	s.mustRefuse(t, http.StatusBadRequest, "", post(alice, at+"/cancel", `{`))
}

func TestThreadInPages(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	for i := range 5 {
		s.mustAppend(t, "s", said("i", fmt.Sprint(i)))
	}
	var all threadView
	pages := follow(t, s, get(alice, "/sessions/s/thread?limit=2"), func(r response) {
		page := decode[one[threadView]](t, r).Data
		page.Items = append(all.Items, page.Items...)
		all = page
	})
	if pages != 3 || all.texts() != "0|1|2|3|4" || all.Cursor != "0.5.0" || all.Status != "idle" || all.Run != nil {
		t.Errorf("%d pages, %+v", pages, all)
	}
	t.Run("links an answer to the thread's next page", func(t *testing.T) {
		events := make([]string, 100)
		for i := range events {
			events[i] = said("j", "more")
		}
		s.mustAppend(t, "s", events...)
		started := s.must(t, http.StatusAccepted, post(alice, "/sessions/s/runs", startOf("", hello)))
		link, ok := strings.CutSuffix(strings.TrimPrefix(started.header.Get("Link"), "<"), `>; rel="next"`)
		if !ok || !strings.HasPrefix(link, "/api/v1/sessions/s/thread?cursor=") {
			t.Fatalf("Link %q", started.header.Get("Link"))
		}
		rest := decode[one[threadView]](t, s.must(t, http.StatusOK, get(alice, link))).Data
		if len(rest.Items) != 6 || !strings.HasSuffix(rest.texts(), "Hello") {
			t.Errorf("the next page: %+v", rest)
		}
	})
	t.Run("pages newest first, and watches from the first page", func(t *testing.T) {
		s := newSystem(t)
		s.mustCreate(t, alice, `{"id":"s"}`)
		for i := range 5 {
			s.mustAppend(t, "s", said("i", fmt.Sprint(i)))
		}
		var texts, cursors []string
		pages := follow(t, s, get(alice, "/sessions/s/thread?order=desc&limit=2"), func(r response) {
			page := decode[one[threadView]](t, r).Data
			texts, cursors = append(texts, page.texts()), append(cursors, page.Cursor)
		})
		if pages != 3 || strings.Join(texts, "|") != "4|3|2|1|0" || cursors[0] != "0.5.0" {
			t.Errorf("%d pages, %q, cursors %q", pages, texts, cursors)
		}
	})
	t.Run("refuses a cursor of the other order", func(t *testing.T) {
		next := s.must(t, http.StatusOK, get(alice, "/sessions/s/thread?limit=2")).header.Get("Link")
		path, _, _ := strings.Cut(strings.TrimPrefix(next, "<"), ">")
		s.mustRefuse(t, http.StatusBadRequest, "cursor", get(alice, path+"&order=desc"))
	})
	for query, name := range map[string]string{
		"limit=0": "limit", "limit=1001": "limit", "cursor=AAAA": "cursor", "cursor=": "cursor",
		"order=newest": "order", "order=": "order",
	} {
		t.Run("refuses "+query, func(t *testing.T) {
			s.mustRefuse(t, http.StatusBadRequest, name, get(alice, "/sessions/s/thread?"+query))
		})
	}
}

func TestRunsBelongToTheirUser(t *testing.T) {
	s, at := external(t)
	for _, r := range []request{
		{method: http.MethodGet, path: "/sessions/s/thread"},
		{method: http.MethodGet, path: at},
		{method: http.MethodPost, path: at + "/cancel"},
		{method: http.MethodPatch, path: at, body: `{"keep_alive":true}`},
		{method: http.MethodPost, path: at + "/deltas", body: `{"item_id":"i","deltas":[{"part":0,"text":"x"}]}`},
		{method: http.MethodPost, path: at + "/events", body: `{"events":[{"author":"a"}]}`},
	} {
		t.Run(r.method+" "+r.path[strings.LastIndex(r.path, "/"):], func(t *testing.T) {
			s.mustRefuse(t, http.StatusUnauthorized, "", r)
			r.user = bob
			s.mustRefuse(t, http.StatusForbidden, "", r)
			r.user = alice
			other := r
			other.path = strings.Replace(r.path, "/sessions/s/", "/sessions/no/", 1)
			s.mustRefuse(t, http.StatusNotFound, "", other)
			if strings.Contains(r.path, "/runs/") {
				other.path = strings.Replace(r.path, at, "/sessions/s/runs/no", 1)
				s.mustRefuse(t, http.StatusNotFound, "", other)
				other.path = strings.Replace(r.path, at, "/sessions/s/runs/a%01b", 1)
				s.mustRefuse(t, http.StatusUnprocessableEntity, "run_id", other)
			}
		})
	}
	if thread := s.mustThread(t); len(thread.Items) != 1 || thread.Status != "in_progress" {
		t.Errorf("refused, and yet: %+v", thread)
	}
}
