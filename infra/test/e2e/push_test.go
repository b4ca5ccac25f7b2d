package e2e_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/e2e"
)

// inbox is a client's server for notifications. It answers according to a
// script, and then with 204.
type inbox struct {
	url  string
	come chan posted

	mu     sync.Mutex
	script []int
}

// posted is one request.
type posted struct {
	header http.Header
	body   []byte
	answer int
}

func newInbox(t *testing.T, script ...int) *inbox {
	t.Helper()
	r := &inbox{come: make(chan posted, 1000), script: script}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// ServeHTTP implements http.Handler.
func (r *inbox) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	answer := http.StatusNoContent
	if len(r.script) > 0 {
		answer, r.script = r.script[0], r.script[1:]
	}
	r.mu.Unlock()
	w.WriteHeader(answer)
	r.come <- posted{header: req.Header, body: body, answer: answer}
}

// mustNext waits for the next notification.
func (r *inbox) mustNext(t *testing.T) posted {
	t.Helper()
	timeout := time.NewTimer(e2e.Patience)
	defer timeout.Stop()
	select {
	case n := <-r.come:
		return n
	case <-timeout.C:
		t.Fatal("no notification arrives")
		return posted{}
	}
}

// mustUpTo collects the accepted notifications, up to one that contains end.
func (r *inbox) mustUpTo(t *testing.T, end string) []posted {
	t.Helper()
	var all []posted
	for {
		n := r.mustNext(t)
		if n.answer < 300 {
			all = append(all, n)
		}
		if n.answer < 300 && bytes.Contains(n.body, []byte(end)) {
			return all
		}
	}
}

// verify checks a signature as a receiver should, and as Google's samples do.
func verify(t *testing.T, sys *e2e.System, url string, n posted, taskID string) {
	t.Helper()
	var keys jose.JSONWebKeySet
	answer := sys.Bearer(t, "", "").Get("/a2a/.well-known/jwks.json").Want(200)
	if err := json.Unmarshal(answer.Body, &keys); err != nil {
		t.Fatal(err)
	}
	token, err := jwt.ParseSigned(n.header.Get("X-A2A-Notification-Signature"), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	var claims jwt.Claims
	var more struct {
		TaskID string `json:"taskId"`
		Digest string `json:"request_body_sha256"`
	}
	if err := token.Claims(keys, &claims, &more); err != nil {
		t.Fatalf("the signature: %v", err)
	}
	if err := claims.Validate(jwt.Expected{
		Issuer: sys.URL + "/a2a", AnyAudience: jwt.Audience{url}, Time: time.Now(),
	}); err != nil || claims.ID == "" {
		t.Errorf("the claims %+v: %v", claims, err)
	}
	if sum := sha256.Sum256(n.body); more.TaskID != taskID || more.Digest != hex.EncodeToString(sum[:]) {
		t.Errorf("the signed claims are %+v", more)
	}
}

// kinds lists the kinds of notifications of version 1.0.
func kinds(t *testing.T, all []posted) []string {
	t.Helper()
	var out []string
	for _, n := range all {
		var r a2a.StreamResponse
		if err := json.Unmarshal(n.body, &r); err != nil {
			t.Fatalf("%v: %s", err, n.body)
		}
		switch e := r.Event.(type) {
		case *a2a.Task:
			out = append(out, "task "+string(e.Status.State))
		case *a2a.TaskStatusUpdateEvent:
			out = append(out, "status "+string(e.Status.State))
		case *a2a.TaskArtifactUpdateEvent:
			out = append(out, "artifact "+e.Artifact.Parts[0].Text())
		}
	}
	return out
}

// testPush checks push notifications of A2A, from the agent's output to the
// receiver.
func testPush(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	c := mustDial(t, sys, alice, a2a.TransportProtocolJSONRPC, "1.0")
	begin := func(t *testing.T, c *a2aclient.Client, text string, config *a2a.PushConfig) *a2a.Task {
		t.Helper()
		req := say("", text)
		req.Config = &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: config}
		return mustSend(t, c, req)
	}
	t.Run("sends a task's notifications in order, signed, with retries", func(t *testing.T) {
		t.Parallel()
		r := newInbox(t, 500, 503)
		task := begin(t, c, "hello", &a2a.PushConfig{URL: r.url, Token: "mine"})
		all := r.mustUpTo(t, "TASK_STATE_COMPLETED")
		var said string
		for _, n := range all {
			verify(t, sys, r.url, n, string(task.ID))
			if n.header.Get("Content-Type") != "application/a2a+json" || n.header.Get("X-A2A-Notification-Token") != "mine" ||
				n.header.Get("Authorization") != "Bearer "+n.header.Get("X-A2A-Notification-Signature") {
				t.Errorf("headers %v", n.header)
			}
		}
		got := kinds(t, all)
		for i, kind := range got {
			if text, ok := strings.CutPrefix(kind, "artifact "); ok {
				said, got[i] = text, "artifact"
			}
		}
		if diff := cmp.Diff([]string{"task TASK_STATE_WORKING", "artifact", "status TASK_STATE_COMPLETED"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if whole, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID}); err != nil || artifactText(whole) != said {
			t.Errorf("the text is %q, %v", said, err)
		}
	})
	t.Run("version 0.3 receives the task, with the receiver's credentials", func(t *testing.T) {
		t.Parallel()
		old := mustDial(t, sys, alice, a2a.TransportProtocolJSONRPC, a2av0.Version)
		r := newInbox(t)
		task := begin(t, old, "hello", &a2a.PushConfig{
			URL: r.url, Auth: &a2a.PushAuthInfo{Scheme: "Basic", Credentials: "YTpi"},
		})
		var states []string
		for _, n := range r.mustUpTo(t, `"state":"completed"`) {
			verify(t, sys, r.url, n, string(task.ID))
			var got struct {
				Kind   string `json:"kind"`
				ID     string `json:"id"`
				Status struct {
					State string `json:"state"`
				} `json:"status"`
			}
			if err := json.Unmarshal(n.body, &got); err != nil || got.Kind != "task" || got.ID != string(task.ID) {
				t.Errorf("%v: %s", err, n.body)
			}
			if n.header.Get("Authorization") != "Basic YTpi" {
				t.Errorf("headers %v", n.header)
			}
			states = append(states, got.Status.State)
		}
		if diff := cmp.Diff([]string{"working", "working", "completed"}, states); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("notifies of a continued task, and of its cancellation while it waits for input", func(t *testing.T) {
		t.Parallel()
		r := newInbox(t)
		task := begin(t, c, "/tool parcels", &a2a.PushConfig{URL: r.url})
		r.mustUpTo(t, "TASK_STATE_INPUT_REQUIRED")
		other := begin(t, c, "/tool parcels", &a2a.PushConfig{URL: r.url})
		r.mustUpTo(t, "TASK_STATE_INPUT_REQUIRED")
		req := say(task.ContextID, "thanks")
		req.Message.TaskID = task.ID
		mustSend(t, c, req)
		for _, n := range r.mustUpTo(t, "TASK_STATE_COMPLETED") {
			verify(t, sys, r.url, n, string(task.ID))
		}
		if _, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: other.ID}); err != nil {
			t.Fatal(err)
		}
		all := r.mustUpTo(t, "TASK_STATE_CANCELED")
		verify(t, sys, r.url, all[len(all)-1], string(other.ID))
	})
	t.Run("notifies the owner of the result of a guest's message", func(t *testing.T) {
		t.Parallel()
		r := newInbox(t)
		owner, guest := sys.User(t, "owner"), sys.User(t, "guest")
		task := begin(t, mustDial(t, sys, owner, a2a.TransportProtocolJSONRPC, "1.0"), "/tool parcels", &a2a.PushConfig{URL: r.url})
		owner.Post(sessionPath(task.ContextID)+"/shares", e2e.M{"access": "write", "user_id": guest.ID}).Want(201)
		r.mustUpTo(t, "TASK_STATE_INPUT_REQUIRED")
		req := say(task.ContextID, "thanks")
		req.Message.TaskID = task.ID
		mustSend(t, mustDial(t, sys, guest, a2a.TransportProtocolJSONRPC, "1.0"), req)
		for _, n := range r.mustUpTo(t, "TASK_STATE_COMPLETED") {
			verify(t, sys, r.url, n, string(task.ID))
		}
	})
	t.Run("stops notifying a deleted receiver", func(t *testing.T) {
		t.Parallel()
		gone, stays := newInbox(t, 410), newInbox(t)
		task := begin(t, c, "/tool parcels", &a2a.PushConfig{ID: "gone", URL: gone.url})
		if _, err := c.CreateTaskPushConfig(t.Context(), &a2a.PushConfig{TaskID: task.ID, ID: "stays", URL: stays.url}); err != nil {
			t.Fatal(err)
		}
		gone.mustNext(t)
		waitFor(t, func() bool {
			now, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID})
			return err == nil && now.Status.State == a2a.TaskStateInputRequired
		})
		req := say(task.ContextID, "thanks")
		req.Message.TaskID = task.ID
		mustSend(t, c, req)
		stays.mustUpTo(t, "TASK_STATE_COMPLETED")
		configs, err := c.ListTaskPushConfigs(t.Context(), &a2a.ListTaskPushConfigRequest{TaskID: task.ID})
		if err != nil || len(configs) != 1 || configs[0].ID != "stays" {
			t.Errorf("%+v, %v", configs, err)
		}
		if n := len(gone.come); n > 0 {
			t.Errorf("it got %d more notifications", n)
		}
	})
	t.Run("refuses addresses of private networks", func(t *testing.T) {
		t.Parallel()
		for _, url := range []string{"https://10.0.0.1/", "https://169.254.169.254/", "https://router.local/", "ftp://example.com/"} {
			req := say("", "hello")
			req.Config = &a2a.SendMessageConfig{PushConfig: &a2a.PushConfig{URL: url}}
			if got, err := c.SendMessage(t.Context(), req); err == nil {
				t.Errorf("%s: %+v", url, got)
			}
		}
	})
}
