package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// mcpToken sends a token with each request.
type mcpToken string

func (m mcpToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(m))
	return http.DefaultTransport.RoundTrip(r)
}

// overMCP connects the official client in Go.
func overMCP(t *testing.T, sys *e2e.System, token string) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: sys.URL + "/mcp", HTTPClient: &http.Client{Transport: mcpToken(token)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() }) // the system may be gone
	return session
}

// useTool calls a tool; out gets its result, or its problem if the tool refuses.
func useTool(t *testing.T, c *sdk.ClientSession, tool string, args e2e.M, out any) (refused bool) {
	t.Helper()
	got, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Errorf("%s %v: %v", tool, args, err)
		return true
	}
	raw, err := json.Marshal(got.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		t.Errorf("%s %v: %v in %s", tool, args, err, raw)
	}
	return got.IsError
}

type mcpPage struct {
	Events []struct {
		Invocation string `json:"invocation_id"`
	}
	Artifacts []struct{ URI string }
	Next      string `json:"next_cursor"`
	Undo      string `json:"undo_before_invocation_id"`
	Status    int
	Session   struct{ ID string }
	Sessions  []struct{ ID string }
}

// testMCP uses the system over the Model Context Protocol with the official client.
func testMCP(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
	c := overMCP(t, sys, alice.Token)
	guest := overMCP(t, sys, bob.Token)
	t.Run("a long session is read in pages, forked and rewound, and the rewind undone", func(t *testing.T) {
		path := mustCreate(t, alice, nil)
		id := strings.TrimPrefix(path, sessionPath(""))
		for i := range 3 {
			var events []e2e.M
			for j := range 100 {
				events = append(events, event(fmt.Sprintf("inv-%d", i*100+j), strings.Repeat("word ", 100)))
			}
			alice.Post(path+"/events", e2e.M{"events": events}).Want(201)
		}
		if n := countOverMCP(t, c, id, 300/50); n != 300 {
			t.Errorf("%d events are read", n)
		}
		var forked, rewound mcpPage
		useTool(t, c, "fork_session", e2e.M{"session_id": id, "rewind_before_invocation_id": "inv-10"}, &forked)
		if n := countOverMCP(t, c, forked.Session.ID, 1); n != 10 {
			t.Errorf("the fork has %d events", n)
		}
		useTool(t, c, "rewind_session", e2e.M{"session_id": id, "rewind_before_invocation_id": "inv-20"}, &rewound)
		if n := countOverMCP(t, c, id, 1); n != 20 {
			t.Errorf("the rewound session has %d events", n)
		}
		useTool(t, c, "rewind_session", e2e.M{"session_id": id, "rewind_before_invocation_id": rewound.Undo}, &rewound)
		if n := countOverMCP(t, c, id, 1); n != 300 {
			t.Errorf("the undone session has %d events", n)
		}
	})
	t.Run("two callers rewind at the same instant", func(t *testing.T) {
		path := mustCreate(t, alice, nil)
		id := strings.TrimPrefix(path, sessionPath(""))
		alice.Post(path+"/events", e2e.M{"events": []e2e.M{event("i1", "1"), event("i2", "2"), event("i3", "3")}}).Want(201)
		alice.Post(path+"/shares", e2e.M{"access": "write", "user_id": bob.ID}).Want(201)
		var both sync.WaitGroup
		for before, caller := range map[string]*sdk.ClientSession{"i2": c, "i3": guest} {
			both.Go(func() {
				var done mcpPage
				if useTool(t, caller, "rewind_session", e2e.M{"session_id": id, "rewind_before_invocation_id": before}, &done) {
					t.Errorf("the rewind before %s is refused: %+v", before, done)
				}
			})
		}
		both.Wait()
		if epoch := alice.Get(path).Want(200).Int("data.epoch"); epoch != 2 {
			t.Errorf("the epoch is %d", epoch)
		}
	})
	t.Run("a rewind cancels a run only if it is asked to", func(t *testing.T) {
		path := mustCreate(t, alice, nil)
		run := alice.Post(path+"/runs", e2e.M{"mode": "external", "agent": "demo", "input": []e2e.M{says("hello")}}).Want(202).Str("data.run.id")
		args := e2e.M{"session_id": strings.TrimPrefix(path, sessionPath("")), "rewind_before_invocation_id": run}
		var got mcpPage
		if !useTool(t, c, "rewind_session", args, &got) || got.Status != 409 {
			t.Errorf("the run is no conflict: %+v", got)
		}
		args["cancel_run"] = true
		if useTool(t, c, "rewind_session", args, &got) {
			t.Errorf("the run is not cancelled: %+v", got)
		}
	})
	t.Run("what others may see and do is as over REST", func(t *testing.T) {
		path := mustCreate(t, alice, nil)
		id := strings.TrimPrefix(path, sessionPath(""))
		alice.Post(path+"/events", e2e.M{"events": []e2e.M{event("i1", "1")}}).Want(201)
		var got mcpPage
		if !useTool(t, guest, "read_session", e2e.M{"session_id": id}, &got) || got.Status != 404 {
			t.Errorf("a foreign session is answered with %+v", got)
		}
		alice.Post(path+"/shares", e2e.M{"access": "read", "user_id": bob.ID}).Want(201)
		if useTool(t, guest, "read_session", e2e.M{"session_id": id}, &got) {
			t.Errorf("a reader may not read: %+v", got)
		}
		if useTool(t, guest, "list_sessions", e2e.M{"shared": true}, &got); len(got.Sessions) == 0 {
			t.Error("what is shared is not listed")
		}
		if !useTool(t, guest, "rewind_session", e2e.M{"session_id": id, "rewind_before_invocation_id": "i1"}, &got) || got.Status != 403 {
			t.Errorf("a reader rewinds: %+v", got)
		}
	})
	t.Run("artifacts are resources, up to 3 MiB", func(t *testing.T) { testMCPArtifacts(t, alice, c) })
	t.Run("a client without a token finds the issuer", func(t *testing.T) {
		nobody := sys.Bearer(t, "nobody", "")
		for path, resource := range map[string]string{"": sys.URL, "/mcp": sys.URL + "/mcp"} {
			const wellKnown = "/.well-known/oauth-protected-resource"
			got := nobody.Get(wellKnown + path).Want(200)
			if got.Str("resource") != resource || got.Str("scopes_supported.0") != "openid" {
				t.Errorf("%s: got %s", path, got.Body)
			}
			found, err := oauthex.GetProtectedResourceMetadata(t.Context(), sys.URL+wellKnown+path, resource, http.DefaultClient)
			if err != nil || !slices.Equal(found.AuthorizationServers, []string{sys.URL + "/dev"}) {
				t.Errorf("%s: the official client finds %+v, %v", path, found, err)
			}
		}
	})
	t.Run("the HTTP layer", func(t *testing.T) {
		accept := e2e.Header("Accept", "application/json, text/event-stream")
		list := e2e.M{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
		if got := alice.Post("/mcp", list, accept).Want(200); got.Str("result.tools.0.name") == "" {
			t.Errorf("got %s", got.Body)
		}
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			if got := alice.Send(method, "/mcp", nil).Want(405); got.Header.Get("Allow") != "POST" {
				t.Errorf("%s allows %q", method, got.Header.Get("Allow"))
			}
		}
		if got := sys.Bearer(t, "nobody", "").Post("/mcp", list, accept).Want(401); !strings.HasPrefix(got.Header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("the challenge is %q", got.Header.Get("WWW-Authenticate"))
		}
	})
}

func testMCPExpiry(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice, list := sys.User(t, "alice"), &sdk.CallToolParams{Name: "list_sessions"}
	short, err := host.TokenFor(t.Context(), sys.URL, alice.ID, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	c := overMCP(t, sys, short)
	if _, err := c.CallTool(t.Context(), list); err != nil {
		t.Error(err)
	}
	sys.Advance(t, time.Hour)
	if _, err := c.CallTool(t.Context(), list); err == nil {
		t.Error("the expired token is accepted")
	}
	if _, err := overMCP(t, sys, alice.Token).CallTool(t.Context(), list); err != nil {
		t.Error(err)
	}
}

// countOverMCP reads all pages of a session and returns the number of its events.
func countOverMCP(t *testing.T, c *sdk.ClientSession, id string, leastPages int) int {
	t.Helper()
	events, pages, args := 0, 0, e2e.M{"session_id": id}
	for {
		var page mcpPage
		if useTool(t, c, "read_session", args, &page) {
			t.Fatalf("%s is not read: %+v", id, page)
		}
		events, pages = events+len(page.Events), pages+1
		if page.Next == "" {
			break
		}
		args["cursor"] = page.Next
	}
	if pages < leastPages {
		t.Errorf("%d pages, want at least %d", pages, leastPages)
	}
	return events
}

func testMCPArtifacts(t *testing.T, alice *e2e.User, c *sdk.ClientSession) {
	t.Helper()
	path := mustCreate(t, alice, nil)
	id := strings.TrimPrefix(path, sessionPath(""))
	kind := e2e.Header("Content-Type", "application/octet-stream")
	for name, size := range map[string]int{"largest": 3 << 20, "larger": 3<<20 + 1} {
		alice.Send(http.MethodPut, path+"/artifacts/"+name, make([]byte, size), kind).Want(201)
	}
	var listed mcpPage
	useTool(t, c, "list_artifacts", e2e.M{"session_id": id}, &listed)
	if len(listed.Artifacts) != 2 {
		t.Fatalf("got %+v", listed)
	}
	for _, a := range listed.Artifacts {
		got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: a.URI})
		switch {
		case strings.HasSuffix(a.URI, "/larger"):
			if err == nil || !strings.Contains(err.Error(), "3 MiB") {
				t.Errorf("what is too large: %v", err)
			}
		case err != nil || len(got.Contents) != 1 || len(got.Contents[0].Blob) != 3<<20:
			t.Errorf("what is just not too large: %v", err)
		}
	}
	all, err := c.ListResources(t.Context(), nil)
	if err != nil || len(all.Resources) < 2 {
		t.Errorf("the resources are %+v, %v", all, err)
	}
}
