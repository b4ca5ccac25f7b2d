package e2e_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
)

// testErasure deletes everything that a user owns, through the gateway.
func testErasure(t *testing.T, sys *e2e.System) {
	t.Helper()
	gina, other := sys.User(t, "gina"), sys.User(t, "other")
	gina.Get(api + "/me/data").Want(404)
	path := mustLive(t, gina)
	gina.Send("PUT", path+"/artifacts/user:profile", []byte("me"), e2e.Header("Content-Type", "text/plain")).Want(201)
	gina.Post(path+"/fork", nil, e2e.Header("Idempotency-Key", uuid.NewString())).Want(201)
	doc := gina.Get(path + "/export").Want(200)
	kept := sessionPath(other.Post(api+"/sessions/import?id="+uuid.NewString(), string(doc.Body)).Want(201).Str("data.id"))

	report := gina.Delete(api + "/me/data").Want(200)
	for name, want := range map[string]int64{"sessions": 2, "tasks": 1, "feedback": 1, "apps": 1} {
		if got := report.Int("data.removed." + name); got != want {
			t.Errorf("%d %s removed, want %d", got, name, want)
		}
	}
	if report.Int("data.removed.artifacts") < 3 || report.Str("data.status") != "complete" {
		t.Errorf("reports %s", report.Body)
	}
	gina.Get(path).Want(404)
	if n := len(gina.Get(api + "/sessions").Want(200).List("data")); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	if n := len(gina.Get(api + "/feedback").Want(200).List("feedback")); n != 0 {
		t.Errorf("%d feedback is left", n)
	}
	next := mustCreate(t, gina, nil)
	if got := gina.Get(next + "/state").Want(200).Raw("data.user"); got != "{}" {
		t.Errorf("state %s is left", got)
	}
	gina.Get(next + "/artifacts/user:profile").Want(404)
	other.Get(kept).Want(200)
	gina.Get(api + "/me/data").Want(200)
	gina.Delete(next).Want(204)
	if again := gina.Delete(api + "/me/data").Want(200); again.Int("data.removed.sessions") != 2 {
		t.Errorf("counts %s", again.Body) // until it has been checked once more
	}
}
