package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/pick"
)

// ask returns the status that a caller gets.
func ask(t *testing.T, sys *e2e.System, c caller, s *scene, name string, r route) int {
	t.Helper()
	method, path, _ := strings.Cut(name, " ")
	if method == "websocket" {
		return askSocket(t, sys, c, s, path)
	}
	var content any
	if r.body != nil {
		content = r.body(s)
	}
	if strings.HasSuffix(path, "/watch") {
		return askStream(t, sys, c, s.address(r, path))
	}
	opts := slices.Clone(r.opts)
	if r.kind != "" {
		opts = append(opts, e2e.Header("Content-Type", r.kind))
	}
	if strings.HasPrefix(path, "/a2a/") {
		opts = append(opts, e2e.Header("A2A-Version", "1.0"))
	}
	if c.right == noToken {
		opts = append(opts, e2e.Bad)
	}
	answer := c.Send(method, s.address(r, path), content, opts...)
	if path == "/a2a/{agent}" {
		return statusOfRPC(t, answer)
	}
	return answer.Status
}

// statusOfRPC is the HTTP status that corresponds to a JSON-RPC error. A busy
// context is no refusal.
func statusOfRPC(t *testing.T, answer *e2e.Answer) int {
	t.Helper()
	code, err := pick.Raw(answer.Body, "error.code")
	if answer.Status != http.StatusOK || err != nil {
		return answer.Status
	}
	switch string(code) {
	case "-32004":
		return http.StatusOK
	case "-32001":
		return http.StatusNotFound
	}
	return http.StatusForbidden
}

// askStream requests a stream and disconnects after its first byte.
func askStream(t *testing.T, sys *e2e.System, c caller, path string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), e2e.Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, sys.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if c.Named != "" {
		req.Header.Set("Rethread-User", url.PathEscape(c.Named))
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()                        //nolint:errcheck // nothing is lost
	_, _ = io.ReadFull(res.Body, make([]byte, 1)) // the body may be empty
	return res.StatusCode
}

// askSocket opens a connection and, for the route of all actions, subscribes.
func askSocket(t *testing.T, sys *e2e.System, c caller, s *scene, key string) int {
	t.Helper()
	query := url.Values{}
	if c.Token != "" {
		query.Set("token", c.Token)
	}
	if c.Named != "" {
		query.Set("user", c.Named)
	}
	socket, status := sys.Dial(t, query, nil)
	if socket == nil {
		return status
	}
	if key != "$default" {
		return http.StatusSwitchingProtocols
	}
	socket.Send(e2e.M{"action": "subscribe", "session_id": s.session, "request_id": "r"})
	answer := socket.Answer("r")
	socket.Send(e2e.M{"action": "unsubscribe", "session_id": s.session, "request_id": "u"})
	if answer.Type == "error" {
		return statusOf(t, answer)
	}
	return http.StatusOK
}

// mustDo has an A2A task completed in a session and returns its id.
func mustDo(t *testing.T, c *e2e.User, session string) string {
	t.Helper()
	got := c.Post("/a2a/demo", e2e.M{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": e2e.M{
		"message": e2e.M{"messageId": "m", "role": "ROLE_USER", "contextId": session, "parts": []e2e.M{{"text": "hello"}}},
	}}, e2e.Off, e2e.Header("A2A-Version", "1.0")).Want(200)
	return got.Str("result.task.id")
}

// waitFor polls until done reports true.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), e2e.Patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the condition never holds")
		}
	}
}

// statusOf is the status of an error over a websocket.
func statusOf(t *testing.T, f e2e.Frame) int {
	t.Helper()
	raw, err := pick.Raw(f.Text, "error.status")
	if err != nil {
		raw, err = pick.Raw(f.Text, "status")
	}
	var status int
	if err != nil || json.Unmarshal(raw, &status) != nil {
		t.Fatalf("an error without a status: %s", f.Text)
	}
	return status
}
