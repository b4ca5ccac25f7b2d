package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

func testEvents(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("events get the next positions", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustAppend(t, alice, s, event("i1", "a"), event("i1", "b"))
		got := mustAppend(t, alice, s, event("i2", "c"))
		if got.Int("data.0.seq") != 3 || got.Str("data.0.status") != "completed" {
			t.Errorf("got %s", got.Body)
		}
		if head := alice.Get(s).Want(200).Int("data.head_seq"); head != 3 {
			t.Errorf("head_seq is %d", head)
		}
		all := alice.Get(s + "/events").Want(200)
		if diff := cmp.Diff([]string{"1", "2", "3"}, all.Each("data", "seq")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(got.Raw("data.0"), all.Raw("data.2")); diff != "" {
			t.Errorf("the append answered another event than the list:\n%s", diff)
		}
	})
	t.Run("an event is stored unchanged", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		content := `{"role":"model","parts":[{"text":"<i>Grüße</i> & \u2028 😀","thought":true},` +
			`{"function_call":{"id":"f1","name":"sum","args":{"x":1.0,"big":12345678901234567890,"e":1e2}}}]}`
		extra := `{"nested":[null,true,{"deep":[]}]}`
		alice.Post(s+"/events", `{"events":[{"invocation_id":"i1","author":"model","content":`+content+
			`,"custom":`+extra+`,"turn_complete":true,"seq":99,"session_id":"other"}]}`).Want(201)
		got := alice.Get(s + "/events").Want(200)
		for path, want := range map[string]string{
			"content": content, "custom": extra, "turn_complete": "true", "seq": "1", "actions": "{}",
			"session_id": `"` + strings.TrimPrefix(s, api+"/sessions/") + `"`,
		} {
			if raw := got.Raw("data.0." + path); raw != want {
				t.Errorf("%s is %s, want %s", path, raw, want)
			}
		}
	})
	t.Run("partial events are not stored", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		partial := event("i1", "hel")
		partial["partial"] = true
		none := alice.Post(s+"/events", e2e.M{"events": []e2e.M{partial}}).Want(200)
		if none.Raw("data") != "[]" {
			t.Errorf("got %s", none.Body)
		}
		some := mustAppend(t, alice, s, partial, event("i1", "hello"))
		if diff := cmp.Diff([]string{"1"}, some.Each("data", "seq")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an event over 400 KB is one event", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		text := mustNoise(t, 1<<20)
		mustAppend(t, alice, s, event("i1", "before"), event("i1", text), event("i1", "after"))
		got := alice.Get(s + "/events").Want(200)
		if got.Str("data.1.content.parts.0.text") != text {
			t.Error("its text came back changed")
		}
		if diff := cmp.Diff([]string{"1", "2", "3"}, got.Each("data", "seq")); diff != "" {
			t.Error(diff)
		}
	})
	testRedeliveries(t, sys)
}

func testRedeliveries(t *testing.T, sys *e2e.System) {
	t.Helper()
	withID := func(id, text string) e2e.M {
		e := event("i1", text)
		e["id"] = id
		return e
	}
	t.Run("the same event sent again changes nothing", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		first := mustAppend(t, alice, s, withID("e1", "a"), withID("e2", "b"))
		again := alice.Post(s+"/events", e2e.M{"events": []e2e.M{withID("e1", "a"), withID("e2", "b")}}).Want(200)
		if diff := cmp.Diff(first.Raw("data"), again.Raw("data")); diff != "" {
			t.Errorf("a redelivery answers otherwise:\n%s", diff)
		}
		if head := alice.Get(s).Int("data.head_seq"); head != 2 {
			t.Errorf("head_seq is %d", head)
		}
	})
	t.Run("an event with a generated id can be redelivered, too", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		id := mustAppend(t, alice, s, event("i1", "a")).Str("data.0.id")
		alice.Post(s+"/events", e2e.M{"events": []e2e.M{withID(id, "a")}}).Want(200)
		alice.Post(s+"/events", e2e.M{"events": []e2e.M{withID(id, "other")}}).Want(409)
	})
	t.Run("an id with other content refuses the whole request", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		mustAppend(t, alice, s, withID("e1", "a"))
		refused := alice.Post(s+"/events", e2e.M{"events": []e2e.M{withID("e2", "b"), withID("e1", "other")}}).Want(409)
		if refused.Str("event_id") != "e1" {
			t.Errorf("got %s", refused.Body)
		}
		if n := len(alice.Get(s + "/events").List("data")); n != 1 {
			t.Errorf("%d events are stored, want 1", n)
		}
	})
	t.Run("ids belong to their session", func(t *testing.T) {
		alice := sys.User(t, "alice")
		id := uuid.NewString()
		mustAppend(t, alice, mustCreate(t, alice, nil), withID(id, "a"))
		mustAppend(t, alice, mustCreate(t, alice, nil), withID(id, "other"))
	})
	t.Run("expected_seq must be the head", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		at := func(seq int) e2e.M {
			return e2e.M{"expected_seq": seq, "events": []e2e.M{event("i1", fmt.Sprint(seq))}}
		}
		alice.Post(s+"/events", at(1)).Want(409)
		alice.Post(s+"/events", at(0)).Want(201)
		if late := alice.Post(s+"/events", at(0)).Want(409); late.Int("head_seq") != 1 {
			t.Errorf("got %s", late.Body)
		}
		alice.Post(s+"/events", at(1)).Want(201)
	})
}
