package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// keptRoutes is the number of routes of the template that store their answers by
// key.
const keptRoutes = 23

// withoutKey are the routes that are repeatable without a key.
func withoutKey() []string {
	return []string{
		"POST /sessions/{session_id}/runs/{run_id}/cancel", "POST /api/v1/shares/accept", "POST /api/tasks",
		"POST /sessions/import/{import_id}/parts/{part}", "POST /a2a/{agent}", "POST /a2a/{agent}/{path+}",
		"POST /agui/{agent}", "POST /agui/{agent}/connect", "POST /agui/{agent}/threads/{thread_id}/stop",
		"POST /ai-sdk/{agent}", "POST /ai-sdk/{agent}/{session_id}/stop",
		"POST /v1/responses", "POST /v1/responses/{response_id}/cancel", "POST /v1/conversations",
		"POST /v1/conversations/{conversation_id}", "POST /v1/conversations/{conversation_id}/items",
		"POST /mcp", // its tools take a request_id
	}
}

// testRepeats calls every route that stores its answers as a user with access, as
// the same user after losing access, and after the resource was deleted.
func testRepeats(t *testing.T, sys *e2e.System) {
	t.Helper()
	table, tried := accessTable(), 0
	for _, name := range routesOf(t, sys) {
		key := rowOf(table, name)
		if !strings.HasPrefix(name, "POST ") || slices.Contains(withoutKey(), key) {
			continue
		}
		tried++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRepeat(t, sys, name, table[key])
		})
	}
	t.Logf("%d routes answer repeats under a key", tried)
	if tried != keptRoutes {
		t.Errorf("want %d", keptRoutes)
	}
}

// testRepeat repeats one request with its key.
func testRepeat(t *testing.T, sys *e2e.System, name string, r route) {
	t.Helper()
	callers := newCallers(t, sys)
	s, owner := mustStage(t, callers), find(callers, "owner")
	asker := owner
	if r.who == writes {
		asker = find(callers, "named writer")
	}
	switch {
	case strings.Contains(name, "{run_id}"):
		s.occupy(t, owner)
	case strings.Contains(name, "{webhook_id}"):
		s.hook(t, owner)
	}
	_, path, _ := strings.Cut(name, " ")
	var content any
	if r.body != nil {
		content = r.body(s)
	}
	if strings.HasSuffix(path, "/import") {
		content = string(owner.Get(s.path + "/export").Want(200).Body)
		path += "?id=" + uuid.NewString()
	}
	key := e2e.Header("Idempotency-Key", uuid.NewString())
	ask := func(as *e2e.User) *e2e.Answer { return as.Post(s.address(r, path), content, key) }
	first := ask(asker.User).Want(200, 201, 202)
	mustReplay := func() {
		t.Helper()
		if again := ask(asker.User).Want(first.Status); again.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("it was executed again: %s", again.Body)
		}
	}
	mustReplay()
	if r.who == writes {
		s.mustEndAccess(t, sys, owner, asker, ask)
		mustReplay()
	}
	for _, gone := range made(s, path, r, first) {
		owner.Delete(gone).Want(204)
	}
	if r.who == reads || r.who == writes || r.who == owns {
		owner.Delete(s.path).Want(204)
	}
	ask(asker.User).Want(404)
	mustCreate(t, owner.User, e2e.M{"id": s.session + "2"}) // so that one can be listed
	before := owner.Get(api+"/sessions").Want(200).Each("data", "id")
	asker.Delete(api+"/me/data").Want(200, 202)
	ask(asker.User).Want(404)
	if after := owner.Get(api+"/sessions").Want(200).Each("data", "id"); len(after) > len(before) {
		t.Errorf("a session reappeared: %v, before %v", after, before)
	}
}

// mustEndAccess revokes a guest's access, has the guest repeat a request, and
// restores the access.
func (s *scene) mustEndAccess(t *testing.T, sys *e2e.System, owner, guest caller, ask func(*e2e.User) *e2e.Answer) {
	t.Helper()
	shares := owner.Get(s.path + "/shares").Want(200)
	ids, users := shares.Each("data", "id"), shares.Each("data", "user_id")
	owner.Delete(s.path + "/shares/" + ids[slices.Index(users, guest.ID)]).Want(204)
	ask(guest.User).Want(403)
	token, err := host.TokenWith(t.Context(), sys.URL, guest.ID, "rethread:admin")
	if err != nil {
		t.Fatal(err)
	}
	ask(sys.Bearer(t, guest.ID, token)).Want(403)
	share := e2e.M{"access": "read", "user_id": guest.ID}
	reading := owner.Post(s.path+"/shares", share).Want(201).Str("data.id")
	ask(guest.User).Want(403)
	owner.Delete(s.path + "/shares/" + reading).Want(204)
	share["access"] = "write"
	owner.Post(s.path+"/shares", share).Want(201)
}

// made returns the paths of what a request created, if that can be deleted on its
// own, or else of its subject, unless that is a session.
func made(s *scene, path string, r route, first *e2e.Answer) []string {
	base, _, _ := strings.Cut(path, "?")
	switch {
	case strings.HasSuffix(base, "/import"), strings.HasSuffix(base, "/fork"), strings.HasSuffix(base, "/sessions"):
		return []string{sessionPath(first.Str("data.id"))}
	case strings.HasSuffix(base, "/webhooks"), strings.HasSuffix(base, "/automations"):
		return []string{base + "/" + first.Str("data.id")}
	case r.who == mine:
		return []string{api + "/webhooks/" + s.webhook}
	}
	return nil
}
