package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/memory"
	"github.com/rethread/rethread/shared/transport/rest"
)

type pushedView struct {
	ItemID string `json:"item_id"`
	Seq    int64  `json:"seq"`
	Offset int64  `json:"offset"`
}

// deltas returns the body of a push with these texts.
func deltas(item, more string, texts ...string) string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = fmt.Sprintf(`{"part":0,"text":%q}`, text)
	}
	return fmt.Sprintf(`{"item_id":%q,"deltas":[%s]%s}`, item, strings.Join(list, ","), more)
}

func (s *system) mustPush(t *testing.T, at, body string) pushedView {
	t.Helper()
	return decode[one[pushedView]](t, s.must(t, http.StatusOK, post(alice, at+"/deltas", body))).Data
}

func TestExternalRun(t *testing.T) {
	s, at := external(t)
	if got := s.mustPush(t, at, deltas("answer", "", "1.2 ", "million ")); got != (pushedView{"answer", 2, 1}) {
		t.Errorf("pushed %+v", got)
	}
	if got := s.mustPush(t, at, deltas("answer", `,"offset":1`, "dollars")); got != (pushedView{"answer", 2, 2}) {
		t.Errorf("pushed %+v", got)
	}
	thread := s.mustThread(t)
	item := thread.Items[1]
	if item.Status != "in_progress" || item.Author != "theirs" || item.Content.Role != "model" || item.InvocationID != thread.Run.ID {
		t.Errorf("item %+v", item)
	}
	if thread.texts() != "Hello|1.2 million dollars" || thread.Cursor != "0.2.2" {
		t.Errorf("thread %+v", thread)
	}

	got := s.must(t, http.StatusCreated, post(alice, at+"/events", batch(
		`{"content":{"role":"model","parts":[{"text":"before"}]},"actions":{"state_delta":{"n":1}}}`,
		`{"id":"answer","author":"bot","content":{"role":"model","parts":[{"text":"whole"}]},"actions":{"state_delta":{"n":2}}}`,
		`{"author":"tool","partial":true}`,
		`{"author":"tool","content":{"role":"user","parts":[{"text":"after"}]},"actions":{"state_delta":{"n":3}}}`,
	)))
	stored := decode[one[[]itemView]](t, got).Data
	if len(stored) != 3 || stored[0].Author != "theirs" || stored[1].ID != "answer" || stored[1].Seq != 2 || stored[2].Author != "tool" {
		t.Errorf("stored %+v", stored)
	}
	for _, e := range stored {
		if e.InvocationID != thread.Run.ID || e.Status != "completed" {
			t.Errorf("stored %+v", e)
		}
	}
	if got := s.mustThread(t).texts(); got != "Hello|whole|before|after" {
		t.Errorf("thread %s", got)
	}
	if got := string(s.must(t, http.StatusOK, get(alice, "/sessions/s/state")).body); !strings.Contains(got, `"session":{"n":3}`) {
		t.Errorf("state %s", got)
	}

	done := s.must(t, http.StatusOK, patch(alice, at, `{"status":"completed"}`))
	if r := decode[one[runView]](t, done).Data; r.Status != "completed" || r.Error != nil || r.EndedTime == nil || r.Mode != "external" {
		t.Errorf("run %+v", r)
	}
	if thread := s.mustThread(t); thread.Status != "idle" || thread.Run != nil {
		t.Errorf("thread %+v", thread)
	}
	if len(s.dispatched) != 0 {
		t.Errorf("handed to a worker: %+v", s.dispatched)
	}
}

func TestRepeatedDeltas(t *testing.T) {
	s, at := external(t)
	s.mustPush(t, at, deltas("answer", `,"offset":0`, "a"))
	for _, offset := range []int{0, 2} {
		problem := s.mustRefuse(t, http.StatusConflict, "",
			post(alice, at+"/deltas", deltas("answer", fmt.Sprintf(`,"offset":%d`, offset), "a")))
		if problem["offset"] != 1.0 || problem["item_id"] != "answer" {
			t.Errorf("offset %d: %v", offset, problem)
		}
	}
	s.mustRefuse(t, http.StatusConflict, "", post(alice, at+"/deltas", deltas("other", `,"offset":3`, "a")))
	keyed := post(alice, at+"/deltas", deltas("answer", "", "b")).with("Idempotency-Key", "k")
	first, again := s.must(t, http.StatusOK, keyed), s.must(t, http.StatusOK, keyed)
	if diff := cmp.Diff(string(first.body), string(again.body)); diff != "" {
		t.Errorf("answers differ:\n%s", diff)
	}
	if got := s.mustThread(t).texts(); got != "Hello|ab" {
		t.Errorf("thread %s", got)
	}
}

func TestItemCompletedWithoutContent(t *testing.T) {
	s, at := external(t)
	s.mustPush(t, at, `{"item_id":"call","author":"bot","role":"assistant","deltas":[
		{"part":0,"thought":true,"text":"Let me "},{"part":0,"thought":true,"text":"see."},
		{"part":1,"function_call":{"id":"c","name":"search","args_text":"{\"q\":"}}]}`)
	s.mustRefuse(t, http.StatusUnprocessableEntity, "", post(alice, at+"/events", batch(`{"id":"call","author":"bot"}`)))
	s.mustPush(t, at, `{"item_id":"call","deltas":[{"part":1,"function_call":{"args_text":"1}"}}]}`)
	got := s.must(t, http.StatusCreated, post(alice, at+"/events", batch(`{"id":"call","author":"bot"}`)))
	whole := decode[one[[]itemView]](t, got).Data[0]
	want := []map[string]any{
		{"thought": true, "text": "Let me see."},
		{"function_call": map[string]any{"id": "c", "name": "search", "args": map[string]any{"q": 1.0}}},
	}
	if diff := cmp.Diff(want, whole.Content.Parts); diff != "" || whole.Content.Role != "assistant" || whole.Author != "bot" {
		t.Errorf("%+v (-want +got)\n%s", whole, diff)
	}
	s.mustRefuse(t, http.StatusConflict, "", post(alice, at+"/deltas", deltas("call", "", "more")))
}

func TestPushedEventsWithAKey(t *testing.T) {
	s, at := external(t)
	s.mustPush(t, at, deltas("answer", "", "x"))
	body := batch(`{"id":"answer","content":{"parts":[{"text":"x"}]}}`, `{"content":{"parts":[{"text":"y"}]}}`)
	first := s.must(t, http.StatusCreated, post(alice, at+"/events", body).with("Idempotency-Key", "k"))
	again := s.must(t, http.StatusCreated, post(alice, at+"/events", body).with("Idempotency-Key", "k"))
	if string(first.body) != string(again.body) || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%s, then %s", first.body, again.body)
	}
	// The same events in another request are a redelivery where they have ids.
	s.must(t, http.StatusCreated, post(alice, at+"/events", batch(`{"id":"answer","content":{"parts":[{"text":"x"}]}}`)))
	if got := s.mustThread(t).texts(); got != "Hello|x|y" {
		t.Errorf("thread %s", got)
	}
	got := s.must(t, http.StatusOK, post(alice, at+"/events", batch(`{"partial":true}`)))
	if string(got.body) != `{"data":[]}` {
		t.Errorf("partial ones: %s", got.body)
	}
}

func TestRunUpdates(t *testing.T) {
	s, at := external(t)
	alive := s.must(t, http.StatusOK, patch(alice, at, `{"keep_alive":true}`))
	if r := decode[one[runView]](t, alive).Data; r.Status != "in_progress" || r.Agent != "theirs" {
		t.Errorf("run %+v", r)
	}
	s.mustPush(t, at, deltas("answer", "", "x"))
	failed := s.must(t, http.StatusOK, patch(alice, at, `{"keep_alive":true,"status":"failed","error":{"code":"rate_limit","message":"Too many"}}`))
	r := decode[one[runView]](t, failed).Data
	if r.Status != "failed" || r.Error == nil || r.Error.Code != "rate_limit" || r.Error.Message != "Too many" {
		t.Errorf("run %+v", r)
	}
	if again := s.must(t, http.StatusOK, patch(alice, at, `{"status":"failed"}`)); string(again.body) != string(failed.body) {
		t.Errorf("%s, then %s", failed.body, again.body)
	}
	thread := s.mustThread(t)
	if thread.Status != "failed" || thread.texts() != "Hello|x" || thread.Items[1].Status != "failed" || thread.Run.ID != r.ID {
		t.Errorf("thread %+v", thread)
	}
	s.mustRefuse(t, http.StatusConflict, "", post(alice, "/sessions/s/runs", startOf(`,"mode":"external","on_failed":"block"`, hello)))

	at = s.mustStart(t, `,"mode":"external"`)
	if got := s.mustThread(t).texts(); got != "Hello" {
		t.Errorf("the failed run is still shown: %s", got)
	}
	plain := s.must(t, http.StatusOK, patch(alice, at, `{"status":"failed","error":{"message":"`+strings.Repeat("é", 1500)+`"}}`))
	if r := decode[one[runView]](t, plain).Data; r.Error.Code != "agent_failed" || len(r.Error.Message) != 2000 {
		t.Errorf("run %+v", r)
	}
	at = s.mustStart(t, `,"mode":"external"`)
	gone := s.must(t, http.StatusOK, patch(alice, at, `{"status":"cancelled"}`))
	if r := decode[one[runView]](t, gone).Data; r.Status != "cancelled" || r.Error != nil {
		t.Errorf("run %+v", r)
	}
}

// pushes returns all requests of an external agent.
func pushes(at string) map[string]request {
	return map[string]request{
		"deltas":     post(alice, at+"/deltas", deltas("i", `,"author":"a"`, "x")),
		"events":     post(alice, at+"/events", batch(`{"author":"a"}`)),
		"partial":    post(alice, at+"/events", batch(`{"author":"a","partial":true}`)),
		"keep_alive": patch(alice, at, `{"keep_alive":true}`),
		"status":     patch(alice, at, `{"status":"completed"}`),
	}
}

func TestEndedRunRefusesPushes(t *testing.T) {
	s, at := external(t)
	s.must(t, http.StatusOK, post(alice, at+"/cancel", ""))
	before := s.headSeq(t, "s")
	for name, r := range pushes(at) {
		t.Run(name, func(t *testing.T) {
			if problem := s.mustRefuse(t, http.StatusConflict, "", r); problem["run_status"] != "cancelled" || problem["run_id"] == nil {
				t.Errorf("problem %v", problem)
			}
		})
	}
	if after := s.headSeq(t, "s"); after != before {
		t.Errorf("the log went from %d to %d", before, after)
	}
}

func TestManagedRunRefusesPushes(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	at := s.mustStart(t, "")
	for name, r := range pushes(at) {
		t.Run(name, func(t *testing.T) { s.mustRefuse(t, http.StatusConflict, "", r) })
	}
	if thread := s.mustThread(t); len(thread.Items) != 1 || thread.Status != "in_progress" {
		t.Errorf("thread %+v", thread)
	}
}

func TestPushBadInput(t *testing.T) {
	s, at := external(t)
	s.mustPush(t, at, deltas("open", "", "x"))
	delta := func(d string) string { return `{"item_id":"open","deltas":[{"part":0,"text":"y"},` + d + `]}` }
	many := make([]string, 501)
	event := func(members string) string { return batch(`{}`, `{`+members+`}`) }
	for _, c := range []struct {
		name, path, body, pointer string
		status                    int
	}{
		{"no body", "/deltas", ``, "", 400},
		{"not an object", "/deltas", `[]`, "", 400},
		{"no item", "/deltas", `{"deltas":[{"part":0,"text":"x"}]}`, "/item_id", 400},
		{"an item of a wrong type", "/deltas", `{"item_id":1,"deltas":[]}`, "/item_id", 400},
		{"an item with a slash", "/deltas", deltas("a/b", "", "x"), "/item_id", 422},
		{"no deltas", "/deltas", `{"item_id":"open"}`, "/deltas", 400},
		{"deltas of a wrong type", "/deltas", `{"item_id":"open","deltas":"x"}`, "/deltas", 400},
		{"empty deltas", "/deltas", deltas("open", ""), "/deltas", 422},
		{"over 500 deltas", "/deltas", deltas("open", "", many...), "/deltas", 422},
		{"a delta of a wrong type", "/deltas", delta(`"x"`), "/deltas/1", 400},
		{"a delta without a part", "/deltas", delta(`{"text":"x"}`), "/deltas/1/part", 400},
		{"a delta without content", "/deltas", delta(`{"part":0}`), "/deltas/1", 400},
		{"an unknown member", "/deltas", delta(`{"part":0,"text":"x","index":1}`), "/deltas/1/index", 422},
		{"a part that leaves a gap", "/deltas", delta(`{"part":2,"text":"x"}`), "/deltas/1/part", 422},
		{"a part of another kind", "/deltas", delta(`{"part":0,"thought":true,"text":"x"}`), "/deltas/1/thought", 422},
		{"a gap in a new item", "/deltas", `{"item_id":"new","deltas":[{"part":1,"text":"x"}]}`, "/deltas/0/part", 422},
		{"an offset of a wrong type", "/deltas", deltas("open", `,"offset":"1"`, "x"), "/offset", 400},
		{"a negative offset", "/deltas", deltas("open", `,"offset":-1`, "x"), "/offset", 422},
		{"an author of a wrong type", "/deltas", deltas("open", `,"author":null`, "x"), "/author", 400},
		{"an empty author", "/deltas", deltas("open", `,"author":""`, "x"), "/author", 422},
		{"a role too long", "/deltas", deltas("open", `,"role":"`+strings.Repeat("r", 129)+`"`, "x"), "/role", 422},
		{"too much text at once", "/deltas", deltas("open", "", strings.Repeat("x", 65537)), "", 413},

		{"no events", "/events", `{}`, "/events", 400},
		{"events of a wrong type", "/events", `{"events":1}`, "/events", 400},
		{"no event", "/events", batch(), "/events", 422},
		{"over 100 events", "/events", batch(strings.Split(strings.Repeat("{} ", 100)+"{}", " ")...), "/events", 422},
		{"an event of a wrong type", "/events", batch(`{}`, `[]`), "/events/1", 400},
		{"an invocation", "/events", event(`"invocation_id":"i"`), "/events/1/invocation_id", 422},
		{"an author null", "/events", event(`"author":null`), "/events/1/author", 400},
		{"content of a wrong type", "/events", event(`"content":[]`), "/events/1/content", 400},
		{"an id twice", "/events", batch(`{"id":"e"}`, `{"id":"e"}`), "/events/1/id", 422},

		{"an empty report", "", `{}`, "", 422},
		{"a report that is not an object", "", `[]`, "", 400},
		{"keep_alive of a wrong type", "", `{"keep_alive":1}`, "/keep_alive", 400},
		{"keep_alive false", "", `{"keep_alive":false,"status":"completed"}`, "/keep_alive", 422},
		{"a status of a wrong type", "", `{"status":1}`, "/status", 400},
		{"a status that does not end the run", "", `{"status":"in_progress"}`, "/status", 422},
		{"an empty status", "", `{"status":""}`, "/status", 422},
		{"an error of a run in progress", "", `{"keep_alive":true,"error":{"message":"m"}}`, "/error", 422},
		{"an error of a completed run", "", `{"status":"completed","error":{"message":"m"}}`, "/error", 422},
		{"an error of a wrong type", "", `{"status":"failed","error":"m"}`, "/error", 400},
		{"an error without a message", "", `{"status":"failed","error":{"code":"c"}}`, "/error/message", 400},
		{"an error with an empty message", "", `{"status":"failed","error":{"message":""}}`, "/error/message", 422},
		{"an error with a wrong code", "", `{"status":"failed","error":{"message":"m","code":1}}`, "/error/code", 400},
		{"an error with an empty code", "", `{"status":"failed","error":{"message":"m","code":""}}`, "/error/code", 422},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := post(alice, at+c.path, c.body)
			if c.path == "" {
				r.method = http.MethodPatch
			}
			s.mustRefuse(t, c.status, c.pointer, r)
		})
	}
	if thread := s.mustThread(t); thread.texts() != "Hello|x" || thread.Status != "in_progress" {
		t.Errorf("refused, and yet: %+v", thread)
	}
}

func TestItemNeedsAnAuthor(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	at := s.mustStart(t, `,"mode":"external"`)
	s.mustRefuse(t, http.StatusBadRequest, "/author", post(alice, at+"/deltas", deltas("i", "", "x")))
	s.mustRefuse(t, http.StatusBadRequest, "/events/0/author", post(alice, at+"/events", batch(`{}`)))
	s.mustPush(t, at, deltas("i", `,"author":"bot"`, "x"))
	if item := s.mustThread(t).Items[1]; item.Author != "bot" {
		t.Errorf("item %+v", item)
	}
}

// A process keeps the item that was last pushed to. Another one has pushed since.
func TestPush_to_several_processes(t *testing.T) {
	engine := memory.New(store.Schema())
	process := func(c *rest.Config) {
		of := stores.New(engine, stores.WithCodec(storetest.Codec()))
		c.Sessions, c.Runs, c.Grants, c.Idempotency = of.Sessions, of.Runs, of.Shares, of.Idempotency
	}
	one, other := newSystem(t, process), newSystem(t, process)
	one.mustCreate(t, alice, `{"id":"s","agent":"theirs"}`)
	at := one.mustStart(t, `,"mode":"external"`)
	one.mustPush(t, at, deltas("i", "", "a"))
	other.mustPush(t, at, `{"item_id":"i","deltas":[{"part":1,"thought":true,"text":"b"}]}`)
	one.mustRefuse(t, http.StatusUnprocessableEntity, "/deltas/0/part", post(alice, at+"/deltas", `{"item_id":"i","deltas":[{"part":3,"text":"d"}]}`))
	one.mustPush(t, at, `{"item_id":"i","deltas":[{"part":1,"thought":true,"text":"b"}]}`)
	other.mustPush(t, at, `{"item_id":"i","deltas":[{"part":2,"text":"c"}]}`)
	if got := one.mustPush(t, at, `{"item_id":"i","deltas":[{"part":2,"text":"c"}]}`); got.Offset != 5 {
		t.Errorf("pushed %+v", got)
	}
	other.mustRefuse(t, http.StatusUnprocessableEntity, "/deltas/0/thought", post(alice, at+"/deltas", `{"item_id":"i","deltas":[{"part":0,"thought":true,"text":"d"}]}`))
	if got := one.mustThread(t).texts(); got != "Hello|a|bb|cc" {
		t.Errorf("the item is %s", got)
	}
}
