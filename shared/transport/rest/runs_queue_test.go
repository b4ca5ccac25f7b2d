package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// queuedBody is the part of a thread that shows the queue.
type queuedBody struct {
	Data struct {
		Status string `json:"status"`
		Queued *[]struct {
			RunID      string           `json:"run_id"`
			Agent      string           `json:"agent"`
			Input      []map[string]any `json:"input"`
			QueuedTime int64            `json:"queued_time"`
		} `json:"queued"`
		QueueVersion *int64 `json:"queue_version"`
	} `json:"data"`
}

func TestQueuedRun(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	enqueue := post(alice, "/sessions/s/runs", startOf(`,"on_active":"enqueue","agent":"data_analyst"`,
		hello, `{"id":"mine","author":"bot","content":{"parts":[]},"x":[1],"actions":{"state_delta":{"a":1}}}`))

	first := s.must(t, http.StatusAccepted, enqueue)
	if len(s.dispatched) != 1 {
		t.Fatalf("handed over: %+v, want the first run", s.dispatched)
	}
	if body := decode[queuedBody](t, first); body.Data.Queued != nil || body.Data.QueueVersion != nil {
		t.Errorf("a session without queued inputs shows a queue: %s", first.body)
	}

	enqueue = enqueue.with("Idempotency-Key", "k")
	enqueue.body = strings.Replace(enqueue.body, `"id":"mine"`, `"id":"yours"`, 1)
	second := s.must(t, http.StatusAccepted, enqueue)
	again := s.must(t, http.StatusAccepted, enqueue)
	if string(second.body) != string(again.body) || len(s.dispatched) != 1 {
		t.Errorf("handed over %+v; %s, then %s", s.dispatched, second.body, again.body)
	}
	location := strings.TrimPrefix(second.header.Get("Location"), "/api/v1")
	body := decode[queuedBody](t, second)
	if body.Data.Queued == nil || len(*body.Data.Queued) != 1 || body.Data.QueueVersion == nil || *body.Data.QueueVersion != 1 {
		t.Fatalf("got %s", second.body)
	}
	one := (*body.Data.Queued)[0]
	if location != "/sessions/s/runs/"+one.RunID || one.Agent != "data_analyst" || one.QueuedTime == 0 || body.Data.Status != "in_progress" {
		t.Errorf("at %s: %s", location, second.body)
	}
	want := []map[string]any{
		{"author": "user", "content": map[string]any{"role": "user", "parts": []any{map[string]any{"text": "Hello"}}}},
		{
			"id": "yours", "author": "bot", "content": map[string]any{"parts": []any{}}, "x": []any{1.0},
			"actions": map[string]any{"state_delta": map[string]any{"a": 1.0}},
		},
	}
	if diff := cmp.Diff(want, one.Input); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
	if got := decode[map[string]map[string]any](t, s.must(t, http.StatusOK, get(alice, location))); got["data"]["status"] != "queued" {
		t.Errorf("the run is %v", got)
	}

	for range 2 {
		cancelled := s.must(t, http.StatusOK, post(alice, location+"/cancel", ""))
		if body := decode[queuedBody](t, cancelled); body.Data.Queued == nil || len(*body.Data.Queued) > 0 || *body.Data.QueueVersion != 2 {
			t.Errorf("after the cancellation: %s", cancelled.body)
		}
	}
	if got := decode[map[string]map[string]any](t, s.must(t, http.StatusOK, get(alice, location))); got["data"]["status"] != "cancelled" {
		t.Errorf("the run is %v", got)
	}
}

func TestQueuedRun_refused(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	enqueue := post(alice, "/sessions/s/runs", startOf(`,"on_active":"enqueue"`, hello))
	s.mustRefuse(t, http.StatusUnprocessableEntity, "/on_active",
		post(alice, "/sessions/s/runs", startOf(`,"on_active":"enqueue","mode":"external"`, hello)))
	for range 11 {
		s.must(t, http.StatusAccepted, enqueue)
	}
	problem := s.mustRefuse(t, http.StatusConflict, "", enqueue)
	if problem["queued"] != 10.0 || problem["max_queued"] != 10.0 || problem["run_id"] != s.dispatched[0].RunID {
		t.Errorf("a full queue: %v", problem)
	}
	s.must(t, http.StatusOK, post(alice, "/sessions/s/runs/"+s.dispatched[0].RunID+"/cancel", ""))
	queued := *decode[queuedBody](t, s.must(t, http.StatusOK, get(alice, "/sessions/s/thread"))).Data.Queued
	for what, r := range map[string]request{
		"a start":  post(alice, "/sessions/s/runs", startOf("", hello)),
		"a rewind": post(alice, "/sessions/s/rewind", `{"rewind_before_invocation_id":"`+s.dispatched[0].RunID+`"}`),
	} {
		if problem := s.mustRefuse(t, http.StatusConflict, "", r); problem["run_id"] != queued[0].RunID {
			t.Errorf("%s while inputs are about to start: %v", what, problem)
		}
	}
	if len(s.dispatched) != 1 {
		t.Errorf("handed over: %+v", s.dispatched)
	}
}
