package e2e_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testArchive exports sessions of one user and imports them as another, through
// the gateway.
func testArchive(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	path := mustLive(t, alice)
	doc := alice.Get(path + "/export").Want(200)

	t.Run("a document is complete", func(t *testing.T) {
		if got := doc.Raw("complete"); got != "true" || !strings.HasSuffix(strings.TrimSpace(string(doc.Body)), `"complete":true}`) {
			t.Errorf("ends with %s", got)
		}
		if got := doc.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment; ") {
			t.Errorf("Content-Disposition is %q", got)
		}
		if n := len(doc.List("runs")); n != 1 {
			t.Errorf("%d runs", n)
		}
		zipped := alice.Get(path+"/export", e2e.Header("Accept-Encoding", "gzip")).Want(200)
		if zipped.Header.Get("Content-Encoding") != "gzip" || len(zipped.Body) >= len(doc.Body) {
			t.Errorf("as gzip it has %d bytes, without %d", len(zipped.Body), len(doc.Body))
		}
	})
	t.Run("an imported session shows the same and continues alike", func(t *testing.T) {
		bob := sys.User(t, "bob")
		there := sessionPath(bob.Post(api+"/sessions/import?id="+uuid.NewString(), string(doc.Body)).Want(201).Str("data.id"))
		compareViews(t, alice, path, bob, there)
		for _, before := range []string{"inv-2", "inv-1"} {
			body := e2e.M{"rewind_before_invocation_id": before}
			was := alice.Post(path+"/rewind", body).Want(200).Raw("data.restored")
			is := bob.Post(there+"/rewind", body).Want(200).Raw("data.restored")
			if was != is {
				t.Errorf("rewound before %s: restored %s, was %s", before, is, was)
			}
			compareViews(t, alice, path, bob, there)
		}
	})
	t.Run("accepts gzip, and a repetition changes nothing", func(t *testing.T) {
		carol, key := sys.User(t, "carol"), e2e.Header("Idempotency-Key", uuid.NewString())
		target := api + "/sessions/import?id=" + uuid.NewString()
		zipped := e2e.Gzip(t, doc.Body)
		first := carol.Post(target, zipped, key, e2e.Header("Content-Encoding", "gzip")).Want(201)
		again := carol.Post(target, zipped, key, e2e.Header("Content-Encoding", "gzip")).Want(201)
		if first.Str("data.id") != again.Str("data.id") || len(carol.Get(api+"/sessions").Want(200).List("data")) != 1 {
			t.Error("imported twice")
		}
		carol.Post(target, string(doc.Body)).Want(409)
	})
	t.Run("parts become visible together", func(t *testing.T) { testParts(t, sys, string(doc.Body)) })
	t.Run("bad documents change nothing", func(t *testing.T) { testBadDocuments(t, sys, string(doc.Body)) })
	t.Run("only the owner can export, and not during a run", func(t *testing.T) {
		sys.User(t, "mallory").Get(path + "/export").Want(403)
		alice.Get(sessionPath("nowhere") + "/export").Want(404)
		busy := mustCreate(t, alice, nil)
		alice.Post(busy+"/runs", e2e.M{"mode": "external", "input": []e2e.M{{
			"author": "user", "content": e2e.M{"role": "user", "parts": []e2e.M{{"text": "go"}}},
		}}}).Want(202)
		alice.Get(busy + "/export").Want(409)
	})
	t.Run("a session of google-adk keeps its rewinds", func(t *testing.T) { testADKDump(t, sys) })
}

// mustLive makes a session that uses every feature of a session.
func mustLive(t *testing.T, u *e2e.User) string {
	t.Helper()
	path := mustCreate(t, u, e2e.M{"name": "Lived in", "state": e2e.M{"color": "red", "user:lang": "de"}})
	say := func(invocation string, actions e2e.M) {
		e := event(invocation, "about "+invocation)
		e["actions"] = actions
		u.Post(path+"/events", e2e.M{"events": []e2e.M{e}}).Want(201)
	}
	say("inv-1", e2e.M{"state_delta": e2e.M{"color": "green", "<b>&": nil}})
	u.Send("PUT", path+"/artifacts/report?invocation_id=inv-1", []byte("one"), e2e.Header("Content-Type", "text/plain")).Want(201)
	say("inv-2", e2e.M{"state_delta": e2e.M{"color": "blue", "user:lang": "en"}})
	u.Send("PUT", path+"/artifacts/report?invocation_id=inv-2", []byte("two"), e2e.Header("Content-Type", "text/plain")).Want(201)
	u.Post(path+"/tasks", e2e.M{
		"task_id": "task-1", "user_message": "<what>", "message_bubbles": []e2e.M{{
			"id": "b1", "type": "agent", "text": "that & \u2028 more", "metadata": e2e.M{"kagent_invocation_id": "inv-2"},
		}},
	}).Want(201)
	u.Post(api+"/feedback", e2e.M{"taskId": "task-1", "feedbackType": "up", "sessionId": strings.TrimPrefix(path, api+"/sessions/")}).Want(202)
	u.Post(path+"/rewind", e2e.M{"rewind_before_invocation_id": "inv-2"}).Want(200)
	run := u.Post(path+"/runs", e2e.M{"mode": "external", "input": []e2e.M{{
		"author": "user", "content": e2e.M{"role": "user", "parts": []e2e.M{{"text": "go"}}},
	}}}, e2e.Header("Idempotency-Key", uuid.NewString())).Want(202).Str("data.session.active_run_id")
	u.Post(path+"/runs/"+run+"/deltas", e2e.M{"item_id": "i1", "author": "agent", "deltas": []e2e.M{{"part": 0, "text": "half"}}}).Want(200)
	u.Patch(path+"/runs/"+run, e2e.M{"status": "failed", "error": e2e.M{"code": "boom", "message": "it broke"}}).Want(200)
	return path
}

// compareViews compares all views of two sessions of two users.
func compareViews(t *testing.T, a *e2e.User, at string, b *e2e.User, there string) {
	t.Helper()
	for _, view := range []string{
		"/events", "/events?view=all", "/tasks", "/messages", "/state", "/thread", "/artifacts", "/artifacts/report/versions",
	} {
		was, is := viewed(t, a, at, view), viewed(t, b, there, view)
		if d := cmp.Diff(was, is); d != "" {
			t.Errorf("%s (-was +is):\n%s", view, d)
		}
	}
}

// viewed is an answer without what differs between two sessions: their ids, owners
// and generated values.
func viewed(t *testing.T, u *e2e.User, path, view string) any {
	t.Helper()
	id := strings.TrimPrefix(path, api+"/sessions/")
	answer := u.Send("GET", path+view, nil)
	text := strings.NewReplacer(id, "{id}", url.PathEscape(u.ID), "{user}", u.ID, "{user}").Replace(string(answer.Body))
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", view, err)
	}
	return less(v, "request_id", "updated_time", "created_time", "next_cursor", "id", "invocation_id")
}

// less returns a value without some members. Ids of events and markers are
// generated when a session continues; a property test of the store compares them.
func less(v any, names ...string) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for name, member := range out {
			out[name] = less(member, names...)
			if slices.Contains(names, name) {
				delete(out, name)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = less(v[i], names...)
		}
		return out
	}
	return v
}

func testParts(t *testing.T, sys *e2e.System, doc string) {
	t.Helper()
	dora := sys.User(t, "dora")
	var whole map[string]any
	if err := json.Unmarshal([]byte(doc), &whole); err != nil {
		t.Fatal(err)
	}
	id := uuid.NewString()
	first := e2e.M{
		"format": whole["format"], "session": whole["session"], "timeline": whole["timeline"],
		"spent_run_id": whole["spent_run_id"], "events": whole["events"],
	}
	begun := dora.Post(api+"/sessions/import?id="+id, first).Want(202)
	parts := api + "/sessions/import/" + begun.Str("data.import_id")
	dora.Get(sessionPath(id)).Want(404)
	second := e2e.M{
		"format": whole["format"], "tasks": whole["tasks"], "feedback": whole["feedback"], "artifacts": whole["artifacts"],
	}
	dora.Post(parts+"/parts/3", second).Want(409)
	dora.Post(parts+"/parts/2", second).Want(202)
	dora.Post(parts+"/parts/2", second).Want(202)
	if n := len(dora.Get(api + "/feedback").Want(200).List("feedback")); n != 0 {
		t.Errorf("%d feedback before the session is there", n)
	}
	sys.User(t, "mallory").Post(parts+"/parts/3", second).Want(404)
	last := e2e.M{"format": whole["format"], "state": whole["state"], "complete": true}
	dora.Post(parts+"/parts/3", last).Want(201)
	dora.Post(parts+"/parts/3", last).Want(201)
	dora.Get(sessionPath(id) + "/thread").Want(200)
	if n := len(dora.Get(api + "/feedback").Want(200).List("feedback")); n != 1 {
		t.Errorf("%d feedback, want 1", n)
	}
	other := dora.Post(api+"/sessions/import?id="+uuid.NewString(), first).Want(202).Str("data.import_id")
	dora.Delete(api + "/sessions/import/" + other).Want(204)
	dora.Post(api+"/sessions/import/"+other+"/parts/2", second).Want(404)
}

func testBadDocuments(t *testing.T, sys *e2e.System, doc string) {
	t.Helper()
	erik := sys.User(t, "erik")
	for pointer, change := range map[string]func(map[string]any){
		"/session":       func(d map[string]any) { delete(d, "session") },
		"/events/1/seq":  func(d map[string]any) { at(d, "events", 1)["seq"] = 7 },
		"/timeline":      func(d map[string]any) { d["timeline"] = []e2e.M{{"from": 1}} },
		"/state":         func(d map[string]any) { delete(d, "state") },
		"/state/session": func(d map[string]any) { d["state"].(map[string]any)["session"] = e2e.M{"color": "pink"} },
		"/tasks/0/place": func(d map[string]any) { at(d, "tasks", 0)["place"] = 4711 },
		"/session/epoch": func(d map[string]any) { d["session"].(map[string]any)["epoch"] = 3 },
		"/format":        func(d map[string]any) { d["format"] = "rethread.session/2" },
	} {
		var whole map[string]any
		if err := json.Unmarshal([]byte(doc), &whole); err != nil {
			t.Fatal(err)
		}
		change(whole)
		answer := erik.Post(api+"/sessions/import?id="+uuid.NewString(), whole, e2e.Bad).Want(400, 422)
		if got := answer.Str("errors.0.pointer"); got != pointer {
			t.Errorf("names %s, want %s", got, pointer)
		}
	}
	if n := len(erik.Get(api + "/sessions").Want(200).List("data")); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

func at(d map[string]any, list string, i int) map[string]any {
	return d[list].([]any)[i].(map[string]any)
}

func testADKDump(t *testing.T, sys *e2e.System) {
	t.Helper()
	frida := sys.User(t, "frida")
	path := sessionPath(frida.Post(api+"/sessions/import?id="+uuid.NewString(), `{
		"id": "dump", "app_name": "dump", "user_id": "x", "state": {"region": "EMEA", "n": 1}, "events": [
			{"id": "e1", "invocation_id": "i1", "author": "user", "timestamp": 1735776000.5, "actions": {"state_delta": {"n": 1}}},
			{"id": "e2", "invocationId": "i2", "author": "user", "timestamp": 1735776001, "actions": {"stateDelta": {"n": 2, "temp:x": 1}},
			 "content": {"parts": [{"functionCall": {"id": "c", "name": "f", "args": {"camelCase": 1}}}]}},
			{"id": "e3", "invocation_id": "i3", "author": "user", "timestamp": 1735776002,
			 "actions": {"rewind_before_invocation_id": "i2", "state_delta": {"n": 1}}}
		]}`).Want(201).Str("data.id"))
	if got := frida.Get(path+"/events").Want(200).Each("data", "id"); !slices.Equal(got[1:], []string{"e1"}) {
		t.Errorf("shows %v", got)
	}
	if got := frida.Get(path + "/state").Want(200).Raw("data.merged"); got != `{"n":1,"region":"EMEA"}` {
		t.Errorf("state is %s", got)
	}
	frida.Post(path+"/rewind", e2e.M{"rewind_before_invocation_id": "i3"}).Want(200)
	if got := frida.Get(path + "/state").Want(200).Raw("data.merged"); got != `{"n":2,"region":"EMEA"}` {
		t.Errorf("with the rewind undone the state is %s", got)
	}
	if got := frida.Get(path + "/events").Want(200).Raw("data.2.content.parts.0.function_call.args"); got != `{"camelCase":1}` {
		t.Errorf("arguments are %s", got)
	}
	frida.Post(path+"/rewind", e2e.M{"rewind_before_invocation_id": "i1"}).Want(200)
	if got := frida.Get(path + "/state").Want(200).Raw("data.merged"); got != `{"region":"EMEA"}` {
		t.Errorf("at the beginning the state is %s", got)
	}
}
