package entrances_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/domain/session"
)

// naming is a request that names something new: NAME stands for it in the body, PATH in
// the path. A refusal contains the member that has the name.
type naming struct {
	member string
	request
}

// namings are the places where new things get their names. MCP's tools and Responses
// have none: what they create gets generated names.
func namings(archive string) map[string]naming {
	const (
		api  = "/api/v1/sessions"
		task = `{"task_id":"%s","user_message":"Hi","message_bubbles":[{"id":"b","type":"agent","metadata":{"kagent_invocation_id":"%s"}}]}`
		a2a  = `{"id":"%s","contextId":"here","kind":"task","history":[{"metadata":{"kagent_invocation_id":"%s"}}],"status":{"state":"completed"}}`
		adk  = `{"id":"%s","app_name":"a","user_id":"u","events":[{"id":"%s","invocationId":"%s","author":"a","timestamp":1}]}`
		agui = `{"threadId":"%s","runId":"%s","messages":[{"id":"%s","role":"user","content":"x"}]}`
		chat = `{"id":"%s","messages":[{"id":"%s","role":"user","parts":[{"type":"text","text":"x"}]}],"rethread":{"run_id":"%s"}}`
		said = `{"message":{"messageId":"m","role":"ROLE_USER","contextId":"%s","parts":[{"text":"x"}]}}`
	)
	imported := func(member, id string) naming {
		return naming{member, post(api+"/import", strings.ReplaceAll(archive, `"`+id+`"`, `"NAME"`))}
	}
	return map[string]naming{
		"REST session":                     {"/id", post(api, `{"id":"NAME"}`)},
		"REST agent of a session":          {"/agent", post(api, `{"agent":"NAME"}`)},
		"REST event":                       {"/events/0/id", post(api+"/here/events", `{"events":[{"id":"NAME","invocation_id":"i","author":"a"}]}`)},
		"REST invocation":                  {"/events/0/invocation_id", post(api+"/here/events", `{"events":[{"invocation_id":"NAME","author":"a"}]}`)},
		"REST input of a run":              {"/input/0/id", post(api+"/ran/runs", `{"input":[{"id":"NAME","content":{"parts":[{"text":"x"}]}}],"mode":"external"}`)},
		"REST item":                        {"/item_id", post(api+"/ran/runs/RUN/deltas", `{"item_id":"NAME","author":"a","deltas":[{"part":0,"text":"x"}]}`)},
		"REST event of a run":              {"/events/0/id", post(api+"/ran/runs/RUN/events", `{"events":[{"id":"NAME","author":"a","content":{"parts":[]}}]}`)},
		"REST task":                        {"/task_id", post(api+"/here/tasks", fmt.Sprintf(task, "NAME", "i"))},
		"REST invocation of a task":        {"/message_bubbles", post(api+"/here/tasks", fmt.Sprintf(task, "t", "NAME"))},
		"REST task of A2A":                 {"/id", post("/api/tasks", fmt.Sprintf(a2a, "NAME", "i"))},
		"REST invocation of a task of A2A": {"/message_bubbles", post("/api/tasks", fmt.Sprintf(a2a, "t2", "NAME"))},
		"REST artifact":                    {"name", put(api + "/here/artifacts/PATH")},
		"REST artifact of the user":        {"name", put(api + "/here/artifacts/user:PATH")},
		"REST invocation of an artifact":   {"invocation_id", put(api + "/here/artifacts/a?invocation_id=PATH")},
		"import":                           imported("/session/id", "kept"),
		"import, event":                    imported("/events/0/id", "kept-event"),
		"import, invocation":               imported("/events/0/invocation_id", "kept-invocation"),
		"import, task":                     imported("/task", "kept-task"),
		"import, invocation of a task":     imported("/events/1/invocation_id", "kept-place"),
		"import of ADK":                    {"/id", post(api+"/import", fmt.Sprintf(adk, "NAME", "e", "i"))},
		"import of ADK under another id":   {"/id", post(api+"/import?id=PATH", fmt.Sprintf(adk, "a1", "e", "i"))},
		"import of ADK, event":             {"/events/0/id", post(api+"/import", fmt.Sprintf(adk, "a2", "NAME", "i"))},
		"import of ADK, invocation":        {"/events/0/invocation_id", post(api+"/import", fmt.Sprintf(adk, "a3", "e", "NAME"))},
		"import of tasks":                  {"/id", post(api+"/import?id=PATH", "["+fmt.Sprintf(task, "t", "i")+"]")},
		"import of tasks, task":            {"/task_id", post(api+"/import", "["+fmt.Sprintf(task, "NAME", "i")+"]")},
		"import of tasks, invocation":      {"/message_bubbles", post(api+"/import", "["+fmt.Sprintf(task, "t", "NAME")+"]")},
		"A2A context":                      {"contextId", rpc("/a2a/helper", "SendMessage", fmt.Sprintf(said, "NAME"))},
		"A2A context over HTTP":            {"contextId", post("/a2a/helper/message:send", fmt.Sprintf(said, "NAME"))},
		"A2A context of a stream":          {"contextId", rpc("/a2a/helper", "SendStreamingMessage", fmt.Sprintf(said, "NAME"))},
		"AG-UI thread":                     {"/threadId", post("/agui/helper", fmt.Sprintf(agui, "NAME", "r1", "m"))},
		"AG-UI run":                        {"/runId", post("/agui/helper", fmt.Sprintf(agui, "agui-1", "NAME", "m"))},
		"AG-UI message":                    {"/messages/0/id", post("/agui/helper", fmt.Sprintf(agui, "agui-2", "r2", "NAME"))},
		"AI SDK chat":                      {"/id", post("/ai-sdk/helper", fmt.Sprintf(chat, "NAME", "m", "r3"))},
		"AI SDK message":                   {"/messages/0/id", post("/ai-sdk/helper", fmt.Sprintf(chat, "chat-1", "NAME", "r4"))},
		"AI SDK run":                       {"/rethread/run_id", post("/ai-sdk/helper", fmt.Sprintf(chat, "chat-2", "m", "NAME"))},
	}
}

func (n naming) with(name, runID string) request {
	r := n.request
	r.path = strings.NewReplacer("PATH", url.PathEscape(name), "RUN", runID).Replace(r.path)
	r.body = strings.ReplaceAll(r.body, "NAME", name)
	return r
}

// refuses reports whether an answer refuses a member of the request, in the form of any
// of the protocols.
func refuses(status int, body, member string) bool {
	invalid := status == http.StatusUnprocessableEntity || status == http.StatusBadRequest ||
		strings.Contains(body, "-32602") || strings.Contains(body, "INVALID_ARGUMENT")
	return invalid && strings.Contains(body, member)
}

// Clients resolve "." and ".." in a path, so no request could reach what is called so.
func TestNames_of_relative_paths_are_refused(t *testing.T) {
	s := newSystem(t)
	runID := s.prepare(t)
	archive := s.must(t, http.StatusOK, get("/api/v1/sessions/kept/export"))
	s.must(t, http.StatusNoContent, del("/api/v1/sessions/kept"))
	cases := 0
	for place, n := range namings(archive) {
		cases++
		for i, name := range []string{".", ".."} {
			status, body := s.do(t, n.with(name, runID))
			if !refuses(status, body, n.member) {
				t.Errorf("%s %q: got %d %.300s, want a refusal of %s", place, name, status, body, n.member)
			}
			if status == http.StatusBadRequest && !strings.HasPrefix(place, "A2A") {
				t.Errorf("%s %q: got 400, want 422: %.300s", place, name, body)
			}
			plain := fmt.Sprintf("named-%d%d.", cases, i) // the same request with a name that can be reached
			if status, body := s.do(t, n.with(plain, runID)); refuses(status, body, "") {
				t.Errorf("%s %q: got %d %.300s, want no refusal", place, plain, status, body)
			}
		}
	}
	if cases < 35 {
		t.Errorf("%d places were tried, want 35", cases)
	}
}

// prepare creates the sessions of the requests: here, ran with the run that it returns,
// and kept, to be exported.
func (s *system) prepare(t *testing.T) (runID string) {
	t.Helper()
	for _, id := range []string{"here", "ran", "kept"} {
		s.must(t, http.StatusCreated, post("/api/v1/sessions", `{"id":"`+id+`"}`))
	}
	s.must(t, http.StatusCreated, post("/api/v1/sessions/kept/events",
		`{"events":[{"id":"kept-event","invocation_id":"kept-invocation","author":"a"}]}`))
	s.must(t, http.StatusCreated, post("/api/v1/sessions/kept/tasks",
		`{"task_id":"kept-task","message_bubbles":[{"id":"b","type":"agent","metadata":{"kagent_invocation_id":"kept-place"}}]}`))
	return s.external(t, "ran")
}

// external starts a run that is executed elsewhere, and returns its id.
func (s *system) external(t *testing.T, id string) string {
	t.Helper()
	began := s.must(t, http.StatusAccepted, post("/api/v1/sessions/"+id+"/runs",
		`{"mode":"external","agent":"a","input":[{"content":{"parts":[{"text":"x"}]}}]}`))
	return decode[struct {
		Data struct {
			Session struct {
				Run string `json:"active_run_id"`
			}
		}
	}](t, began).Data.Session.Run
}

// What got such a name before they were refused stays: it is listed, read, exported and
// deleted, if a client sends the path as it is.
func TestNames_of_relative_paths_that_exist_are_served(t *testing.T) {
	for _, name := range []string{".", ".."} {
		t.Run("the name "+name, func(t *testing.T) {
			s := newSystem(t)
			s.createNamed(t, name)
			path := "/api/v1/sessions/" + strings.ReplaceAll(name, ".", "%2E")
			for _, list := range []string{"", path, path + "/events", path + "/thread", path + "/export"} {
				if list == "" {
					list = "/api/v1/sessions"
				}
				if body := s.must(t, http.StatusOK, get(list)); !strings.Contains(body, `"id":"`+name+`"`) {
					t.Errorf("%s does not show %q: %.300s", list, name, body)
				}
			}
			s.must(t, http.StatusOK, post(path+"/rewind", `{"rewind_before_invocation_id":"`+name+`"}`))
			s.must(t, http.StatusNoContent, del(path))
			s.must(t, http.StatusNotFound, get(path))
			s.createNamed(t, name)
			for status := http.StatusAccepted; status != http.StatusOK; {
				if status, _ = s.do(t, del("/api/v1/me/data")); status != http.StatusOK && status != http.StatusAccepted {
					t.Fatalf("the erasure ends with %d", status)
				}
			}
			s.must(t, http.StatusNotFound, get(path))
		})
	}
}

// createNamed creates a session as it could be before, with an event.
func (s *system) createNamed(t *testing.T, name string) {
	t.Helper()
	_, err := s.store.Sessions.Create(t.Context(), session.New{
		ID: name, UserID: alice, AppName: session.DefaultApp, Metadata: []byte("{}"), Nonce: rand.Text(),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.store.Sessions.Append(t.Context(), session.Append{SessionID: name, UserID: alice, Events: []session.Event{
		{ID: name, InvocationID: name, Author: "user", Fields: map[string]json.RawMessage{}},
	}})
	if err != nil {
		t.Fatal(err)
	}
}
