package a2a_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/transport/a2a"
)

// pushServer is a server that stores push configurations.
type pushServer struct {
	store   *stores.Store
	server  *httptest.Server
	handler http.Handler
}

func newPushServer(t *testing.T) *pushServer {
	t.Helper()
	h := &pushServer{store: stores.New(storetest.Engine(t))}
	config, own := configOf(h.store)
	config.StartRun = func(context.Context, run.Ref) error { return nil }
	own.Push, own.CheckURL = h.store.Pushes, func(url string) error {
		if !strings.HasPrefix(url, "https://") {
			return errors.New("must be https")
		}
		return nil
	}
	handler := a2a.New(config, own)
	h.handler = handler
	h.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(access.WithCaller(r.Context(), access.Caller{UserID: r.Header.Get("X-User"), Token: "token"})))
	}))
	t.Cleanup(h.server.Close)
	return h
}

// as authenticates requests as a user.
type as string

func (u as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-User", string(u))
	return http.DefaultTransport.RoundTrip(r)
}

func (h *pushServer) mustDial(t *testing.T, user string, binding lib.TransportProtocol, version lib.ProtocolVersion) *a2aclient.Client {
	t.Helper()
	hc := &http.Client{Transport: as(user)}
	c, err := a2aclient.NewFactory(
		a2aclient.WithJSONRPCTransport(hc), a2aclient.WithRESTTransport(hc),
		a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: hc}),
		a2av0.WithRESTTransport(a2av0.RESTTransportConfig{Client: hc}),
	).CreateFromEndpoints(t.Context(), []*lib.AgentInterface{
		{URL: h.server.URL + "/a2a/helper", ProtocolBinding: binding, ProtocolVersion: version},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mustTask begins a task.
func (h *pushServer) mustTask(t *testing.T, c *a2aclient.Client, config *lib.PushConfig) *lib.Task {
	t.Helper()
	req := &lib.SendMessageRequest{
		Message: lib.NewMessage(lib.MessageRoleUser, lib.NewTextPart("hello")),
		Config:  &lib.SendMessageConfig{ReturnImmediately: true, PushConfig: config},
	}
	got, err := c.SendMessage(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	begun, ok := got.(*lib.Task)
	if !ok {
		t.Fatalf("got %T", got)
	}
	return begun
}

func configIDs(configs []*lib.PushConfig) string {
	var out []string
	for _, c := range configs {
		out = append(out, c.ID)
	}
	return strings.Join(out, " ")
}

func TestPushConfigs(t *testing.T) {
	h := newPushServer(t)
	for _, v := range []struct {
		binding lib.TransportProtocol
		version lib.ProtocolVersion
	}{
		{lib.TransportProtocolJSONRPC, "1.0"},
		{lib.TransportProtocolHTTPJSON, "1.0"},
		{lib.TransportProtocolJSONRPC, a2av0.Version},
		{lib.TransportProtocolHTTPJSON, a2av0.Version},
	} {
		t.Run(fmt.Sprintf("%s over %s", v.version, v.binding), func(t *testing.T) {
			c := h.mustDial(t, alice, v.binding, v.version)
			is := errors.Is
			if v.binding == lib.TransportProtocolHTTPJSON && v.version == a2av0.Version {
				is = func(err, _ error) bool { return err != nil } // the client does not distinguish errors
			}
			t.Run("sets, reads, lists and deletes configurations", func(t *testing.T) { testPushConfigs(t, h, c, is) })
			t.Run("accepts a configuration with the message", func(t *testing.T) {
				begun := h.mustTask(t, c, &lib.PushConfig{ID: "mine", URL: "https://example.com/"})
				got, err := h.store.Pushes.Configs(t.Context(), receiver.PushTask{UserID: alice, SessionID: begun.ContextID, ID: string(begun.ID)})
				want := []receiver.PushConfig{{ID: "mine", URL: "https://example.com/", Version: minor(v.version)}}
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
			t.Run("refuses a message with an invalid configuration", func(t *testing.T) {
				_, err := c.SendMessage(t.Context(), &lib.SendMessageRequest{
					Message: lib.NewMessage(lib.MessageRoleUser, lib.NewTextPart("hello")),
					Config:  &lib.SendMessageConfig{PushConfig: &lib.PushConfig{URL: "http://10.0.0.1/"}},
				})
				if !is(err, lib.ErrInvalidParams) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func minor(version lib.ProtocolVersion) string {
	return strings.Join(strings.Split(string(version), ".")[:2], ".")
}

func testPushConfigs(t *testing.T, h *pushServer, c *a2aclient.Client, is func(err, target error) bool) {
	t.Helper()
	id := h.mustTask(t, c, nil).ID
	config := &lib.PushConfig{
		TaskID: id, URL: "https://example.com/hook", Token: "mine", Auth: &lib.PushAuthInfo{Scheme: "Basic", Credentials: "secret"},
	}
	first, err := c.CreateTaskPushConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	want := *config
	want.ID, want.Auth = first.ID, &lib.PushAuthInfo{Scheme: "Basic"} // credentials are not returned
	if diff := cmp.Diff(&want, first); diff != "" || first.ID == "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again, err := c.CreateTaskPushConfig(t.Context(), config); err != nil || again.ID != first.ID {
		t.Errorf("a repeated request returns %+v, %v", again, err)
	}
	second := *config
	second.ID, second.URL = "0", "https://example.com/other"
	if _, err := c.CreateTaskPushConfig(t.Context(), &second); err != nil {
		t.Fatal(err)
	}
	got, err := c.GetTaskPushConfig(t.Context(), &lib.GetTaskPushConfigRequest{TaskID: id, ID: first.ID})
	if diff := cmp.Diff(&want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	listed, err := c.ListTaskPushConfigs(t.Context(), &lib.ListTaskPushConfigRequest{TaskID: id})
	if got := configIDs(listed); err != nil || got != "0 "+first.ID {
		t.Errorf("listed %s, %v", got, err)
	}
	for range 2 {
		if err := c.DeleteTaskPushConfig(t.Context(), &lib.DeleteTaskPushConfigRequest{TaskID: id, ID: first.ID}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.GetTaskPushConfig(t.Context(), &lib.GetTaskPushConfigRequest{TaskID: id, ID: first.ID}); !is(err, lib.ErrTaskNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := c.ListTaskPushConfigs(t.Context(), &lib.ListTaskPushConfigRequest{TaskID: "none"}); !is(err, lib.ErrTaskNotFound) {
		t.Errorf("of an unknown task: %v", err)
	}
	for name, bad := range map[string]*lib.PushConfig{
		"no URL":                       {TaskID: id},
		"a forbidden URL":              {TaskID: id, URL: "http://example.com/"},
		"a token of two lines":         {TaskID: id, URL: config.URL, Token: "a\nb"},
		"credentials without a scheme": {TaskID: id, URL: config.URL, Auth: &lib.PushAuthInfo{Credentials: "a"}},
		"an id with a slash":           {TaskID: id, URL: config.URL, ID: "a/b"},
	} {
		if _, err := c.CreateTaskPushConfig(t.Context(), bad); !is(err, lib.ErrInvalidParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPushConfigLimits(t *testing.T) {
	h := newPushServer(t)
	c := h.mustDial(t, alice, lib.TransportProtocolJSONRPC, "1.0")
	id := h.mustTask(t, c, nil).ID
	t.Run("hides tasks of other users", func(t *testing.T) {
		eve := h.mustDial(t, "eve", lib.TransportProtocolJSONRPC, "1.0")
		_, err := eve.CreateTaskPushConfig(t.Context(), &lib.PushConfig{TaskID: id, URL: "https://example.com/"})
		if !errors.Is(err, lib.ErrTaskNotFound) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("pages lists and limits their number", func(t *testing.T) {
		for i := range receiver.MaxPushConfigs {
			config := &lib.PushConfig{TaskID: id, ID: fmt.Sprint(i), URL: "https://example.com/"}
			if _, err := c.CreateTaskPushConfig(t.Context(), config); err != nil {
				t.Fatal(err)
			}
		}
		_, err := c.CreateTaskPushConfig(t.Context(), &lib.PushConfig{TaskID: id, ID: "more", URL: "https://example.com/"})
		if !errors.Is(err, lib.ErrUnsupportedOperation) {
			t.Errorf("one configuration too many: %v", err)
		}
		page, err := c.ListTaskPushConfigs(t.Context(), &lib.ListTaskPushConfigRequest{TaskID: id, PageSize: 3, PageToken: "4"})
		if got := configIDs(page); err != nil || got != "5 6 7" {
			t.Errorf("got %s, %v", got, err)
		}
		if _, err := c.ListTaskPushConfigs(t.Context(), &lib.ListTaskPushConfigRequest{TaskID: id, PageSize: 101}); !errors.Is(err, lib.ErrInvalidParams) {
			t.Errorf("a page size above the limit: %v", err)
		}
	})
	t.Run("stores none for a task that cannot begin", func(t *testing.T) {
		begun := h.mustTask(t, c, nil)
		req := &lib.SendMessageRequest{
			Message: lib.NewMessage(lib.MessageRoleUser, lib.NewTextPart("again")),
			Config:  &lib.SendMessageConfig{PushConfig: &lib.PushConfig{ID: "x", URL: "https://example.com/"}},
		}
		req.Message.ContextID = begun.ContextID
		if _, err := c.SendMessage(t.Context(), req); !errors.Is(err, lib.ErrUnsupportedOperation) {
			t.Errorf("got %v", err)
		}
		links, err := h.store.Tasks.UserLinks(t.Context(), alice)
		if err != nil || len(links) != 2 {
			t.Errorf("%v, %v", links, err)
		}
	})
	t.Run("refuses configurations if push is not offered", func(t *testing.T) {
		got := ask(t, http.MethodPost, "/a2a/helper",
			`{"jsonrpc":"2.0","id":1,"method":"ListTaskPushNotificationConfigs","params":{"taskId":"t"}}`,
			http.Header{"A2a-Version": {"1.0"}})
		if code := rpcCode(t, got.Body.Bytes()); code != -32003 {
			t.Errorf("got %s", got.Body)
		}
	})
}

// TestPushConfigWithoutID reads a task's only configuration without an id, as
// version 0.3 allows.
func TestPushConfigWithoutID(t *testing.T) {
	h := newPushServer(t)
	c := h.mustDial(t, alice, lib.TransportProtocolJSONRPC, a2av0.Version)
	begun := h.mustTask(t, c, &lib.PushConfig{URL: "https://example.com/"})
	got, err := c.GetTaskPushConfig(t.Context(), &lib.GetTaskPushConfigRequest{TaskID: begun.ID})
	if err != nil || got.URL != "https://example.com/" {
		t.Errorf("got %+v, %v", got, err)
	}
	now := h.mustDial(t, alice, lib.TransportProtocolJSONRPC, "1.0")
	if _, err := now.GetTaskPushConfig(t.Context(), &lib.GetTaskPushConfigRequest{TaskID: begun.ID}); !errors.Is(err, lib.ErrInvalidParams) {
		t.Errorf("got %v", err)
	}
}
