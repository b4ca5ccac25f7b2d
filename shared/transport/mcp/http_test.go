package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/mcp"
)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

func TestHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, test := range map[string]struct {
		method, token, body string
		header              map[string]string
		status              int
		contains            string // of the body
	}{
		"a call is answered as JSON": {status: 200, contains: `"tools":[`},
		"no token":                   {token: "-", status: 401, contains: "bearer token"},
		"GET":                        {method: http.MethodGet, status: 405, contains: "GET is not allowed"},
		"DELETE":                     {method: http.MethodDelete, status: 405, contains: "DELETE is not allowed"},
		"the allowed origin":         {header: map[string]string{"Origin": "https://app.example"}, status: 200},
		"another origin":             {header: map[string]string{"Origin": "https://evil.example"}, status: 403, contains: "evil.example"},
		"an origin without a name":   {header: map[string]string{"Origin": "null"}, status: 403},
		"the origin of the host": { // as after DNS rebinding
			header: map[string]string{"Origin": strings.TrimSuffix(r.url, "/mcp")}, status: 403,
		},
		"no version":                {header: map[string]string{"MCP-Protocol-Version": ""}, status: 200},
		"an unknown version":        {header: map[string]string{"MCP-Protocol-Version": "2020-01-01"}, status: 400, contains: "2025-06-18"},
		"a version with batches":    {header: map[string]string{"MCP-Protocol-Version": "2025-03-26"}, status: 400},
		"a batch":                   {body: "[" + listTools + "," + listTools + "]", status: 400, contains: `"code":-32600`},
		"a batch without a version": {body: "[" + listTools + "]", header: map[string]string{"MCP-Protocol-Version": ""}, status: 400},
		"no JSON":                   {body: "{", status: 400, contains: `"code":-32700`},
		"no body":                   {body: " ", status: 400},
		"another content type":      {header: map[string]string{"Content-Type": "text/plain"}, status: 415},
		"a body that is too large":  {body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`, status: 413},
		"a notification":            {body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, status: 202},
		"an unknown method":         {body: `{"jsonrpc":"2.0","id":"a","method":"nothing"}`, status: 200, contains: `"id":"a"`},
		"its code":                  {body: `{"jsonrpc":"2.0","id":1,"method":"nothing"}`, status: 200, contains: `"code":-32601`},
		"a call without params":     {body: `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, status: 200, contains: `"id":7`},
		"a call of params null":     {body: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":null}`, status: 200, contains: `"id":7`},
		"the code without params":   {body: `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, status: 200, contains: `"code":-32602`},
		"an id that is none":        {body: `{"jsonrpc":"2.0","id":[1],"method":"tools/list"}`, status: 400, contains: `"id":null`},
		"an unknown tool":           {body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing"}}`, status: 200, contains: `"code":-32602`},
		"arguments of null":         {body: listWith("null"), status: 200, contains: `"sessions":[]`},
		"arguments in an array":     {body: listWith("[1]"), status: 200, contains: `"isError":true`},
		"arguments in a text":       {body: listWith(`"limit"`), status: 200, contains: `"isError":true`},
		"a session id is ignored":   {header: map[string]string{"Mcp-Session-Id": "x"}, status: 200},
		"a stream of notifications": {body: listen, header: newest("subscriptions/listen"), status: 404, contains: "-32601"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method, token, body := http.MethodPost, alice, listTools
			if test.method != "" {
				method, body = test.method, ""
			}
			if test.token != "" {
				token = ""
			}
			if test.body != "" {
				body = test.body
			}
			got := r.post(t, method, token, body, test.header)
			if got.status != test.status || !strings.Contains(got.body, test.contains) {
				t.Errorf("got %d %s", got.status, got.body)
			}
			if challenge := got.header.Get("WWW-Authenticate"); strings.HasPrefix(challenge, "Bearer resource_metadata=") != (test.status == 401) {
				t.Errorf("the challenge is %q", challenge)
			}
			if allow := got.header.Get("Allow"); (allow == "POST") != (test.status == 405) {
				t.Errorf("allowed are %q", allow)
			}
			if kind := got.header.Get("Content-Type"); strings.Contains(kind, "event-stream") || got.header.Get("Mcp-Session-Id") != "" {
				t.Errorf("got %v", got.header)
			}
		})
	}
}

// listWith is a call of list_sessions.
func listWith(arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sessions","arguments":` + arguments + `}}`
}

const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}}}`

// newest are the headers of a call of the newest version.
func newest(method string) map[string]string {
	return map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
}

func TestTools(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got, err := r.connect(t, alice).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]bool{"fork_session": false, "rewind_session": true} // whether they are destructive
	var names []string
	for _, tool := range got.Tools {
		names = append(names, tool.Name)
		a := tool.Annotations
		destructive, changing := changes[tool.Name]
		if a == nil || a.ReadOnlyHint == changing || a.OpenWorldHint == nil || *a.OpenWorldHint || a.IdempotentHint ||
			changing && (a.DestructiveHint == nil || *a.DestructiveHint != destructive) {
			t.Errorf("%s is annotated with %+v", tool.Name, a)
		}
		if schema, ok := tool.InputSchema.(object); !ok || schema["type"] != "object" {
			t.Errorf("%s has the schema %v", tool.Name, tool.InputSchema)
		}
	}
	slices.Sort(names)
	want := "fork_session get_session list_artifacts list_sessions read_artifact read_session rewind_session search_sessions"
	if strings.Join(names, " ") != want {
		t.Errorf("the tools are %v", names)
	}
}

// broken fails, or panics, when a session is read.
type broken struct {
	session.Store
}

func (b broken) Get(_ context.Context, _, id string) (session.Session, error) {
	if id == "panics" {
		panic("secret")
	}
	return session.Session{}, errors.New("secret")
}

func TestFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *mcp.Config) { c.Sessions = broken{c.Sessions} })
	c := r.connect(t, alice)
	got := refused(t, c, "get_session", object{"session_id": "s"})
	if got["status"] != float64(http.StatusInternalServerError) || strings.Contains(got["detail"].(string), "secret") {
		t.Errorf("an error is answered with %v", got)
	}
	_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "get_session", Arguments: object{"session_id": "panics"}})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a panic is answered with %v", err)
	}
	if lines := r.log.String(); !strings.Contains(lines, "secret") || !strings.Contains(lines, "panic") {
		t.Errorf("the log has %s", lines)
	}
	must[sessionPage](t, c, "list_sessions", object{}) // the process goes on
}

// slow waits until the call is over.
type slow struct {
	session.Store

	begun chan struct{}
	over  chan error
}

func (s slow) Get(ctx context.Context, _, _ string) (session.Session, error) {
	close(s.begun)
	<-ctx.Done()
	s.over <- ctx.Err()
	return session.Session{}, ctx.Err()
}

// A call does not outlive its request, whatever the version of the protocol.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := slow{begun: make(chan struct{}), over: make(chan error, 1)}
			r := newRig(t, func(c *mcp.Config) { s.Store = c.Sessions; c.Sessions = s })
			ctx, cancel := context.WithCancel(t.Context())
			q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, strings.NewReader(
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_session","arguments":{"session_id":"s"}}}`))
			if err != nil {
				t.Fatal(err)
			}
			q.Header = http.Header{
				"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
				"Mcp-Protocol-Version": {version}, "Authorization": {"Bearer " + alice},
			}
			done := make(chan error, 1)
			go func() {
				got, err := http.DefaultClient.Do(q)
				if err == nil {
					err = got.Body.Close()
				}
				done <- err
			}()
			<-s.begun
			cancel()
			if err := <-s.over; !errors.Is(err, context.Canceled) {
				t.Errorf("the call ended with %v", err)
			}
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("the request ended with %v", err)
			}
		})
	}
}

// The structured result is JSON as the REST API has it.
func TestJSON(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(t, alice, "s", "<b>")
	body := r.post(t, http.MethodPost, alice,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_session","arguments":{"session_id":"s"}}}`, nil).body
	var got struct {
		Result struct {
			StructuredContent struct {
				Events []json.RawMessage `json:"events"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	page, err := r.store.Sessions.Events(t.Context(), alice, "s", session.EventQuery{View: session.Effective, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	var a, b object
	for into, raw := range map[*object][]byte{&a: got.Result.StructuredContent.Events[0], &b: marshal(t, page.Events[0])} {
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatal(err)
		}
	}
	if string(marshal(t, a)) != string(marshal(t, b)) {
		t.Errorf("got %v, want %v", a, b)
	}
}
