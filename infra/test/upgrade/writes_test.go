package upgrade_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/domain/run"
)

const alice, bob, carol, dora = "alice", "bob", "carol", "dora"

// Fewer fail the test.
const minWrites, minRequests, minDelivered = 1400, 3900, 18

// writer continues in an old table, and counts its operations.
type writer struct {
	*system
	t                *testing.T
	story            story
	writes, requests int
}

// TestWrites checks that users of the old version can continue with the new one,
// with all of their data.
func TestWrites(t *testing.T) {
	t.Parallel()
	each(t, testWrites)
}

func testWrites(t *testing.T, of kept) {
	t.Helper()
	items, messages, at := of.items(t), mustRead[message](t, of, "messages.jsonl.zst"), of.story(t)
	w := &writer{newSystem(t, items, at.now(), 1), t, at, 0, 0}
	w.goesOnWithRuns()
	w.takesOverQueues(messages)
	for _, id := range w.sessions(alice) {
		t.Run(id, func(t *testing.T) {
			one := &writer{w.system, t, at, 0, 0}
			one.goesOn(id)
			w.writes, w.requests = w.writes+one.writes, w.requests+one.requests
		})
	}
	w.goesOnWithTheRest()
	w.deletes()
	if said := w.said.String(); strings.Contains(said, "level=ERROR") {
		t.Errorf("the log: %.2000s", said)
	}
	done := fmt.Sprintf("%d writes among %d requests, %d deliveries", w.writes, w.requests, len(w.posted))
	if w.writes < minWrites || w.requests < minRequests || len(w.posted) < minDelivered {
		t.Errorf("%s; want %d, %d and %d", done, minWrites, minRequests, minDelivered)
	}
	t.Logf("%d items, %d messages of queues, %s", len(items), len(messages), done)
}

// must sends a request, a second after the last, and requires the status.
func (w *writer) must(status int, r request) []byte {
	w.t.Helper()
	w.pass(time.Second)
	w.requests++
	got := w.do(w.t, r)
	if got.Code != status {
		w.t.Fatalf("%s %s %s %.200s: got %d %.600s, want %d", r.user, r.method, r.path, r.body, got.Code, got.Body, status)
	}
	if r.method != http.MethodGet {
		w.writes++
	}
	return got.Body.Bytes()
}

func (w *writer) get(path string) []byte {
	w.t.Helper()
	return w.must(http.StatusOK, request{user: alice, method: http.MethodGet, path: path})
}

func (w *writer) post(status int, path, body string) []byte {
	w.t.Helper()
	return w.must(status, request{user: alice, method: http.MethodPost, path: path, body: body})
}

func (w *writer) send(status int, method, path, body string) {
	w.t.Helper()
	w.must(status, request{user: alice, method: method, path: path, body: body})
}

// read decodes an answer.
func read[T any](t testing.TB, body []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v: %.300s", err, body)
	}
	return v
}

type one[T any] struct {
	Data T `json:"data"`
}

type named struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Status       string `json:"status"`
	TaskID       string `json:"task_id"`
	InvocationID string `json:"invocation_id"`
	Version      int    `json:"version"`
}

// sessions are the sessions that a user owns.
func (w *writer) sessions(user string) (ids []string) {
	w.t.Helper()
	body := w.must(http.StatusOK, request{user: user, method: http.MethodGet, path: "/sessions?limit=1000"})
	for _, s := range read[one[[]named]](w.t, body).Data {
		ids = append(ids, s.ID)
	}
	return ids
}

// takesOverQueues handles the messages and waiting deliveries of the old version.
func (w *writer) takesOverQueues(messages []message) {
	queues := map[string][]json.RawMessage{}
	for _, m := range messages {
		queues[m.Queue] = append(queues[m.Queue], m.Message)
	}
	for _, job := range queues["runs"] {
		ref := read[boot.Job](w.t, job).Ref
		if err := boot.Runner(w.worker())(w.t.Context(), ref); err != nil {
			w.t.Fatal(err)
		}
		if got := read[one[named]](w.t, w.get("/sessions/"+ref.SessionID+"/runs/"+ref.RunID)).Data; got.Status != string(run.Completed) {
			w.t.Errorf("the run that waited is %s", got.Status)
		}
		if _, err := w.next(w.t.Context(), ref.UserID, ref.SessionID); err != nil {
			w.t.Error(err)
		}
	}
	w.deliver(w.t, w.mail(w.t, queues["deliveries"], true))
	w.work(w.t) // runs that automations started
	waited := w.parked(w.t)
	w.wakes = append(w.wakes, queues["wakes"]...)
	for round := 0; len(w.wakes) > 0 && round < 50; round++ {
		wakes := w.wakes
		w.wakes = nil
		w.pass(time.Minute)
		w.deliver(w.t, w.mail(w.t, wakes, false))
	}
	w.work(w.t) // runs of automations whose delivery had to wait
	if left := w.parked(w.t); waited < 8 || left > 0 || len(w.posted) < waited {
		w.t.Errorf("%d deliveries waited, %d wait still, %d were sent", waited, left, len(w.posted))
	}
	for name, least := range map[string]int{"runs": 1, "deliveries": 4, "wakes": 4} {
		if len(queues[name]) < least {
			w.t.Errorf("%d messages for %s, want %d", len(queues[name]), name, least)
		}
	}
}

// goesOnWithRuns finishes the item in progress, and ends the active runs. A run
// with an expired lease has failed.
func (w *writer) goesOnWithRuns() {
	if got := read[one[named]](w.t, w.get("/sessions/expired/runs/"+w.story.IDs["expiredrun"])).Data; got.Status != string(run.Failed) {
		w.t.Errorf("the run whose lease is out is %s", got.Status)
	}
	open := "/sessions/open/runs/" + w.story.IDs["openrun"]
	before := read[one[struct{ Items []json.RawMessage }]](w.t, w.get("/sessions/open/thread")).Data.Items
	w.post(http.StatusOK, open+"/deltas", `{"item_id":"open-item","deltas":[{"part":0,"text":"And the new version goes on."}]}`)
	after := read[one[struct{ Items []json.RawMessage }]](w.t, w.get("/sessions/open/thread")).Data.Items
	last := string(after[len(after)-1])
	if len(after) != len(before) || !strings.Contains(last, "Part 5") || !strings.Contains(last, "And the new version goes on.") {
		w.t.Errorf("the item in progress is %.2000s", last)
	}
	w.post(http.StatusCreated, open+"/events", `{"events":[{"id":"open-item","content":{"role":"model","parts":[{"text":"Whole."}]},"actions":{"state_delta":{"finished":true}}}]}`)
	w.send(http.StatusOK, http.MethodPatch, open, `{"status":"completed"}`)
	w.post(http.StatusOK, "/sessions/claimed/runs/"+w.story.IDs["claimedrun"]+"/cancel", "")
}

// goesOn writes everything that can be written in one session.
func (w *writer) goesOn(id string) {
	path := "/sessions/" + url.PathEscape(id)
	before := w.shown(path)
	w.post(http.StatusCreated, path+"/events", `{"events":[`+
		`{"invocation_id":"upgrade","author":"user","content":{"role":"user","parts":[{"text":"Still there?"}]}},`+
		`{"invocation_id":"upgrade","author":"helper","content":{"role":"model","parts":[{"text":"Yes."}]},"actions":{"state_delta":{"here":true,"user:here":true,"app:here":true}}}]}`)
	if got := w.shown(path); len(got) != len(before)+2 {
		w.t.Errorf("%d events, and 2 make %d", len(before), len(got))
	}
	w.rewinds(path)
	w.forks(path, id)
	w.saves(path)
	w.stores(path)
	w.patches(path)
	w.post(http.StatusAccepted, path+"/runs", `{"input":[{"content":{"parts":[{"text":"Work"}]}}],"agent":"helper"}`)
	w.work(w.t)
	thread := read[one[struct{ Status string }]](w.t, w.get(path+"/thread")).Data
	if thread.Status != "idle" {
		w.t.Errorf("after a run the session is %s", thread.Status)
	}
	w.moves(path, id)
}

// shown returns the effective events, as answered, page by page.
func (w *writer) shown(path string) (all []json.RawMessage) {
	w.t.Helper()
	for cursor := ""; ; {
		page := read[struct {
			Data []json.RawMessage
			Meta struct {
				Next *string `json:"next_cursor"`
			}
		}](w.t, w.get(path+"/events?limit=1000"+cursor))
		if all = append(all, page.Data...); page.Meta.Next == nil {
			return all
		}
		cursor = "&cursor=" + url.QueryEscape(*page.Meta.Next)
	}
}

// rewinds rewinds before the new events, then before an event in the middle of the
// log, and undoes that.
func (w *writer) rewinds(path string) {
	w.t.Helper()
	all := read[one[[]named]](w.t, w.get(path+"/events?view=all&limit=1000")).Data
	for _, before := range []string{"upgrade", all[len(all)/2].InvocationID, all[0].InvocationID} {
		was, state := w.shown(path), w.get(path+"/state")
		body := w.post(http.StatusOK, path+"/rewind", fmt.Sprintf(`{"rewind_before_invocation_id":%q,"scopes":["session"]}`, before))
		marker := read[one[struct{ Event named }]](w.t, body).Data.Event
		w.post(http.StatusOK, path+"/rewind", fmt.Sprintf(`{"rewind_before_invocation_id":%q,"scopes":["session"]}`, marker.InvocationID))
		if diff := cmp.Diff(texts(was), texts(w.shown(path))); diff != "" {
			w.t.Errorf("a rewind before %s, undone (-want +got):\n%s", before, diff)
		}
		if got := w.get(path + "/state"); !bytes.Equal(got, state) {
			w.t.Errorf("the state after a rewind before %s, undone: %s, want %s", before, got, state)
		}
	}
}

func texts(all []json.RawMessage) (out []string) {
	for _, one := range all {
		out = append(out, string(one))
	}
	return out
}

// forks forks a whole session and continues in the fork.
func (w *writer) forks(path, id string) {
	w.t.Helper()
	made := read[one[named]](w.t, w.post(http.StatusCreated, path+"/fork", `{"name":"after the upgrade"}`)).Data.ID
	for _, route := range []string{"/messages", "/state"} {
		want, got := w.get(path+route), w.get("/sessions/"+made+route)
		if route == "/state" && !bytes.Equal(got, want) {
			w.t.Errorf("the fork's %s: %s, want %s", route, got, want)
		}
	}
	if want, got := len(w.shown(path)), len(w.shown("/sessions/"+made)); got != want {
		w.t.Errorf("the fork of %s shows %d events, want %d", id, got, want)
	}
	w.post(http.StatusCreated, "/sessions/"+made+"/events", `{"events":[{"invocation_id":"other","author":"user"}]}`)
}

// saves changes each task, and gives feedback on it.
func (w *writer) saves(path string) {
	w.t.Helper()
	tasks := read[struct{ Tasks []named }](w.t, w.get(path+"/tasks?limit=1000")).Tasks
	for _, task := range tasks {
		w.post(http.StatusOK, path+"/tasks", fmt.Sprintf(
			`{"task_id":%q,"message_bubbles":[{"id":"b","type":"agent","text":"changed after the upgrade"}],"task_metadata":{"status":"changed"}}`, task.TaskID))
		if got := w.get(path + "/tasks/" + url.PathEscape(task.TaskID)); !bytes.Contains(got, []byte("changed after the upgrade")) {
			w.t.Errorf("task %s: %.300s", task.TaskID, got)
		}
	}
	w.post(http.StatusCreated, path+"/tasks", `{"task_id":"upgrade-task","message_bubbles":[{"id":"b","type":"agent","text":"new"}]}`)
	w.post(http.StatusAccepted, "/feedback", fmt.Sprintf(`{"taskId":"upgrade-task","sessionId":%q,"feedbackType":"up"}`, mustUnescape(path)))
	if len(tasks) > 1 {
		w.send(http.StatusNoContent, http.MethodDelete, path+"/tasks/"+url.PathEscape(tasks[0].TaskID), "")
	}
}

func mustUnescape(path string) string {
	id, err := url.PathUnescape(strings.TrimPrefix(path, "/sessions/"))
	if err != nil {
		panic(err)
	}
	return id
}

// stores puts a new version of each artifact, and a new artifact.
func (w *writer) stores(path string) {
	w.t.Helper()
	names := []string{"upgrade.txt"}
	for _, a := range read[one[[]named]](w.t, w.get(path+"/artifacts?limit=1000")).Data {
		names = append(names, a.Name)
	}
	for _, name := range slices.Compact(names) {
		at := path + "/artifacts/" + url.PathEscape(name)
		r := request{user: alice, method: http.MethodPut, path: at + "?invocation_id=upgrade", body: "written after the upgrade", header: map[string]string{"Content-Type": "text/plain"}}
		made := read[one[named]](w.t, w.must(http.StatusCreated, r)).Data
		if got := w.get(at); string(got) != r.body {
			w.t.Errorf("%s: %.100s", name, got)
		}
		if made.Version > 0 {
			w.get(fmt.Sprintf("%s?version=%d", at, made.Version))
		}
	}
}

func (w *writer) patches(path string) {
	w.t.Helper()
	w.send(http.StatusOK, http.MethodPatch, path, `{"name":"Renamed","metadata":{"upgraded":true}}`)
	if got := read[one[named]](w.t, w.get(path)).Data; got.Name != "Renamed" {
		w.t.Errorf("it is called %s", got.Name)
	}
}

// moves exports the session and imports it as another user.
func (w *writer) moves(path, id string) {
	w.t.Helper()
	doc := w.get(path + "/export")
	w.must(http.StatusCreated, request{user: carol, method: http.MethodPost, path: "/sessions/import?id=" + url.QueryEscape("moved-"+id), body: string(doc)})
}
