package upgrade_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/domain/run"
)

// tasks are tasks with versions and feedback, and deleted ones.
func (w *teller) tasks() {
	w.create(`{"id":"tasks","agent":"data_analyst"}`)
	for i := range 6 {
		id := fmt.Sprint("task-", i)
		w.task("tasks", id, "first", http.StatusCreated)
		w.task("tasks", id, "second", http.StatusOK)
	}
	for i, kind := range []string{"up", "down", "up"} {
		w.feedback(alice, "tasks", fmt.Sprint("task-", i), kind)
	}
	w.send(http.StatusNoContent, http.MethodDelete, "/sessions/tasks/tasks/task-5", "")
	fork := w.fork("tasks", `{}`)
	w.task("tasks", "task-2", "changed after the fork", http.StatusOK)
	w.feedback(alice, fork, "task-3", "down")
}

// shared are shares by name and by link, in all their states.
func (w *teller) shared() {
	w.says(w.create(`{"id":"shared"}`), "s-1", `{}`)
	share := func(body string) (id, token string) {
		made := read[one[struct{ ID, Token string }]](w.t, w.post(http.StatusCreated, "/sessions/shared/shares", body)).Data
		return made.ID, made.Token
	}
	accept := func(user, token string) {
		w.must(http.StatusOK, request{user: user, method: http.MethodPost, path: "/shares/accept", body: fmt.Sprintf(`{"token":%q}`, token)})
	}
	share(`{"access":"write","user_id":"bob"}`)
	_, w.story.IDs["token"] = share(`{"access":"read","expires_in":864000}`)
	accept(carol, w.story.IDs["token"])
	accept("erin", w.story.IDs["token"])
	w.must(http.StatusNoContent, request{user: "erin", method: http.MethodDelete, path: "/sessions/shared/access"})
	revoked, token := share(`{"access":"write"}`)
	accept(carol, token)
	w.send(http.StatusNoContent, http.MethodDelete, "/sessions/shared/shares/"+revoked, "")
	share(`{"access":"read","expires_in":60}`)
	w.must(http.StatusCreated, request{
		user: bob, method: http.MethodPost, path: "/sessions/shared/events",
		body: `{"events":[{"invocation_id":"s-2","author":"user","content":{"parts":[{"text":"From a guest"}]}}]}`,
	})
	w.must(http.StatusCreated, request{
		user: bob, method: http.MethodPost, path: "/sessions/shared/tasks",
		body: `{"task_id":"guest-task","message_bubbles":[{"id":"b","type":"agent","text":"of a guest"}]}`,
	})
	w.feedback(bob, "shared", "guest-task", "up")
	w.must(http.StatusCreated, request{
		user: bob, method: http.MethodPut, path: "/sessions/shared/artifacts/guest.txt", body: "of a guest", header: map[string]string{"Content-Type": "text/plain"},
	})
}

// moved are imports: complete ones, one under way, one that was abandoned.
func (w *teller) moved() {
	for _, id := range []string{"rewound", "files", w.story.IDs["f3"]} {
		doc := w.get("/sessions/" + id + "/export")
		w.post(http.StatusCreated, "/sessions/import?id=copy-"+id, string(doc))
	}
	w.keyedPost("/sessions/import", "import-1",
		`{"format":"tasks/1","name":"Sales","tasks":[{"task_id":"t-1","user_message":"What?","message_bubbles":[{"id":"b1","type":"agent","text":"1,204 units."}]}]}`)
	w.post(http.StatusCreated, "/sessions/import?id=adk",
		`{"id":"adk-session","appName":"sales","userId":"somebody","state":{"region":"EMEA"},"events":[{"id":"e1","invocationId":"inv-1","author":"user","timestamp":1735776000.25,"content":{"role":"user","parts":[{"text":"What did we sell?"}]}},{"id":"e2","invocationId":"inv-1","author":"analyst","timestamp":1735776001.5,"content":{"role":"model","parts":[{"text":"1,204 units."}]},"actions":{"stateDelta":{"units":1204}}}]}`)
	begins := func(user, id string) string {
		return read[one[struct {
			ImportID string `json:"import_id"`
		}]](w.t, w.must(http.StatusAccepted, request{
			user: user, method: http.MethodPost, path: "/sessions/import?id=" + id, body: `{"format":"rethread.session/1","session":{"id":"parts","status":"idle","metadata":{},"head_seq":1,"epoch":0},"timeline":[{"from":1}],"events":[{"id":"e1","seq":1,"invocation_id":"inv-1","author":"user","created_time":1735776000250,"content":{"role":"user","parts":[{"text":"Hello"}]}}]}`,
		})).Data.ImportID
	}
	w.send(http.StatusNoContent, http.MethodDelete, "/sessions/import/"+begins(alice, "abandoned"), "")
	w.story.IDs["import"] = begins(carol, "carol-parts")
	w.story.IDs["lastpart"] = `{"format":"rethread.session/1","state":{"session":{},"user":{},"app":{},"artifacts":{}},"complete":true}`
	w.must(http.StatusCreated, request{user: dora, method: http.MethodPost, path: "/sessions", body: `{"id":"doras","state":{"user:a":1}}`})
	w.must(http.StatusOK, request{user: dora, method: http.MethodDelete, path: "/me/data"})
	w.must(http.StatusCreated, request{user: dora, method: http.MethodPost, path: "/sessions", body: `{"id":"doras-new"}`})
}

// agents are runs that ended, in all ways.
func (w *teller) agents() {
	w.create(`{"id":"runs","agent":"helper"}`)
	for i := range 3 {
		w.begin("runs", fmt.Sprint("Question ", i), "")
		w.work(w.t)
	}
	w.begin("runs", "One", "")
	w.begin("runs", "and two", `,"on_active":"cancel_and_merge"`)
	w.begin("runs", "for later", `,"on_active":"enqueue"`)
	w.runs = w.runs[1:] // a worker was lost before it claimed
	w.work(w.t)
	w.create(`{"id":"failed","agent":"failing"}`)
	w.begin("failed", "Can you?", "")
	w.work(w.t)
	w.begin("failed", "Try again", "")
	w.work(w.t)
	w.create(`{"id":"kept","agent":"failing"}`)
	w.begin("kept", "Can you?", "")
	w.work(w.t)
	w.begin("kept", "Go on", `,"on_failed":"keep"`)
	w.work(w.t)
	w.create(`{"id":"cancelled","agent":"data_analyst"}`)
	cancelled := w.begin("cancelled", "Stop", `,"mode":"external"`)
	w.push("cancelled", cancelled, "c-item", "As far as")
	w.post(http.StatusOK, "/sessions/cancelled/runs/"+cancelled+"/cancel", "")
	w.create(`{"id":"external","agent":"data_analyst"}`)
	for i, status := range []string{"completed", "failed"} {
		id := w.begin("external", "External", `,"mode":"external"`)
		for k := range 4 {
			w.push("external", id, fmt.Sprint("answer-", i), fmt.Sprintf("Piece %d. ", k))
		}
		if status == "completed" {
			w.post(http.StatusCreated, "/sessions/external/runs/"+id+"/events", fmt.Sprintf(`{"events":[{"id":"answer-%d","content":{"role":"model","parts":[{"text":"Whole."}]},"actions":{"state_delta":{"done":true}}}]}`, i))
		}
		w.send(http.StatusOK, http.MethodPatch, "/sessions/external/runs/"+id, fmt.Sprintf(`{"status":%q}`, status))
	}
	w.create(`{"id":"expired","agent":"data_analyst"}`)
	w.story.IDs["expiredrun"] = w.begin("expired", "Nobody comes", `,"mode":"external"`)
	w.push("expired", w.story.IDs["expiredrun"], "expired-item", "And then")
}

// a2a calls the agent "helper" over A2A.
func (w *teller) a2aCall(method, params string) map[string]any {
	w.t.Helper()
	body := w.must(http.StatusOK, request{
		user: alice, method: http.MethodPost, path: "/a2a/helper", header: map[string]string{"A2A-Version": "1.0"},
		body: fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params),
	})
	answer := read[struct{ Result, Error map[string]any }](w.t, body)
	if answer.Error != nil {
		w.t.Fatalf("%s %s: %s", method, params, body)
	}
	return answer.Result
}

// protocols are tasks over A2A, with push configurations, and a run that a front end
// has not shown.
func (w *teller) protocols() {
	send := func(id, more, config string) (task, session string) {
		result := w.a2aCall("SendMessage", fmt.Sprintf(
			`{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"Hello"}]%s},"configuration":{"returnImmediately":true%s}}`, id, more, config))
		sent, ok := result["task"].(map[string]any)
		if !ok {
			w.t.Fatalf("no task: %v", result)
		}
		return fmt.Sprint(sent["id"]), fmt.Sprint(sent["contextId"])
	}
	task, session := send("m-1", "", `,"taskPushNotificationConfig":{"id":"inline","url":"https://push.example/inline"}`)
	w.work(w.t)
	for _, config := range []string{
		`"id":"basic","url":"https://push.example/basic","token":"secret","authentication":{"scheme":"Basic","credentials":"YTpi"}`,
		`"id":"plain","url":"https://push.example/plain"`,
	} {
		w.a2aCall("CreateTaskPushNotificationConfig", fmt.Sprintf(`{"taskId":%q,%s}`, task, config))
	}
	w.settle()
	w.story.IDs["a2atask2"], _ = send("m-2", fmt.Sprintf(`,"contextId":%q`, session), "")
	w.work(w.t)
	w.story.IDs["a2atask"], w.story.IDs["a2acontext"] = task, session
	if _, err := w.keys.Public(w.t.Context()); err != nil { // it creates the keys that sign
		w.t.Fatal(err)
	}
	w.must(http.StatusCreated, request{
		user: alice, method: http.MethodPost, path: "/api/tasks", header: map[string]string{"A2A-Version": "1.0"},
		body: fmt.Sprintf(`{"id":"saved","contextId":%q,"status":{"state":"TASK_STATE_COMPLETED"}}`, session),
	})
	if err := w.store.Watching.NoteUnseen(w.t.Context(), "runs", "a-run"); err != nil {
		w.t.Fatal(err)
	}
}

// last leaves the system in the middle of its work.
func (w *teller) last() {
	ctx := w.t.Context()
	w.pass(2 * time.Minute) // the lease of the expired run is over
	w.create(`{"id":"open","agent":"data_analyst"}`)
	w.story.IDs["openrun"] = w.begin("open", "Stream", `,"mode":"external"`)
	for i := range 6 {
		w.push("open", w.story.IDs["openrun"], "open-item", fmt.Sprintf("Part %d. ", i))
	}
	w.create(`{"id":"claimed","agent":"helper"}`)
	w.story.IDs["claimedrun"] = w.begin("claimed", "Work", "")
	if _, err := w.store.Runs.Claim(ctx, w.runs[len(w.runs)-1], run.Claimant{Worker: "of the old version"}); err != nil {
		w.t.Fatal(err)
	}
	w.runs = nil
	w.create(`{"id":"queued","agent":"helper"}`)
	w.story.IDs["queuedrun"] = w.begin("queued", "Wait", "")
	w.begin("queued", "behind it", `,"on_active":"enqueue"`)
	w.create(`{"id":"kept-open"}`)
	for user, connection := range map[string]string{alice: "conn-alice", bob: "conn-bob", carol: "conn-left", "root": "conn-admin"} {
		scope := ""
		if user == "root" {
			scope = adminScope
		}
		w.say(w.t, user, scope, connection, `{"action":"subscribe","session_id":"shared"}`)
		if user == alice || user == "root" {
			w.say(w.t, user, scope, connection, `{"action":"subscribe","session_id":"runs"}`)
		}
	}
	for _, subject := range []string{"one", "two"} {
		if _, err := w.store.Usage.TakeStream(ctx, quota.Stream{UserID: alice, Subject: subject, Lasting: time.Hour}); err != nil {
			w.t.Fatal(err)
		}
	}
	parked := ""
	for _, k := range w.stored(w.t) {
		if strings.HasPrefix(k.PK, "DL#") && strings.HasPrefix(k.SK, "P#") {
			parked = k.PK
		}
	}
	if parked == "" {
		w.t.Fatal("no delivery is parked")
	}
	w.story.IDs["parked"] = parked
	w.says("plain", "last", `{}`)
	w.task("plain", "last-task", "the last", http.StatusCreated)
	w.feedback(alice, "plain", "last-task", "down")
	w.dispatch() // and nobody delivers
	w.story.Time = w.now().UnixMilli()
}

// waiting are the messages of the queues.
func (w *teller) waiting() (all []message) {
	for _, d := range w.queue {
		all = append(all, message{"deliveries", mustJSON(w.t, d)})
	}
	for _, wake := range w.wakes {
		all = append(all, message{"wakes", wake})
	}
	for _, ref := range w.runs {
		body, err := json.Marshal(ref)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, message{"runs", body})
	}
	return all
}
