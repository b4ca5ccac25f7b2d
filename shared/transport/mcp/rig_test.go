package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/transport/mcp"
)

const alice, bob = "alice", "bob"

// rig is a server over a store of its own.
type rig struct {
	engine table.Engine
	store  *stores.Store
	url    string
	log    *lines
}

// lines collects the log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newRig starts a server; change may wrap its stores.
func newRig(t testing.TB, change ...func(*mcp.Config)) *rig {
	t.Helper()
	r := &rig{engine: storetest.Engine(t), log: &lines{}}
	log := slog.New(slog.NewTextHandler(r.log, nil))
	r.store = stores.New(r.engine, stores.WithCodec(storetest.Codec()), stores.WithLogger(log))
	c := mcp.Config{
		Sessions: r.store.Sessions, Rewinds: r.store.History, Artifacts: r.store.Artifacts, Shares: r.store.Shares, Grants: r.store.Shares,
		AllowedOrigin: "https://app.example", Log: log, Now: time.Now, NewID: uuid.NewString,
	}
	for _, do := range change {
		do(&c)
	}
	handler, err := mcp.New(c)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		// What the gateway does: it says how it was called, and a token is "user scope".
		if q.Header.Get("X-Forwarded-Proto") == "" {
			q.Header.Set("X-Forwarded-Proto", "http")
		}
		user, scope, _ := strings.Cut(strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer "), " ")
		handler.ServeHTTP(w, q.WithContext(access.WithCaller(q.Context(), access.Caller{UserID: user, Admin: scope == "support", ChangesApp: true})))
	}))
	t.Cleanup(server.Close)
	r.url = server.URL + "/mcp"
	return r
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// connect returns the official client of a user.
func (r *rig) connect(t testing.TB, token string) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: r.url, HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

type object = map[string]any

// call calls a tool, and returns its result as it is.
func call(t testing.TB, c *sdk.ClientSession, tool string, args object) *sdk.CallToolResult {
	t.Helper()
	got, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	return got
}

// must calls a tool that has to succeed, and returns the structured result, which must be
// the same as the text.
func must[T any](t testing.TB, c *sdk.ClientSession, tool string, args object) (out T) {
	t.Helper()
	got := call(t, c, tool, args)
	if got.IsError {
		t.Fatalf("%s %v: %s", tool, args, text(got))
	}
	var again T
	for into, raw := range map[*T][]byte{&out: marshal(t, got.StructuredContent), &again: []byte(text(got))} {
		if err := json.Unmarshal(raw, into); err != nil {
			t.Fatalf("%s: %v in %s", tool, err, raw)
		}
	}
	if a, b := marshal(t, out), marshal(t, again); !bytes.Equal(a, b) {
		t.Errorf("%s is structured as %s, and as text %s", tool, a, b)
	}
	return out
}

// refused calls a tool that has to fail, and returns the problem.
func refused(t testing.TB, c *sdk.ClientSession, tool string, args object) object {
	t.Helper()
	got := call(t, c, tool, args)
	if !got.IsError {
		t.Fatalf("%s %v was not refused: %s", tool, args, text(got))
	}
	problem, ok := got.StructuredContent.(object)
	if !ok { // the SDK's own refusal
		return object{"detail": text(got), "status": float64(http.StatusUnprocessableEntity)}
	}
	if problem["detail"] != text(got) {
		t.Errorf("%s is refused with %v, and the text %q", tool, problem, text(got))
	}
	return problem
}

func text(r *sdk.CallToolResult) string {
	if len(r.Content) == 0 {
		return ""
	}
	c, ok := r.Content[0].(*sdk.TextContent)
	if !ok {
		return ""
	}
	return c.Text
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// create creates a session with turns: turn i is the invocation "i<i>" with one event.
func (r *rig) create(t testing.TB, user, id string, turns ...string) {
	t.Helper()
	if _, err := r.store.Sessions.Create(t.Context(), session.New{ID: id, UserID: user, AppName: session.DefaultApp, Name: "Session " + id, Nonce: uuid.NewString()}); err != nil {
		t.Fatal(err)
	}
	for i, said := range turns {
		r.say(t, user, id, "i"+string(rune('1'+i)), said)
	}
}

func (r *rig) say(t testing.TB, user, id, invocation, said string) {
	t.Helper()
	content, err := jsonx.Marshal(object{"parts": []object{{"text": said}}})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = r.store.Sessions.Append(t.Context(), session.Append{SessionID: id, UserID: user, Events: []session.Event{{
		InvocationID: invocation, Author: "user", Fields: map[string]json.RawMessage{"content": content},
	}}})
	if err != nil {
		t.Fatal(err)
	}
}

// setState appends an event of alice's that changes the state.
func (r *rig) setState(t testing.TB, id, invocation, delta string) {
	t.Helper()
	e, err := session.ParseEvent(json.RawMessage(`{"invocation_id":"`+invocation+`","author":"user","actions":{"state_delta":`+delta+`}}`), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.store.Sessions.Append(t.Context(), session.Append{SessionID: id, UserID: alice, Events: []session.Event{e}}); err != nil {
		t.Fatal(err)
	}
}

// share gives bob a right in one of alice's sessions, and returns the share's id.
func (r *rig) share(t testing.TB, id string, right access.Right) string {
	t.Helper()
	made, err := r.store.Shares.Share(t.Context(), access.NewShare{
		ID: uuid.NewString(), SessionID: id, OwnerID: alice, UserID: bob, Right: right,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

func (r *rig) put(t testing.TB, id, name, mimeType string, body []byte) {
	t.Helper()
	if _, err := r.store.Artifacts.PutArtifact(t.Context(), artifact.Put{
		SessionID: id, UserID: alice, Name: name, MimeType: mimeType, Body: body,
	}); err != nil {
		t.Fatal(err)
	}
}

// answer is what the server answers without the official client.
type answer struct {
	status int
	header http.Header
	body   string
}

// post sends a body without the official client.
func (r *rig) post(t testing.TB, method, token, body string, header map[string]string) answer {
	t.Helper()
	q, err := http.NewRequestWithContext(context.Background(), method, r.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25",
	} {
		q.Header.Set(name, value)
	}
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	for name, value := range header {
		q.Header.Set(name, value)
	}
	got, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := got.Body.Close(); err != nil {
			t.Error(err)
		}
	}()
	raw, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{got.StatusCode, got.Header, string(raw)}
}
