package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

func testSessions(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("an empty body creates a session with defaults", func(t *testing.T) {
		alice := sys.User(t, "alice")
		got := alice.Post(api+"/sessions", e2e.M{}).Want(201)
		want := map[string]string{
			"user_id": alice.ID, "app_name": "default", "agent": "", "name": "", "status": "idle",
			"active_run_id": "null", "metadata": "{}", "fork": "null", "epoch": "0", "head_seq": "0",
			"updated_time": got.Str("data.created_time"),
		}
		if diff := cmp.Diff(want, texts(got, "data", want)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if where := got.Header.Get("Location"); !strings.HasSuffix(where, "/sessions/"+got.Str("data.id")) {
			t.Errorf("Location is %s", where)
		}
		alice.Get(sessionPath(got.Str("data.id"))).Want(200)
	})
	t.Run("given values are stored", func(t *testing.T) {
		alice := sys.User(t, "alice")
		id := uuid.NewString()
		metadata := `{"channel":"web","n":1.50,"text":"<b>Grüße & \u2028"}`
		got := alice.Post(api+"/sessions",
			`{"id":"`+id+`","agent":"analyst","name":"Ümläute ✓","metadata":`+metadata+`}`).Want(201)
		want := map[string]string{
			"id": id, "app_name": "analyst", "agent": "analyst", "name": "Ümläute ✓", "head_seq": "0",
		}
		read := alice.Get(sessionPath(id)).Want(200)
		if diff := cmp.Diff(want, texts(read, "data", want)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if read.Raw("data.metadata") != metadata {
			t.Errorf("metadata is %s", read.Raw("data.metadata"))
		}
		if read.Header.Get("ETag") != got.Header.Get("ETag") {
			t.Errorf("the ETag changed from %s to %s", got.Header.Get("ETag"), read.Header.Get("ETag"))
		}
	})
	t.Run("unknown members are refused by name, and nothing is stored", func(t *testing.T) {
		alice := sys.User(t, "alice")
		id := uuid.NewString()
		got := alice.Post(api+"/sessions", e2e.M{"id": id, "metdata": e2e.M{}}, e2e.Bad).Want(422)
		if got.Str("code") != "invalid_field" || got.Str("errors.0.pointer") != "/metdata" {
			t.Errorf("got %s", got.Body)
		}
		alice.Get(sessionPath(id)).Want(404)
	})
	t.Run("app and agent can differ", func(t *testing.T) {
		alice := sys.User(t, "alice")
		got := alice.Post(api+"/sessions", e2e.M{"app_name": "shop", "agent": "analyst"}).Want(201)
		if got.Str("data.app_name") != "shop" || got.Str("data.agent") != "analyst" {
			t.Errorf("got %s", got.Body)
		}
	})
	t.Run("an id in use is refused and changes nothing", func(t *testing.T) {
		alice, bob := sys.User(t, "alice"), sys.User(t, "bob")
		id := uuid.NewString()
		alice.Post(api+"/sessions", e2e.M{"id": id, "name": "first"}).Want(201)
		alice.Post(api+"/sessions", e2e.M{"id": id, "name": "second"}).Want(409)
		bob.Post(api+"/sessions", e2e.M{"id": id, "name": "third"}).Want(409)
		if name := alice.Get(sessionPath(id)).Want(200).Str("data.name"); name != "first" {
			t.Errorf("the name is %q", name)
		}
	})
	t.Run("an initial state is the first event", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, e2e.M{"state": e2e.M{"region": "EMEA", "gone": nil}})
		if head := alice.Get(s).Want(200).Int("data.head_seq"); head != 1 {
			t.Errorf("head_seq is %d, want 1", head)
		}
		first := alice.Get(s + "/events").Want(200)
		if got := first.Raw("data.0.actions.state_delta"); got != `{"region":"EMEA"}` {
			t.Errorf("the first event's state_delta is %s", got)
		}
		if got := alice.Get(s + "/state").Want(200).Raw("data.session"); got != `{"region":"EMEA"}` {
			t.Errorf("the state is %s", got)
		}
	})
	t.Run("both base paths reach the same session", func(t *testing.T) {
		alice := sys.User(t, "alice")
		id := alice.Post("/api/sessions", e2e.M{"name": "x"}).Want(201).Str("data.id")
		if diff := cmp.Diff(alice.Get("/api/sessions/"+id).Want(200).Raw("data"),
			alice.Get(sessionPath(id)).Want(200).Raw("data")); diff != "" {
			t.Error(diff)
		}
		alice.Get("/api/sessions/" + id + "/state").Want(200)
		alice.Get("/api/sessions/" + id + "/events").Want(200)
		alice.Delete("/api/sessions/" + id).Want(204)
		alice.Get(sessionPath(id)).Want(404)
	})
	t.Run("ids can contain characters that paths must escape", func(t *testing.T) {
		alice := sys.User(t, "alice")
		id := "a b%20c%3Fd#e+f&g=h ü " + uuid.NewString()
		got := alice.Post(api+"/sessions", e2e.M{"id": id}).Want(201)
		path := got.Header.Get("Location")
		if read := alice.Get(path).Want(200); read.Str("data.id") != id {
			t.Errorf("%s is %q", path, read.Str("data.id"))
		}
		mustAppend(t, alice, path, event("i1", "hello"))
		alice.Delete(path).Want(204)
	})
	testSessionChanges(t, sys)
}

func testSessionChanges(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("renaming keeps the metadata and changes the ETag", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, e2e.M{"name": "old", "metadata": e2e.M{"a": 1}})
		before := alice.Get(s).Header.Get("ETag")
		changed := alice.Patch(s, e2e.M{"name": "new"}).Want(200)
		if changed.Str("data.name") != "new" || changed.Raw("data.metadata") != `{"a":1}` {
			t.Errorf("got %s", changed.Body)
		}
		if changed.Header.Get("ETag") == before {
			t.Error("the ETag did not change")
		}
		if read := alice.Get(s); read.Header.Get("ETag") != changed.Header.Get("ETag") {
			t.Errorf("a read says %s, the change said %s", read.Header.Get("ETag"), changed.Header.Get("ETag"))
		}
	})
	t.Run("large metadata are shown wherever the session is", func(t *testing.T) { testLargeMetadata(t, sys) })
	t.Run("If-Match accepts only the first of two writers", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		seen := e2e.Header("If-Match", alice.Get(s).Header.Get("ETag"))
		alice.Patch(s, e2e.M{"name": "first"}, seen).Want(200)
		alice.Patch(s, e2e.M{"name": "second"}, seen).Want(412)
		if name := alice.Get(s).Str("data.name"); name != "first" {
			t.Errorf("the name is %q", name)
		}
	})
	t.Run("a deleted session is gone with all of its data", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, e2e.M{"state": e2e.M{"a": 1}})
		mustAppend(t, alice, s, event("i1", "hello"))
		task := uuid.NewString()
		mustSave(t, alice, s, task, "hello")
		alice.Post(api+"/feedback", e2e.M{"taskId": task, "feedbackType": "up"}).Want(202)
		alice.Delete(s).Want(204)
		for _, path := range []string{"", "/state", "/events", "/tasks", "/tasks/" + task, "/messages"} {
			alice.Get(s + path).Want(404)
		}
		alice.Delete(s).Want(404)
		alice.Post(s+"/events", e2e.M{"events": []e2e.M{event("i2", "late")}}).Want(404)
		mine := alice.Get(api + "/sessions").Want(200)
		if n := len(mine.List("data")); n != 0 {
			t.Errorf("%d sessions are still listed", n)
		}
		if n := len(alice.Get(api + "/feedback").Want(200).List("feedback")); n != 0 {
			t.Errorf("%d feedback are still listed", n)
		}
	})
}

// texts returns the expected members of the object at a path.
func texts(a *e2e.Answer, path string, want map[string]string) map[string]string {
	out := map[string]string{}
	for name := range want {
		out[name] = a.Str(path + "." + name)
	}
	return out
}

// testLargeMetadata has metadata that are not in the session's header: every function that
// shows the session must be permitted to read them.
func testLargeMetadata(t *testing.T, sys *e2e.System) {
	t.Helper()
	alice := sys.User(t, "alice")
	large := func() e2e.M {
		var random strings.Builder
		for range 50 {
			random.WriteString(uuid.NewString())
		}
		return e2e.M{"text": random.String()}
	}
	s := mustCreate(t, alice, e2e.M{"metadata": large()})
	mustAppend(t, alice, s, event("one", "hello"), event("two", "findable"))
	changed := large()
	shown := alice.Patch(s, e2e.M{"metadata": changed}).Want(200).Raw("data.metadata")
	fork := alice.Post(s+"/fork", nil).Want(201)
	forked := sessionPath(fork.Str("data.id"))
	alice.Patch(forked, e2e.M{"name": "renamed"}).Want(200)
	alice.Post(api+"/sessions/import?id="+uuid.NewString(), string(alice.Get(forked+"/export").Want(200).Body)).Want(201)
	for _, got := range []string{
		shown, fork.Raw("data.metadata"), mustRewind(t, alice, s, "two", nil).Raw("data.session.metadata"),
		alice.Get(s).Want(200).Raw("data.metadata"), alice.Get(forked).Want(200).Raw("data.metadata"),
		alice.Get(s + "/thread").Want(200).Raw("data.session.metadata"),
	} {
		if want := `{"text":"` + changed["text"].(string) + `"}`; got != want {
			t.Errorf("metadata %.60s, want %.60s", got, want)
		}
	}
	for query, want := range map[string]int{"": 3, "?exact=true": 3, "?in=messages&q=findable": 2} {
		listed := alice.Get(api+"/sessions"+query).Want(200).Each("data", "metadata.text")
		if len(listed) != want {
			t.Errorf("%q has %d sessions, want %d", query, len(listed), want)
		}
		for _, text := range listed {
			if text != changed["text"] {
				t.Errorf("%q has the metadata %.60s", query, text)
			}
		}
	}
	sys.User(t, "bob").Get(s).Want(403)
}
