package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
	"github.com/rethread/rethread/shared/transport/rest/runs"
)

// recordingRuns records which runs a request starts, and has an empty thread.
type recordingRuns struct {
	run.Store
	starts []run.Start
}

func (a *recordingRuns) Start(_ context.Context, s run.Start) (run.Run, error) {
	a.starts = append(a.starts, s)
	return run.Run{ID: s.RunID, Mode: s.Mode, Status: run.InProgress}, nil
}

func (a *recordingRuns) Thread(_ context.Context, userID, id string, _ run.ThreadQuery) (run.Thread, error) {
	return run.Thread{Session: session.Session{ID: id, UserID: userID}}, nil
}

func (s *system) listenToStarts() (*system, *recordingRuns) {
	store := &recordingRuns{Store: s.config.Runs}
	s.config.Runs = store
	s.runs = runs.New(s.config)
	return s, store
}

const hello = `{"content":{"role":"user","parts":[{"text":"Hello"}]}}`

// startOf returns the body of a start.
func startOf(more string, events ...string) string {
	return `{"input":[` + strings.Join(events, ",") + `]` + more + `}`
}

func TestStartRequest(t *testing.T) {
	s, store := newSystem(t).listenToStarts()
	s.mustCreate(t, alice, `{"id":"a b","agent":"data_analyst"}`)
	for name, c := range map[string]struct {
		body string
		want run.Start
	}{
		"only the required member": {
			startOf("", hello),
			run.Start{Agent: "data_analyst", Mode: run.Managed, OnActive: run.Reject},
		},
		"everything": {
			startOf(`,"agent":"default","mode":"agent","on_active":"cancel_and_merge","on_failed":"block"`, hello),
			run.Start{Agent: "default", Mode: run.Managed, OnActive: run.CancelAndMerge, OnFailed: run.Block},
		},
		"what becomes of a failure": {
			startOf(`,"on_failed":"keep"`, hello),
			run.Start{Agent: "data_analyst", Mode: run.Managed, OnActive: run.Reject, OnFailed: run.Keep},
		},
		"a position": {
			startOf(`,"expected_seq":7`, hello),
			run.Start{
				Agent: "data_analyst", Mode: run.Managed, OnActive: run.Reject, ExpectedSeq: new(int64(7)),
			},
		},
		"an external agent of any name": {
			startOf(`,"agent":"theirs","mode":"external"`, hello),
			run.Start{Agent: "theirs", Mode: run.External, OnActive: run.Reject},
		},
		"an external agent named by the session": {
			startOf(`,"mode":"external"`, hello),
			run.Start{Mode: run.External, OnActive: run.Reject},
		},
	} {
		t.Run(name, func(t *testing.T) {
			store.starts, s.dispatched = nil, nil
			got := s.must(t, http.StatusAccepted, post(alice, "/sessions/a%20b/runs", c.body))
			if len(store.starts) != 1 || store.starts[0].RunID == "" {
				t.Fatalf("asked %+v", store.starts)
			}
			asked := store.starts[0]
			c.want.Ref = run.Ref{UserID: alice, SessionID: "a b", RunID: asked.RunID}
			if want := "/api/v1/sessions/a%20b/runs/" + asked.RunID; got.header.Get("Location") != want {
				t.Errorf("Location %q, want %q", got.header.Get("Location"), want)
			}
			var handed []run.Ref
			if asked.Mode == run.Managed {
				handed = []run.Ref{c.want.Ref}
			}
			if diff := cmp.Diff(handed, s.dispatched); diff != "" {
				t.Errorf("handed to a worker (-want +got)\n%s", diff)
			}
			asked.Input = nil
			if diff := cmp.Diff(c.want, asked); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestStartInput(t *testing.T) {
	s, store := newSystem(t).listenToStarts()
	s.mustCreate(t, alice, `{"id":"s"}`)
	s.must(t, http.StatusAccepted, post(alice, "/sessions/s/runs", startOf("", hello,
		`{"id":"mine","author":"bot","content":{"parts":[]},"html":"<&>","actions":{"state_delta":{"a":1,"temp:b":2}}}`)))
	asked := store.starts[0]
	want := []session.Event{
		{
			InvocationID: asked.RunID, Author: "user",
			Fields: map[string]json.RawMessage{"content": json.RawMessage(`{"role":"user","parts":[{"text":"Hello"}]}`)},
		},
		{
			ID: "mine", InvocationID: asked.RunID, Author: "bot",
			StateDelta: session.Delta{"a": json.RawMessage("1")},
			Fields: map[string]json.RawMessage{
				"content": json.RawMessage(`{"parts":[]}`), "html": json.RawMessage(`"<&>"`),
				"actions": json.RawMessage(`{"state_delta":{"a":1}}`),
			},
		},
	}
	if diff := cmp.Diff(want, asked.Input); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestStartBadInput(t *testing.T) {
	s, store := newSystem(t).listenToStarts()
	s.mustCreate(t, alice, `{"id":"s"}`)
	event := func(members string) string { return startOf("", hello, `{`+members+`}`) }
	const content = `"content":{"parts":[]}`
	for name, c := range map[string]struct {
		body, pointer string
		status        int
	}{
		"no body":                   {``, "", 400},
		"not an object":             {`[]`, "", 400},
		"no input":                  {`{}`, "/input", 400},
		"input of a wrong type":     {`{"input":{}}`, "/input", 400},
		"input null":                {`{"input":null}`, "/input", 400},
		"empty input":               {startOf(""), "/input", 422},
		"over 20 events":            {startOf("", strings.Split(strings.Repeat(hello+"\x00", 20)+hello, "\x00")...), "/input", 422},
		"an event of a wrong type":  {startOf("", `"Hello"`), "/input/0", 400},
		"an event without content":  {event(``), "/input/1/content", 400},
		"content null":              {event(`"content":null`), "/input/1/content", 400},
		"content of a wrong type":   {event(`"content":"Hello"`), "/input/1/content", 400},
		"an invocation":             {event(content + `,"invocation_id":"i"`), "/input/1/invocation_id", 422},
		"an invocation null":        {event(content + `,"invocation_id":null`), "/input/1/invocation_id", 422},
		"an author of a wrong type": {event(content + `,"author":1`), "/input/1/author", 400},
		"an author null":            {event(content + `,"author":null`), "/input/1/author", 400},
		"an empty author":           {event(content + `,"author":""`), "/input/1/author", 422},
		"a partial event":           {event(content + `,"partial":true`), "/input/1/partial", 422},
		"partial of a wrong type":   {event(content + `,"partial":1`), "/input/1/partial", 400},
		"an id with a slash":        {event(content + `,"id":"a/b"`), "/input/1/id", 422},
		"an id twice":               {startOf("", `{"id":"e",`+content+`}`, `{"id":"e",`+content+`}`), "/input/1/id", 422},
		"state delta no object":     {event(content + `,"actions":{"state_delta":1}`), "/input/1/actions/state_delta", 400},
		"an agent of a wrong type":  {startOf(`,"agent":1`, hello), "/agent", 400},
		"an agent null":             {startOf(`,"agent":null`, hello), "/agent", 400},
		"an invalid agent id":       {startOf(`,"agent":"a/b/c"`, hello), "/agent", 422},
		"an unknown agent":          {startOf(`,"agent":"theirs"`, hello), "/agent", 422},
		"an unknown mode":           {startOf(`,"mode":"managed"`, hello), "/mode", 422},
		"a mode of a wrong type":    {startOf(`,"mode":true`, hello), "/mode", 400},
		"an empty mode":             {startOf(`,"mode":""`, hello), "/mode", 422},
		"an unknown on_active":      {startOf(`,"on_active":"queue"`, hello), "/on_active", 422},
		"on_active of a wrong type": {startOf(`,"on_active":null`, hello), "/on_active", 400},
		"an unknown on_failed":      {startOf(`,"on_failed":"retry"`, hello), "/on_failed", 422},
		"on_failed of a wrong type": {startOf(`,"on_failed":[]`, hello), "/on_failed", 400},
		"a position before the log": {startOf(`,"expected_seq":-1`, hello), "/expected_seq", 422},
		"no position":               {startOf(`,"expected_seq":"7"`, hello), "/expected_seq", 400},
		"a position in the queue":   {startOf(`,"expected_seq":7,"on_active":"enqueue"`, hello), "/expected_seq", 422},
	} {
		t.Run(name, func(t *testing.T) {
			s.mustRefuse(t, c.status, c.pointer, post(alice, "/sessions/s/runs", c.body))
		})
	}
	s.mustRefuse(t, http.StatusUnauthorized, "", post("", "/sessions/s/runs", startOf("", hello)))
	s.mustRefuse(t, http.StatusForbidden, "", post(bob, "/sessions/s/runs", startOf("", hello)))
	s.mustRefuse(t, http.StatusNotFound, "", post(alice, "/sessions/no/runs", startOf("", hello)))
	s.mustRefuse(t, http.StatusUnprocessableEntity, "session_id", post(alice, "/sessions/a%01b/runs", startOf("", hello)))
	if len(store.starts) != 0 || len(s.dispatched) != 0 {
		t.Errorf("refused, and yet asked for: %+v, handed over: %+v", store.starts, s.dispatched)
	}
}

func TestAgentOfARun(t *testing.T) {
	s, store := newSystem(t).listenToStarts()
	s.mustCreate(t, alice, `{"id":"named","agent":"data_analyst"}`)
	s.mustCreate(t, alice, `{"id":"nameless"}`)
	s.mustCreate(t, alice, `{"id":"spaced","agent":"team/analyst"}`)
	for _, c := range []struct {
		name, session string
		configured    agents
		want          string
		status        int
	}{
		{"the session's", "named", agents{"default", "data_analyst"}, "data_analyst", 202},
		{"a namespace's", "spaced", agents{"default", "team/analyst"}, "team/analyst", 202},
		{"none if the session's is not configured", "named", agents{"default"}, "", 422},
		{"the default one if the session names none", "nameless", agents{"", "default"}, "default", 202},
		{"the unnamed one if the session names none", "nameless", agents{"", "other"}, "", 202},
		{"none if neither is configured", "named", agents{"other"}, "", 422},
		{"none if none is configured", "nameless", nil, "", 422},
	} {
		t.Run(c.name, func(t *testing.T) {
			store.starts, s.agents = nil, c.configured
			start := post(alice, "/sessions/"+c.session+"/runs", startOf("", hello))
			if c.status != http.StatusAccepted {
				s.mustRefuse(t, c.status, "/agent", start)
				return
			}
			s.must(t, c.status, start)
			if got := store.starts[0].Agent; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestStartWithAKey(t *testing.T) {
	s, store := newSystem(t).listenToStarts()
	s.mustCreate(t, alice, `{"id":"s"}`)
	start := post(alice, "/sessions/s/runs", startOf("", hello)).with("Idempotency-Key", "k")
	first := s.must(t, http.StatusAccepted, start)
	again := s.must(t, http.StatusAccepted, start)
	if string(first.body) != string(again.body) || again.header.Get("Idempotency-Replayed") != "true" ||
		again.header.Get("Location") != first.header.Get("Location") {
		t.Errorf("%s %v, then %s %v", first.body, first.header, again.body, again.header)
	}
	if len(store.starts) != 1 || len(s.dispatched) != 1 {
		t.Errorf("asked for %+v, handed over %+v", store.starts, s.dispatched)
	}
}

// failTo makes handing runs to workers fail while count is positive.
func failTo(count *int) func(*rest.Config) {
	return func(c *rest.Config) {
		hand := c.StartRun
		c.StartRun = func(ctx context.Context, ref run.Ref) error {
			if *count--; *count >= 0 {
				return errors.New("secret detail of the invocation")
			}
			return hand(ctx, ref)
		}
	}
}

func TestRunWithoutAWorker(t *testing.T) {
	failures := 2
	s := newSystem(t, failTo(&failures))
	s.mustCreate(t, alice, `{"id":"s"}`)
	start := post(alice, "/sessions/s/runs", startOf("", hello)).with("Idempotency-Key", "k")
	var runs []string
	for range 2 {
		got := s.must(t, http.StatusServiceUnavailable, start)
		problem := decode[map[string]any](t, got)
		if got.header.Get("Retry-After") == "" || strings.Contains(string(got.body), "secret") {
			t.Errorf("header %v, problem %s", got.header, got.body)
		}
		if thread := s.mustThread(t); thread.Status != "failed" || thread.Run.Error.Code != "not_started" ||
			thread.Run.ID != problem["run_id"] {
			t.Errorf("thread %+v, problem %v", thread, problem)
		}
		runs = append(runs, fmt.Sprint(problem["run_id"]))
	}
	if runs[0] == runs[1] {
		t.Error("a run that is over was started again")
	}
	s.must(t, http.StatusAccepted, start)
	thread := s.mustThread(t)
	if thread.Status != "in_progress" || len(thread.Items) != 1 || len(s.dispatched) != 1 || s.dispatched[0].RunID != thread.Run.ID {
		t.Errorf("thread %+v, handed over %+v", thread, s.dispatched)
	}
	if s.must(t, http.StatusAccepted, start).header.Get("Idempotency-Replayed") != "true" {
		t.Error("started once more")
	}
	if !strings.Contains(s.log.String(), "secret detail") {
		t.Errorf("log %s", s.log)
	}
}

// A run that no worker accepted, but that was merged into another run, has been
// accepted: its input is in the thread, and a repeat must not add it again.
func TestMergedRunWithoutAWorker(t *testing.T) {
	merge := func(context.Context, run.Ref) {}
	s := newSystem(t, func(c *rest.Config) {
		hand := c.StartRun
		c.StartRun = func(ctx context.Context, ref run.Ref) error {
			if merge == nil {
				return hand(ctx, ref)
			}
			merge(ctx, ref)
			merge = nil
			return errors.New("no worker")
		}
	})
	s.mustCreate(t, alice, `{"id":"s"}`)
	merge = func(ctx context.Context, ref run.Ref) {
		next := run.Start{
			Ref: ref, Mode: run.External, Input: []session.Event{{Author: "user"}}, OnActive: run.CancelAndMerge,
		}
		next.RunID = "next"
		if _, err := s.config.Runs.Start(ctx, next); err != nil {
			t.Error(err)
		}
	}
	start := post(alice, "/sessions/s/runs", startOf("", hello)).with("Idempotency-Key", "k")
	for range 2 {
		s.must(t, http.StatusAccepted, start)
		if thread := s.mustThread(t); thread.Run.ID != "next" || len(thread.Items) != 2 {
			t.Errorf("thread %+v", thread)
		}
	}
}

// lostStart is a store that starts runs but loses the answers.
type lostStart struct {
	run.Store
	armed bool
}

func (l *lostStart) Start(ctx context.Context, s run.Start) (run.Run, error) {
	r, err := l.Store.Start(ctx, s)
	if l.armed {
		l.armed = false
		return run.Run{}, errors.New("connection lost")
	}
	return r, err
}

func TestRepeatedStartFindsTheRun(t *testing.T) {
	s := newSystem(t, func(c *rest.Config) { c.Runs = &lostStart{Store: c.Runs, armed: true} })
	s.mustCreate(t, alice, `{"id":"s"}`)
	start := post(alice, "/sessions/s/runs", startOf("", hello)).with("Idempotency-Key", "k")
	s.mustRefuse(t, http.StatusInternalServerError, "", start)
	before := s.mustThread(t)
	s.must(t, http.StatusAccepted, start)
	if diff := cmp.Diff(before, s.mustThread(t)); diff != "" || len(before.Items) != 1 || len(s.dispatched) != 1 {
		t.Errorf("thread %+v, then\n%s\nhanded over %+v", before, diff, s.dispatched)
	}
}
