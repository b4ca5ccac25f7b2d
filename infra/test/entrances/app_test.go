package entrances_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// change is a way to change the state of an app.
type change struct {
	request
	pointer string // to the key, where the answer has one
}

// changes are all ways for requests to change app:k. They are for the session s, whose
// run r is external.
func changes() map[string]change {
	const (
		here  = "/api/v1/sessions/s"
		event = `{"id":"x","invocation_id":"x","author":"a","actions":{"state_delta":{"app:k":"theirs"}}}`
		input = `{"content":{"parts":[{"text":"x"}]},"actions":{"state_delta":{"app:k":"theirs"}}}`
		says  = `"messages":[{"id":"m","role":"user","content":"x"}]`
	)
	document := func(events, state string) string {
		return `{"format":"rethread.session/1","session":{"id":"new","app_name":"app","agent":"","name":"","status":"idle","created_time":1,"updated_time":1},` +
			`"events":[` + events + `],"state":{"session":{},"user":{},"app":` + state + `,"merged":{},"artifacts":{}},"complete":true}`
	}
	return map[string]change{
		"events":                {post(here+"/events", `{"events":[`+event+`]}`), "/events/0/actions/state_delta/app:k"},
		"the second of events":  {post(here+"/events", `{"events":[{"invocation_id":"y","author":"a"},`+event+`]}`), "/events/1/actions/state_delta/app:k"},
		"a deleted key":         {post(here+"/events", strings.Replace(`{"events":[`+event+`]}`, `"theirs"`, "null", 1)), "/events/0/actions/state_delta/app:k"},
		"creation":              {post("/api/v1/sessions", `{"id":"new","app_name":"app","state":{"a":1,"app:k":"theirs"}}`), "/state/app:k"},
		"the input of a run":    {post(here+"/runs", `{"agent":"helper","input":[`+input+`],"on_active":"enqueue"}`), "/input/0/actions/state_delta/app:k"},
		"an external run":       {post("/api/v1/sessions/t/runs", `{"mode":"external","input":[`+input+`]}`), "/input/0/actions/state_delta/app:k"},
		"events of a run":       {post(here+"/runs/RUN/events", `{"events":[{"id":"x","author":"a","actions":{"state_delta":{"app:k":"theirs"}}}]}`), "/events/0/actions/state_delta/app:k"},
		"an import's state":     {post("/api/v1/sessions/import", document("", `{"k":"theirs"}`)), "/state/app/k"},
		"an import's events":    {post("/api/v1/sessions/import", document(`{"id":"e","seq":1,"invocation_id":"i","author":"a","status":"completed","created_time":1,"actions":{"state_delta":{"app:k":"theirs"}}}`, "{}")), "/events/0/actions/state_delta/app:k"},
		"a dump's state":        {post("/api/v1/sessions/import", `{"id":"new","app_name":"app","user_id":"u","state":{"app:k":"theirs"},"events":[]}`), "/state/app:k"},
		"a dump's events":       {post("/api/v1/sessions/import", `{"id":"new","app_name":"app","user_id":"u","state":{"a":1},"events":[`+event+`]}`), "/events/0/actions/state_delta/app:k"},
		"the state of AG-UI":    {post("/agui/helper", `{"threadId":"t","runId":"q","state":{"app:k":"theirs"},`+says+`}`), "/state/app:k"},
		"a new thread of AG-UI": {post("/agui/helper", `{"threadId":"new","runId":"q","state":{"app:k":"theirs"},`+says+`}`), "/state/app:k"},
	}
}

// appSystem is a system with the session s of app app, in which a service has changed
// the state of the app in the invocation first, and which an external run goes on in.
func appSystem(t *testing.T) (s *system, run string) {
	t.Helper()
	s = newSystem(t)
	s.onlyTrusted = true
	for _, id := range []string{"s", "t"} {
		s.must(t, http.StatusCreated, post("/api/v1/sessions", fmt.Sprintf(`{"id":%q,"app_name":"app"}`, id)))
	}
	s.must(t, http.StatusCreated, asService(post("/api/v1/sessions/s/events",
		`{"events":[{"invocation_id":"first","author":"a","actions":{"state_delta":{"app:k":"ours","app:other":1}}}]}`)))
	body := s.must(t, http.StatusAccepted, post("/api/v1/sessions/s/runs", `{"mode":"external","input":[{"content":{"parts":[{"text":"x"}]}}]}`))
	run = decode[struct {
		Data struct {
			Session struct {
				Run string `json:"active_run_id"`
			}
		}
	}](t, body).Data.Session.Run
	return s, run
}

func asService(r request) request {
	r.header = map[string]string{"Service": "backend"}
	return r
}

func (s *system) appState(t *testing.T) map[string]any {
	t.Helper()
	body := s.must(t, http.StatusOK, get("/api/v1/sessions/s/state"))
	return decode[struct{ Data struct{ App map[string]any } }](t, body).Data.App
}

func TestUsers_do_not_change_the_state_of_an_app(t *testing.T) {
	cases := 0
	for name, c := range changes() {
		cases++
		t.Run(name, func(t *testing.T) {
			s, run := appSystem(t)
			c.path = strings.Replace(c.path, "RUN", run, 1)
			before := s.appState(t)
			status, body := s.do(t, c.request)
			if status != http.StatusForbidden {
				t.Errorf("a user's request is answered %d %.300s", status, body)
			}
			var problem struct{ Errors []struct{ Pointer string } }
			if err := json.Unmarshal([]byte(body), &problem); err != nil || len(problem.Errors) != 1 || problem.Errors[0].Pointer != c.pointer {
				t.Errorf("the answer does not point to %s: %.300s", c.pointer, body)
			}
			if diff := cmp.Diff(before, s.appState(t)); diff != "" {
				t.Errorf("the state of the app has changed (-before +after):\n%s", diff)
			}
			unfit := strings.HasPrefix(name, "an import") // these documents are refused for other reasons, with 422
			if status, body := s.do(t, asService(c.request)); status >= http.StatusBadRequest && (!unfit || status != http.StatusUnprocessableEntity) {
				t.Errorf("a service's request is answered %d %.300s", status, body)
			}
		})
	}
	if cases < 13 {
		t.Errorf("%d cases, want 13", cases)
	}
}

// rewinds are all ways to rewind the session t before its invocation first.
func rewinds() map[string]request {
	const says = `"message":{"messageId":"m","role":"ROLE_USER","contextId":"t","parts":[{"text":"x"}],"metadata":{"rewind_before_invocation_id":"first"}}`
	return map[string]request{
		"REST":                       post("/api/v1/sessions/t/rewind", `{"rewind_before_invocation_id":"first"}`),
		"REST, the scope of the app": post("/api/v1/sessions/t/rewind", `{"rewind_before_invocation_id":"first","scopes":["app"]}`),
		"REST, on conflict restore":  post("/api/v1/sessions/t/rewind", `{"rewind_before_invocation_id":"first","on_conflict":"restore"}`),
		"MCP":                        rpc("/mcp", "tools/call", `{"name":"rewind_session","arguments":{"session_id":"t","rewind_before_invocation_id":"first","request_id":"r"}}`),
		"A2A":                        rpc("/a2a/helper", "SendMessage", `{`+says+`}`),
	}
}

func TestUsers_rewinds_leave_the_state_of_an_app(t *testing.T) {
	for name, r := range rewinds() {
		t.Run(name, func(t *testing.T) {
			s := newSystem(t)
			s.onlyTrusted = true
			s.must(t, http.StatusCreated, post("/api/v1/sessions", `{"id":"t","app_name":"app","agent":"helper"}`))
			s.must(t, http.StatusCreated, post("/api/v1/sessions", `{"id":"s","app_name":"app"}`))
			s.must(t, http.StatusCreated, asService(post("/api/v1/sessions/t/events",
				`{"events":[{"invocation_id":"first","author":"a","actions":{"state_delta":{"app:k":"ours","user:k":1,"k":1}}}]}`)))
			body := s.must(t, http.StatusOK, r)
			if diff := cmp.Diff(map[string]any{"k": "ours"}, s.appState(t)); diff != "" {
				t.Errorf("the state of the app (-want +got):\n%s", diff)
			}
			if name != "A2A" && !strings.Contains(body, `{"key":"app:k","reason":"not_permitted"}`) {
				t.Errorf("no conflict is reported: %s", body)
			}
			s.must(t, http.StatusCreated, asService(post("/api/v1/sessions/t/events",
				`{"events":[{"invocation_id":"second","author":"a","actions":{"state_delta":{"app:k":"later"}}}]}`)))
			s.must(t, http.StatusOK, asService(post("/api/v1/sessions/t/rewind", `{"rewind_before_invocation_id":"second"}`)))
			if diff := cmp.Diff(map[string]any{"k": "ours"}, s.appState(t)); diff != "" {
				t.Errorf("the state of the app after a service's rewind (-want +got):\n%s", diff)
			}
		})
	}
	if n := len(rewinds()); n < 5 {
		t.Errorf("%d cases, want 5", n)
	}
}

// sent are all ways to send an event of a service that acts for alice.
func sent() map[string]request {
	const (
		here  = "/api/v1/sessions/s"
		says  = `"messages":[{"id":"m","role":"user","content":"x"}]`
		parts = `"messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"x"}]}]`
	)
	return map[string]request{
		"events":                          post(here+"/events", `{"events":[{"invocation_id":"x","author":"user","created_by":{"service":"other"}}]}`),
		"a run":                           post(here+"/runs", `{"mode":"external","input":[{"content":{"parts":[{"text":"x"}]}}]}`),
		"A2A":                             rpc("/a2a/helper", "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","contextId":"s","parts":[{"text":"x"}]}}`),
		"AG-UI":                           post("/agui/helper", `{"threadId":"s","runId":"q",`+says+`}`),
		"AI SDK":                          post("/ai-sdk/helper", `{"id":"s",`+parts+`}`),
		"Responses":                       post("/v1/responses", `{"model":"helper","conversation":"s","input":"x","background":true}`),
		"items":                           post("/v1/conversations/s/items", `{"items":[{"role":"user","content":"x"}]}`),
		"a rewind":                        post(here+"/rewind", `{"rewind_before_invocation_id":"zero"}`),
		"an artifact that an event names": {method: http.MethodPut, path: here + "/artifacts/a?invocation_id=x", body: "x"},
	}
}

func TestServices_are_named_in_what_they_send(t *testing.T) {
	names := slices.Sorted(maps.Keys(sent()))
	for _, name := range names {
		for _, service := range []string{"backend", ""} {
			t.Run(name+" by "+service, func(t *testing.T) {
				s := newSystem(t)
				s.must(t, http.StatusCreated, post("/api/v1/sessions", `{"id":"s","agent":"helper"}`))
				s.must(t, http.StatusCreated, post("/api/v1/sessions/s/events", `{"events":[{"invocation_id":"zero","author":"a"}]}`))
				r := sent()[name]
				r.header = map[string]string{"Service": service}
				if status, body := s.do(t, r); status >= http.StatusBadRequest {
					t.Fatalf("%d %s", status, body)
				}
				body := s.must(t, http.StatusOK, get("/api/v1/sessions/s/events?view=all"))
				events := decode[struct{ Data []map[string]any }](t, body).Data
				if len(events) < 2 {
					t.Fatalf("no event: %s", body)
				}
				var want any
				if service != "" {
					want = map[string]any{"user_id": alice, "service": service}
				}
				if diff := cmp.Diff(want, events[1]["created_by"]); diff != "" {
					t.Errorf("created_by (-want +got):\n%s", diff)
				}
			})
		}
	}
	if len(names) < 9 {
		t.Errorf("%d cases, want 9", len(names))
	}
}
