package upgrade_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
)

// goesOnWithTheRest changes what belongs to no single session.
func (w *writer) goesOnWithTheRest() {
	for _, id := range w.sessions(alice) {
		path := "/sessions/" + id
		if strings.ContainsAny(id, "ü😀") {
			continue
		}
		for _, s := range read[one[[]named]](w.t, w.get(path+"/shares")).Data {
			w.send(http.StatusNoContent, http.MethodDelete, path+"/shares/"+s.ID, "")
		}
	}
	for _, id := range []string{"plain", "tree"} {
		w.must(http.StatusForbidden, request{user: bob, method: http.MethodGet, path: "/sessions/" + id})
	}
	for _, h := range read[one[[]named]](w.t, w.get("/webhooks")).Data {
		w.post(http.StatusOK, "/webhooks/"+h.ID+"/secret/rotate", `{}`)
		w.send(http.StatusOK, http.MethodPatch, "/webhooks/"+h.ID, `{"description":"still here"}`)
		if h.Status == "active" {
			w.post(http.StatusAccepted, "/webhooks/"+h.ID+"/test", "")
		}
	}
	w.send(http.StatusNoContent, http.MethodDelete, "/webhooks/"+w.story.IDs["somehook"], "")
	for _, a := range read[one[[]named]](w.t, w.get("/automations")).Data {
		w.send(http.StatusOK, http.MethodPatch, "/automations/"+a.ID, `{"name":"still here"}`)
	}
	w.send(http.StatusNoContent, http.MethodDelete, "/automations/"+w.story.IDs["automation2"], "")
	// The unfinished import.
	w.must(http.StatusCreated, request{
		user: carol, method: http.MethodPost, path: "/sessions/import/" + w.story.IDs["import"] + "/parts/2", body: w.story.IDs["lastpart"],
	})
	w.asksOverA2A()
	w.watches()
	w.opensStreams()
}

func (w *writer) asksOverA2A() {
	call := func(method, params string) string {
		w.t.Helper()
		return string(w.must(http.StatusOK, request{
			user: alice, method: http.MethodPost, path: "/a2a/helper", header: map[string]string{"A2A-Version": "1.0"},
			body: fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params),
		}))
	}
	task, session := w.story.IDs["a2atask"], w.story.IDs["a2acontext"]
	for method, params := range map[string]string{
		"SendMessage":                      fmt.Sprintf(`{"message":{"messageId":"new","contextId":%q,"role":"ROLE_USER","parts":[{"text":"Hello"}]},"configuration":{"returnImmediately":true}}`, session),
		"CreateTaskPushNotificationConfig": fmt.Sprintf(`{"taskId":%q,"id":"new","url":"https://push.example/new"}`, task),
		"DeleteTaskPushNotificationConfig": fmt.Sprintf(`{"taskId":%q,"id":"basic"}`, task),
	} {
		if got := call(method, params); strings.Contains(got, `"error"`) {
			w.t.Errorf("%s: %s", method, got)
		}
	}
	w.work(w.t)
	if got := call("ListTaskPushNotificationConfigs", fmt.Sprintf(`{"taskId":%q}`, task)); strings.Contains(got, "/basic") || !strings.Contains(got, "/new") {
		w.t.Errorf("the push configurations: %s", got)
	}
}

// watches subscribes to a session again, and disconnects.
func (w *writer) watches() {
	watchers := func(session string) (connections []string) {
		w.t.Helper()
		log, err := w.store.Subscriptions.LogOf(w.t.Context(), alice, session)
		if err != nil {
			w.t.Fatal(err)
		}
		_, all, err := w.store.Subscriptions.Watchers(w.t.Context(), log)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range all {
			connections = append(connections, s.Connection)
		}
		slices.Sort(connections)
		return connections
	}
	w.say(w.t, alice, "", "conn-alice", `{"action":"subscribe","session_id":"tree"}`)
	if diff := cmp.Diff([]string{"conn-alice"}, watchers("tree")); diff != "" { // the older ones are in a form of one item
		w.t.Errorf("watchers (-want +got):\n%s", diff)
	}
	for _, connection := range []string{"conn-alice", "conn-admin"} {
		if err := w.store.Subscriptions.Disconnect(w.t.Context(), connection); err != nil {
			w.t.Error(err)
		}
		w.writes++
	}
	if left := append(watchers("tree"), watchers("runs")...); len(left) > 0 {
		w.t.Errorf("still watching: %v", left)
	}
}

// opensStreams uses the remaining stream slots; some may have ended by now.
func (w *writer) opensStreams() {
	var err error
	for n := 0; err == nil && n < 10; n++ {
		_, err = w.store.Usage.TakeStream(w.t.Context(), quota.Stream{UserID: alice, Subject: "new", Lasting: time.Hour})
		w.writes++
	}
	if !errors.Is(err, fault.Of(fault.Busy)) {
		w.t.Errorf("more streams than allowed: %v", err)
	}
}

// remains are the kinds of items that outlive a user's data, with the reasons.
func remains() map[string]string {
	return map[string]string{
		"A STATE":   "what app: keys hold belongs to the app",
		"ER ERASE":  "the report of an erasure, for 30 days",
		"K …":       "idempotency keys stay used for a day, without their answers",
		"AN …":      "which runs an automation that was deleted by itself had started; it expires within hours",
		"SIGN KEYS": "the keys to sign with are the deployment's",
		"RU RUN":    "a run's id without its user; it counts for 15 minutes and expires",
		"WC W":      "the logs that a closed connection watched; it expires within hours",
	}
}

// deletes lets time pass, deletes every other session, and erases all users. No
// remaining item may belong to a user.
func (w *writer) deletes() {
	w.pass(3 * time.Hour)
	w.sweeps()
	w.must(http.StatusNotFound, request{user: alice, method: http.MethodGet, path: "/sessions/short-lived"})
	for i, id := range w.sessions(alice) {
		if i%2 == 0 {
			w.send(http.StatusNoContent, http.MethodDelete, "/sessions/"+id, "")
			w.must(http.StatusNotFound, request{user: alice, method: http.MethodGet, path: "/sessions/" + id + "/thread"})
		}
	}
	for _, user := range []string{alice, bob, carol, dora} {
		for {
			w.pass(time.Minute)
			got := w.do(w.t, request{user: user, method: http.MethodDelete, path: "/me/data"})
			w.writes++
			if got.Code == http.StatusOK {
				break
			}
			if got.Code != http.StatusAccepted {
				w.t.Fatalf("erase %s: %d %s", user, got.Code, got.Body)
			}
		}
		if left := w.sessions(user); len(left) > 0 {
			w.t.Errorf("%s still has %v", user, left)
		}
	}
	for range 3 {
		w.pass(time.Hour)
		w.sweeps()
	}
	for _, connection := range []string{"conn-bob", "conn-left"} { // they are closed after everything is deleted
		if err := w.store.Subscriptions.Disconnect(w.t.Context(), connection); err != nil {
			w.t.Error(err)
		}
	}
	left := map[string]int{}
	for _, k := range w.stored(w.t) {
		if _, ok := remains()[kind(k.PK, k.SK)]; !ok {
			left[kind(k.PK, k.SK)]++
		}
	}
	if diff := cmp.Diff(map[string]int{}, left); diff != "" {
		w.t.Errorf("left (-want +got):\n%s", diff)
	}
}

// sweeps makes the sweeper's calls of one hour.
func (w *writer) sweeps() {
	w.t.Helper()
	ctx := w.t.Context()
	_, err1 := w.store.Runs.Expire(ctx, nil)
	_, err2 := w.store.Lifecycle.SweepRetention(ctx)
	_, err3 := w.store.Archives.SweepImports(ctx)
	_, err4 := w.store.Lifecycle.SweepErasures(ctx)
	_, err5 := w.store.Lifecycle.Sweep(ctx)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		w.t.Fatal(err)
	}
}
