package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/local/bus"
	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/shared/domain/notification"
)

// testAutomations checks the reactions to events: messages on the event bus, and
// calls of agents.
func testAutomations(t *testing.T, sys *e2e.System) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, *e2e.System){
		"publishes the events of a session in order":                  testEventsOnBus,
		"feedback starts a run in the same session":                   testFeedbackAsks,
		"a failed run starts a run of another agent in a new session": testFailureAsks,
		"stops automations that trigger each other":                   testLoop,
		"a failed request releases its idempotency key":               testAutomationKey,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, sys)
		})
	}
}

// published is an event on the bus.
type published struct {
	ID   string                 `json:"id"`
	Type string                 `json:"type"`
	Data notification.EventData `json:"data"`
}

// mustPublish waits until the bus's events of a user's sessions are as expected.
func mustPublish(t *testing.T, sys *e2e.System, u *e2e.User, what string, enough func([]published) bool) []published {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), e2e.Patience)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		events := listPublished(t, sys, u)
		if enough(events) {
			return events
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("%s: got only %+v", what, events)
		}
	}
}

func listPublished(t *testing.T, sys *e2e.System, u *e2e.User) []published {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sys.EventsURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	var all []bus.Event
	if err := json.NewDecoder(res.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	var out []published
	for _, e := range all {
		var one published
		if err := json.Unmarshal(e.Detail, &one); err != nil {
			t.Fatalf("%v: %s", err, e.Detail)
		}
		if e.Bus != "rethread" || e.Source != "rethread" || e.DetailType != one.Type {
			t.Errorf("the entry is %+v", e)
		}
		// Lambda repeats events after a failure; they have the same id.
		if one.Data.UserID == u.ID && !slices.ContainsFunc(out, func(o published) bool { return o.ID == one.ID }) {
			out = append(out, one)
		}
	}
	return out
}

func typesOf(events []published) []string {
	var types []string
	for _, e := range events {
		types = append(types, e.Type)
	}
	return types
}

// has reports whether there are that many events of a type.
func has(typ string, n int) func([]published) bool {
	return func(events []published) bool {
		found := 0
		for _, e := range events {
			if e.Type == typ {
				found++
			}
		}
		return found >= n
	}
}

func testEventsOnBus(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, e2e.M{"agent": "demo"})
	all := mustFollow(t, alice, s, "watcher")
	_, run := mustRun(t, alice, s, "hello", nil)
	mustSee(t, all, "the answer", answered(run))
	mustSave(t, alice, s, "t1", "x")
	alice.Post(api+"/feedback", e2e.M{"taskId": "t1", "sessionId": path.Base(s), "feedbackType": "up", "feedbackText": "secret"}).Want(202)
	mustPut(t, alice, s+"/artifacts/report", "text/plain", []byte("x"))
	mustRewind(t, alice, s, run, nil)
	alice.Delete(s).Want(204)
	events := mustPublish(t, sys, alice, "the deletion", has("session.deleted", 1))
	want := []string{
		"session.created", "run.started", "run.completed", "task.saved", "feedback.created", "artifact.saved",
		"session.rewound", "session.deleted",
	}
	if diff := cmp.Diff(want, typesOf(events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, e := range events {
		if e.Data.SessionID != path.Base(s) || e.Data.Agent != "demo" {
			t.Errorf("got %+v", e)
		}
	}
}

// mustAutomate makes an automation.
func mustAutomate(t *testing.T, u *e2e.User, on, do e2e.M) {
	t.Helper()
	u.Post(api+"/automations", e2e.M{"on": on, "do": do}).Want(201)
}

// showsText reports whether an idle session has an item with a text.
func showsText(text string) func(view.Session) bool {
	return func(s view.Session) bool {
		return s.Status == "idle" && slices.ContainsFunc(textsOf(s.Items), func(item string) bool { return strings.Contains(item, text) })
	}
}

func testFeedbackAsks(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	mustAutomate(t, alice, e2e.M{"types": []string{"feedback.created"}, "feedback_types": []string{"down"}},
		e2e.M{"agent": "demo", "input": "Look at {{task_id}} again, it is {{feedback}}."})
	s := mustCreate(t, alice, e2e.M{"agent": "demo"})
	all := mustFollow(t, alice, s, "watcher")
	for _, kind := range []string{"up", "down"} {
		alice.Post(api+"/feedback", e2e.M{"taskId": "t-" + kind, "sessionId": path.Base(s), "feedbackType": kind}).Want(202)
	}
	mustSee(t, all, "the answer", showsText(`You said: "Look at t-down again, it is down."`))
	thread := mustAgree(t, alice, s, all)
	if got := textsOf(thread.Items); len(got) != 2 || got[0] != "Look at t-down again, it is down." {
		t.Errorf("the thread is %q", got)
	}
	if from := thread.Items[0].Fields["automation"]; !strings.Contains(string(from), `"event_type":"feedback.created"`) {
		t.Errorf("the input says that it comes from %s", from)
	}
}

func testFailureAsks(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	mustAutomate(t, alice, e2e.M{"types": []string{"run.failed"}, "agents": []string{"demo"}},
		e2e.M{"agent": "default", "session": "new", "input": "Run {{run_id}} failed: {{error}}"})
	s := mustCreate(t, alice, e2e.M{"agent": "demo"})
	_, run := mustRun(t, alice, s, "/fail", nil)
	events := mustPublish(t, sys, alice, "the answer", has("run.completed", 1))
	made := sessionPath(events[len(events)-1].Data.SessionID)
	shown := alice.Get(made).Want(200)
	if shown.Str("data.agent") != "default" || shown.Str("data.metadata.automation.session_id") != path.Base(s) {
		t.Errorf("the session is %s", shown.Body)
	}
	if got := alice.Get(made + "/thread").Want(200); !strings.Contains(string(got.Body), "Run "+run+" failed: ") {
		t.Errorf("the thread is %s", got.Body)
	}
}

// testLoop has two automations that react to every end of a run. Each starts a run
// after one of alice's, and another after a run of the other automation; then the
// protection against loops stops them.
func testLoop(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	for range 2 {
		mustAutomate(t, alice, e2e.M{"types": []string{"run.*"}, "agents": []string{"demo"}},
			e2e.M{"agent": "demo", "session": "new", "input": "{{type}}"})
	}
	s := mustCreate(t, alice, e2e.M{"agent": "demo"})
	mustRun(t, alice, s, "hello", nil)
	// Each run causes two events, its beginning and its end: a run of alice's leads
	// to 2·2 runs, each of which leads to 2·1 more.
	const runs = 1 + 4 + 8
	mustPublish(t, sys, alice, "all that follows", has("run.completed", runs))
	// All ends of runs have been handled, so only their notifications can follow.
	alice.Delete(s).Want(204)
	events := mustPublish(t, sys, alice, "the deletion", has("session.deleted", 1))
	if has("run.started", runs+1)(events) || has("session.created", runs+1)(events) {
		t.Errorf("the chain continues: %v", typesOf(events))
	}
}

func testAutomationKey(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	key := e2e.Header("Idempotency-Key", uuid.NewString())
	body := e2e.M{"on": e2e.M{"types": []string{"run.*"}}, "do": e2e.M{"agent": "nobody", "input": "x"}}
	alice.Post(api+"/automations", body, key).Want(422)
	body["do"] = e2e.M{"agent": "demo", "input": "x"}
	first := alice.Post(api+"/automations", body, key).Want(201)
	again := alice.Post(api+"/automations", body, key).Want(201)
	if first.Str("data.id") != again.Str("data.id") {
		t.Errorf("%s, then %s", first.Body, again.Body)
	}
	at := api + "/automations/" + first.Str("data.id")
	alice.Patch(at, e2e.M{"status": "disabled"}).Want(200)
	if got := alice.Get(at).Want(200); got.Str("data.disabled_reason") != "paused" {
		t.Errorf("the automation is %s", got.Body)
	}
	if got := alice.Get(api + "/automations").Want(200); len(got.List("data")) != 1 {
		t.Errorf("there are %s", got.Body)
	}
	bob := sys.User(t, "bob")
	bob.Get(at).Want(404)
	alice.Delete(at).Want(204)
	if got := alice.Get(api + "/automations").Want(200); fmt.Sprint(got.List("data")) != "[]" {
		t.Errorf("there are %s", got.Body)
	}
}
