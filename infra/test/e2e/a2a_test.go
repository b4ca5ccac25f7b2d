package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

const rewindKey = "kagent_rewind_before_invocation_id"

// withToken adds a user's token to each request.
type withToken struct{ token string }

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return http.DefaultTransport.RoundTrip(r)
}

// mustDial returns a client of the demo agent in a protocol version.
func mustDial(t *testing.T, sys *e2e.System, u *e2e.User, binding a2a.TransportProtocol, version a2a.ProtocolVersion) *a2aclient.Client {
	t.Helper()
	hc := &http.Client{Transport: withToken{u.Token}}
	factory := a2aclient.NewFactory(
		a2aclient.WithJSONRPCTransport(hc), a2aclient.WithRESTTransport(hc),
		a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: hc}),
		a2av0.WithRESTTransport(a2av0.RESTTransportConfig{Client: hc}),
	)
	client, err := factory.CreateFromEndpoints(t.Context(), []*a2a.AgentInterface{
		{URL: sys.URL + "/a2a/demo", ProtocolBinding: binding, ProtocolVersion: version},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func say(contextID, text string) *a2a.SendMessageRequest {
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	m.ContextID = contextID
	return &a2a.SendMessageRequest{Message: m}
}

func mustSend(t *testing.T, c *a2aclient.Client, req *a2a.SendMessageRequest) *a2a.Task {
	t.Helper()
	got, err := c.SendMessage(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	task, ok := got.(*a2a.Task)
	if !ok {
		t.Fatalf("got %T", got)
	}
	return task
}

func history(messages []*a2a.Message) []string {
	var out []string
	for _, m := range messages {
		for _, p := range m.Parts {
			out = append(out, p.Text())
		}
	}
	return out
}

// testA2A speaks to the demo agent over the Agent2Agent protocol.
func testA2A(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("an agent card needs no token and can be cached", func(t *testing.T) {
		nobody := sys.Bearer(t, "", "")
		card := nobody.Get("/a2a/demo/.well-known/agent-card.json").Want(200)
		if got := card.Str("url"); got != sys.URL+"/a2a/demo" {
			t.Errorf("the card names %s", got)
		}
		for _, name := range []string{"ETag", "Last-Modified", "Cache-Control"} {
			if card.Header.Get(name) == "" {
				t.Errorf("no %s", name)
			}
		}
		nobody.Get("/a2a/demo/.well-known/agent-card.json", e2e.Header("If-None-Match", card.Header.Get("ETag"))).Want(304)
		nobody.Get("/.well-known/agent-card.json").Want(200)
		nobody.Get("/a2a/nobody/.well-known/agent-card.json").Want(404)
		refused := nobody.Post("/a2a/demo", e2e.M{"jsonrpc": "2.0", "method": "GetTask"}).Want(401)
		if got := refused.Header.Get("WWW-Authenticate"); got != "Bearer" {
			t.Errorf("the challenge is %q", got)
		}
	})
	testA2AVersions(t, sys, a2aVersions()[:1])
	t.Run("tasks in A2A form are saved, read and deleted", func(t *testing.T) { testA2ATasks(t, sys) })
}

// testOtherA2A tests the other versions and bindings.
func testOtherA2A(t *testing.T, sys *e2e.System) {
	t.Helper()
	testA2AVersions(t, sys, a2aVersions()[1:])
}

type a2aVersion struct {
	name    string
	binding a2a.TransportProtocol
	version a2a.ProtocolVersion
}

func a2aVersions() []a2aVersion {
	return []a2aVersion{
		{"1.0 over JSON-RPC", a2a.TransportProtocolJSONRPC, "1.0"},
		{"1.0 over HTTP+JSON", a2a.TransportProtocolHTTPJSON, "1.0"},
		{"0.3 over JSON-RPC", a2a.TransportProtocolJSONRPC, a2av0.Version},
		{"0.3 over HTTP+JSON", a2a.TransportProtocolHTTPJSON, a2av0.Version},
	}
}

func testA2AVersions(t *testing.T, sys *e2e.System, versions []a2aVersion) {
	t.Helper()
	t.Run("versions", func(t *testing.T) {
		for _, v := range versions {
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				testA2AVersion(t, sys, v.binding, v.version)
			})
		}
	})
	t.Run("a stream outlives the instance that serves it", func(t *testing.T) {
		other := sys.Another(t)      // so that no other streams break
		for _, v := range versions { // one after another, because they break each other's streams
			t.Run(v.name, func(t *testing.T) {
				testA2ACrash(t, other, mustDial(t, other, other.User(t, "alice"), v.binding, v.version))
			})
		}
	})
}

func testA2AVersion(t *testing.T, sys *e2e.System, binding a2a.TransportProtocol, version a2a.ProtocolVersion) {
	t.Helper()
	alice := sys.User(t, "alice")
	c := mustDial(t, sys, alice, binding, version)
	t.Run("a message starts a task, which can be read again", func(t *testing.T) {
		task := mustSend(t, c, say("", "hello"))
		if task.Status.State != a2a.TaskStateCompleted || !strings.Contains(artifactText(task), `You said: "hello"`) {
			t.Errorf("got %+v", task)
		}
		again, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID})
		if err != nil || artifactText(again) != artifactText(task) {
			t.Errorf("got %+v, %v", again, err)
		}
		if got := alice.Get(sessionPath(task.ContextID) + "/events").Want(200); len(got.List("data")) != 2 {
			t.Errorf("the session holds %s", got.Body)
		}
		bob := mustDial(t, sys, sys.User(t, "bob"), binding, version)
		if got, err := bob.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID}); err == nil {
			t.Errorf("another user reads %+v", got)
		}
	})
	t.Run("a stream adds up to the final task", func(t *testing.T) {
		first, text, last := mustStream(t, c.SendStreamingMessage(t.Context(), say("", "/long 40")))
		if last != a2a.TaskStateCompleted {
			t.Errorf("the stream ends %s", last)
		}
		task, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: first.ID})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(artifactText(task), text); diff != "" {
			t.Errorf("(-task +stream):\n%s", diff)
		}
	})
	t.Run("a working task can be subscribed to and cancelled", func(t *testing.T) {
		req := say("", "/long 2000")
		req.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
		task := mustSend(t, c, req)
		var last a2a.TaskState
		for event, err := range c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: task.ID}) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := event.(type) {
			case *a2a.Task:
				if _, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
					t.Fatal(err)
				}
			case *a2a.TaskStatusUpdateEvent:
				last = e.Status.State
			}
		}
		if last != a2a.TaskStateCanceled {
			t.Errorf("the stream ends %s", last)
		}
	})
	t.Run("an agent's question is answered in the same task", func(t *testing.T) {
		task := mustSend(t, c, say("", "/tool parcels"))
		if task.Status.State != a2a.TaskStateInputRequired {
			t.Fatalf("got %+v", task.Status)
		}
		req := say(task.ContextID, "thanks")
		req.Message.TaskID = task.ID
		answered := mustSend(t, c, req)
		if answered.ID != task.ID || answered.Status.State != a2a.TaskStateCompleted {
			t.Errorf("got %+v", answered)
		}
	})
	t.Run("a rewind is one completed task and survives a reload", func(t *testing.T) { testA2ARewind(t, alice, c) })
	t.Run("the inherited part of a fork is one completed task", func(t *testing.T) { testA2AFork(t, alice, c) })
	t.Run("tasks are listed by their contexts", func(t *testing.T) { testA2AList(t, c, binding, version) })
}

// testA2ARewind is seed 000: three messages, a rewind before the second, a reload,
// and another message.
func testA2ARewind(t *testing.T, u *e2e.User, c *a2aclient.Client) {
	t.Helper()
	contextID := uuid.NewString()
	var invocations []string
	var want []string
	for i, text := range []string{"one", "two", "three"} {
		task := mustSend(t, c, say(contextID, text))
		id, _ := task.History[0].Metadata["kagent_invocation_id"].(string)
		invocations = append(invocations, id)
		if i == 0 {
			want = history(task.History)
		}
	}
	back := say(contextID, "")
	back.Message.Metadata = map[string]any{rewindKey: invocations[1]}
	var got []*a2a.Task
	for event, err := range c.SendStreamingMessage(t.Context(), back) {
		if err != nil {
			t.Fatal(err)
		}
		if task, ok := event.(*a2a.Task); ok {
			got = append(got, task)
		}
	}
	if len(got) != 1 || got[0].Status.State != a2a.TaskStateCompleted {
		t.Fatalf("got %+v", got)
	}
	if diff := cmp.Diff(want, history(got[0].History)); diff != "" {
		t.Errorf("the history (-want +got):\n%s", diff)
	}
	for _, m := range got[0].History {
		if m.Metadata["kagent_invocation_id"] != invocations[0] {
			t.Errorf("a message of %v", m.Metadata)
		}
	}
	if diff := cmp.Diff(want, reload(t, u, contextID)); diff != "" {
		t.Errorf("after a reload (-want +got):\n%s", diff)
	}
	four := mustSend(t, c, say(contextID, "four"))
	if diff := cmp.Diff(append(want, history(four.History)...), reload(t, u, contextID)); diff != "" {
		t.Errorf("continued (-want +got):\n%s", diff)
	}
	back.Message.Metadata[rewindKey] = "nowhere"
	if failed := mustSend(t, c, back); failed.Status.State != a2a.TaskStateFailed || failed.Status.Message == nil {
		t.Errorf("got %+v", failed)
	}
	back.Message.Metadata[rewindKey] = invocations[0]
	if empty := mustSend(t, c, back); len(empty.History) != 0 {
		t.Errorf("got %+v", empty)
	}
	if got := reload(t, u, contextID); len(got) != 0 {
		t.Errorf("after a reload: %v", got)
	}
	if kept, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: a2a.TaskID(contextID)}); err != nil || len(kept.History) != 0 {
		t.Errorf("got %+v, %v", kept, err)
	}
}

// reload returns what a user interface shows that reads a session's tasks again.
func reload(t *testing.T, u *e2e.User, sessionID string) []string {
	t.Helper()
	var body struct {
		Data []struct {
			History []struct {
				Parts []struct {
					Text string `json:"text"`
				} `json:"parts"`
			} `json:"history"`
		} `json:"data"`
	}
	answer := u.Get("/api/sessions/" + sessionID + "/tasks").Want(200)
	if err := json.Unmarshal(answer.Body, &body); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, task := range body.Data {
		for _, m := range task.History {
			for _, p := range m.Parts {
				out = append(out, p.Text)
			}
		}
	}
	return out
}

func testA2ATasks(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := alice.Post(api+"/sessions", e2e.M{}).Want(201).Str("data.id")
	id := "task-" + uuid.NewString()
	task := e2e.M{
		"kind": "task", "id": id, "contextId": s, "status": e2e.M{"state": "completed"}, "metadata": e2e.M{"a": 1},
		"history": []e2e.M{{
			"kind": "message", "messageId": "m1", "role": "user", "contextId": s, "taskId": id,
			"parts": []e2e.M{{"kind": "text", "text": "hi"}},
		}},
		"artifacts": []e2e.M{{"artifactId": "a1", "parts": []e2e.M{{"kind": "text", "text": "out"}}}},
	}
	alice.Post("/api/tasks", task).Want(201)
	alice.Post("/api/tasks", task).Want(200)
	want, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	got := alice.Get("/api/tasks/" + id).Want(200)
	if diff := cmp.Diff(decoded(t, want), decoded(t, []byte(got.Raw("data")))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := reload(t, alice, s); len(got) != 1 || got[0] != "hi" {
		t.Errorf("listed are %v", got)
	}
	sys.User(t, "bob").Get("/api/tasks/" + id).Want(404)
	alice.Post("/api/tasks", e2e.M{"id": id}, e2e.Bad).Want(422)
	alice.Delete("/api/tasks/" + id).Want(200)
	alice.Get("/api/tasks/" + id).Want(404)
}

func decoded(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
