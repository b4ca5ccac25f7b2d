package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/coder/websocket"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// newParrot makes an agent that fails with the text of its input: with a status,
// or within its answer. It configures the system with the agent as "parrot".
func newParrot(t *testing.T) (env string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, err := io.ReadAll(r.Body)
		switch {
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
		case strings.Contains(string(asked), "/refuse"):
			w.WriteHeader(http.StatusBadRequest)
			_, err = w.Write(asked)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			_, err = fmt.Fprintf(w, "event: delta\ndata: {\"part\": 0, \"text\": \"I\"}\n\nevent: error\ndata: {\"message\": %q}\n\n", asked)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return fmt.Sprintf(`AGENTS={"parrot": {"type": "http", "url": %q}}`, server.URL)
}

// testLogs checks what functions log: one line per invocation that identifies its
// subject, and no content of users or agents.
func testLogs(t *testing.T, sys *e2e.System) {
	t.Helper()
	sys, record := sys.Recorded(t, newParrot(t), "METRICS=functions", "LOG_AGENT_ERRORS=false") // as deployed
	secret := "marker-" + uuid.NewString()
	alice := sys.User(t, "alice-"+uuid.NewString())
	session := mustCreate(t, alice, e2e.M{
		"id": "logged", "agent": "parrot", "name": secret, "metadata": e2e.M{"k": secret}, "state": e2e.M{"k": secret, "user:k": secret},
	})
	sayEverywhere(t, alice, session, secret)
	failEverywhere(t, alice, secret)
	runs := runEverywhere(t, sys, alice, session, secret)
	watchEverywhere(t, alice, session, secret)
	alice.Get(session + "/export").Want(200)
	alice.Delete(api+"/me/data").Want(200, 202)

	t.Run("logs one line per request", func(t *testing.T) {
		answer := alice.Get(session + "/thread?limit=1").Want(404) // everything has been erased
		id := answer.Header.Get("X-Request-Id")
		line := record.Until(t, "that the thread was asked for", func(l e2e.Line) bool {
			return l.Fields["msg"] == "served" && l.Fields["request_id"] == id
		})
		wanted := e2e.M{
			"level": "INFO", "route": "GET /sessions/{session_id}/thread", "session_id": "logged", "status": 404.0,
		}
		for name, want := range wanted {
			if line.Fields[name] != want {
				t.Errorf("%s is %v in %s", name, line.Fields[name], line.Text)
			}
		}
		if user, _ := line.Fields["user_id"].(string); len(user) != 16 {
			t.Errorf("the user is named by %q", user)
		}
	})
	for _, want := range []e2e.M{
		{"route": "POST /sessions", "session_id": "logged", "status": 201.0},
		{"route": "POST /sessions/{session_id}/runs", "session_id": "logged", "run_id": runs[2], "status": 202.0},
		{"route": "run", "session_id": "logged", "run_id": runs[2], "status": "done"},
		{"route": "subscribe", "session_id": "logged", "status": 200.0},
		{"route": "subscribe", "session_id": "nowhere", "status": 404.0},
		{"route": "GET /sessions/{session_id}/watch", "session_id": "logged", "status": 200.0},
		{"route": "GET /sessions/{session_id}/export", "session_id": "logged", "status": 200.0},
		{"route": "POST /a2a/{agent}", "agent": "demo", "status": 200.0},
		{"route": "deliveries", "status": "done"},
		{"route": "$connect"},
	} {
		t.Run(fmt.Sprint("a line has ", want), func(t *testing.T) {
			record.Until(t, fmt.Sprint(want), func(l e2e.Line) bool {
				for name, value := range want {
					if l.Fields[name] != value {
						return false
					}
				}
				return l.Fields["msg"] == "served"
			})
		})
	}
	for _, want := range []metrics.Name{
		metrics.Latency, metrics.ReadUnits, metrics.WriteUnits, metrics.RunsStarted, metrics.RunsCompleted, metrics.RunsFailed,
		metrics.RunDuration, metrics.TimeToFirstContent, metrics.Deliveries, metrics.DeliveriesDelayed,
	} {
		t.Run(fmt.Sprint("a line contains ", want), func(t *testing.T) {
			record.Until(t, string(want), func(l e2e.Line) bool { return l.Fields["_aws"] != nil && l.Fields[string(want)] != nil })
		})
	}
	t.Run("logs the kind of a run's failure", func(t *testing.T) {
		record.Until(t, "why the run failed", func(l e2e.Line) bool {
			return l.Fields["msg"] == "the run failed" && l.Fields["run_id"] == runs[0] && l.Fields["session_id"] == "logged" &&
				l.Fields["error"] == "agent_refused: the agent answered with status 400"
		})
	})
	t.Run("logs contain no content, tokens or names", func(t *testing.T) {
		hidden := []string{secret, alice.ID}
		hidden = append(hidden, strings.Split(alice.Token, ".")...)
		for _, l := range record.Lines() {
			for _, h := range hidden {
				if strings.Contains(l.Text, h) {
					t.Errorf("%q is in the log of %s: %s", h, l.Function, l.Text)
				}
			}
		}
	})
}

// sayEverywhere puts a secret into every kind of stored text.
func sayEverywhere(t *testing.T, alice *e2e.User, session, secret string) {
	t.Helper()
	said := event("turn", secret)
	said["actions"] = e2e.M{"state_delta": e2e.M{"k": secret, "app:k": secret}}
	alice.Post(session+"/events", e2e.M{"events": []e2e.M{said}}, e2e.Header("Idempotency-Key", secret)).Want(201)
	mustSave(t, alice, session, "task", secret)
	alice.Post(api+"/feedback", e2e.M{"taskId": "task", "feedbackType": "up", "feedbackText": secret}).Want(202)
	alice.Get(session + "/messages").Want(200)
	alice.Get(api + "/sessions?q=" + secret).Want(200)
	mustPut(t, alice, session+"/artifacts/note", "text/plain", []byte(secret))
	alice.Get(session + "/artifacts/note").Want(200)
	alice.Get(session + "/state").Want(200)
	alice.Post(session+"/fork", e2e.M{"name": secret}).Want(201)
	alice.Post(session+"/rewind", e2e.M{"rewind_before_invocation_id": "turn"}).Want(200)
}

// failEverywhere puts a secret into refused requests.
func failEverywhere(t *testing.T, alice *e2e.User, secret string) {
	t.Helper()
	alice.Send("POST", api+"/sessions", []byte(`{"name": "`+secret), e2e.Bad).Want(400)
	alice.Post(api+"/sessions", e2e.M{"name": 1, secret: secret}, e2e.Bad).Want(400, 422)
	alice.Post(sessionPath("logged")+"/events", e2e.M{"events": []e2e.M{{"author": secret, "content": secret}}}, e2e.Bad).Want(400, 422)
	alice.Post(sessionPath("logged")+"/tasks", e2e.M{"task_id": "bad", "message_bubbles": secret}, e2e.Bad).Want(400, 422)
	alice.Post(sessionPath("nowhere")+"/runs", e2e.M{"input": []e2e.M{says(secret)}}).Want(404, 422)
	alice.Send("POST", api+"/sessions/import", []byte(secret), e2e.Bad).Want(400, 415, 422)
}

// runEverywhere calls agents with a secret, and returns the runs: one that was
// refused and one that failed midway, both with the agent's words, and one that
// succeeded.
func runEverywhere(t *testing.T, sys *e2e.System, alice *e2e.User, session, secret string) []string {
	t.Helper()
	var runs []string
	for _, text := range []string{"/refuse " + secret, secret} {
		_, run := mustRun(t, alice, session, text, nil)
		mustEnd(t, alice, session, run, "failed")
		runs = append(runs, run)
	}
	_, run := mustRun(t, alice, session, secret, e2e.M{"agent": "demo"})
	mustEnd(t, alice, session, run, "completed")
	runs = append(runs, run)

	r := newInbox(t, 500)
	req := say("", secret)
	req.Config = &a2a.SendMessageConfig{
		ReturnImmediately: true, PushConfig: &a2a.PushConfig{URL: r.url + "/?token=" + secret, Token: secret},
	}
	mustSend(t, mustDial(t, sys, alice, a2a.TransportProtocolJSONRPC, "1.0"), req)
	r.mustUpTo(t, "TASK_STATE_COMPLETED")
	return runs
}

// mustEnd waits until a run has ended with the status.
func mustEnd(t *testing.T, u *e2e.User, session, run, status string) {
	t.Helper()
	var got string
	waitFor(t, func() bool {
		got = u.Get(session + "/runs/" + run).Want(200).Str("data.status")
		return got != "in_progress"
	})
	if got != status {
		t.Fatalf("the run has %s", got)
	}
}

// watchEverywhere watches a session with a secret, and sends the secret to the
// functions for watchers.
func watchEverywhere(t *testing.T, alice *e2e.User, session, secret string) {
	t.Helper()
	socket := alice.Socket()
	socket.Send(e2e.M{"action": "subscribe", "session_id": "logged", "request_id": "good"})
	socket.Answer("good")
	socket.Send(e2e.M{"action": "subscribe", "session_id": "nowhere", "request_id": "bad"})
	socket.Answer("bad")
	socket.SendRaw(websocket.MessageText, []byte(secret))
	socket.Until(func(f e2e.Frame) bool { return f.Type == "error" })
	events := alice.Watch(session, url.Values{})
	events.Next()
	events.Close()
	alice.Get(session+"/watch?token="+secret, e2e.Header("Authorization", ""), e2e.Bad).Want(401)
}
