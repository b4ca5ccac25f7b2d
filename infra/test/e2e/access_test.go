package e2e_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
)

// testAccess is the specification of who may do what with which session.
func testAccess(t *testing.T, sys *e2e.System) {
	t.Helper()
	run(t, sys,
		group{"guests", testGuests},
		group{"shares", testShares},
		group{"tasks", testSharedTasks},
		group{"repeats", testRepeats},
		group{"every route and caller", testMatrix},
	)
}

// standing is a caller's access in a scene.
type standing int

const (
	noToken  standing = iota // has no valid token
	impostor                 // names a user without being a service
	outside                  // or has a revoked share
	mayRead
	mayWrite
	isOwner
)

type caller struct {
	name  string
	right standing
	admin bool
	*e2e.User
}

// scene is a session with everything that routes refer to.
type scene struct {
	session, run, task, share, a2aTask string
	webhook, delivery, automation      string
	response, item                     string
	path                               string
}

// callers are the columns of the matrix. The owner comes last, because its calls
// may delete the scene.
func newCallers(t *testing.T, sys *e2e.System) []caller {
	t.Helper()
	expired, err := host.TokenFor(t.Context(), sys.URL, "late", -time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	adminID := "admin-" + uuid.NewString()
	scoped, err := host.TokenWith(t.Context(), sys.URL, adminID, "openid rethread:admin")
	if err != nil {
		t.Fatal(err)
	}
	service, err := host.TokenWith(t.Context(), sys.URL, "backend-"+uuid.NewString(), "rethread:service rethread:admin")
	if err != nil {
		t.Fatal(err)
	}
	user := func(name string) *e2e.User { return sys.User(t, name) }
	reader, writer, stranger, owner := user("reader"), user("writer"), user("stranger"), user("owner")
	return []caller{
		{"user who names the owner", impostor, false, sys.Acting(t, stranger.Token, owner.ID)},
		{"admin who names the owner", impostor, false, sys.Acting(t, scoped, owner.ID)},
		{"service for a stranger", outside, false, sys.Acting(t, service, stranger.ID)},
		{"service for the reader", mayRead, false, sys.Acting(t, service, reader.ID)},
		{"nobody", noToken, false, sys.Bearer(t, "", "")},
		{"expired token", noToken, false, sys.Bearer(t, "late", expired)},
		{"stranger", outside, false, stranger},
		{"reader of another", outside, false, user("elsewhere")},
		{"expired share", outside, false, user("expired")},
		{"revoked share", outside, false, user("revoked")},
		{"admin", outside, true, sys.Bearer(t, adminID, scoped)},
		{"named reader", mayRead, false, reader},
		{"link reader", mayRead, false, user("linkreader")},
		{"service for the writer", mayWrite, false, sys.Acting(t, service, writer.ID)},
		{"named writer", mayWrite, false, writer},
		{"link writer", mayWrite, false, user("linkwriter")},
		{"owner", isOwner, false, owner},
	}
}

func find(callers []caller, name string) caller {
	return callers[slices.IndexFunc(callers, func(c caller) bool { return c.name == name })]
}

// mustStage makes a scene and gives the callers the access that their names state.
func mustStage(t *testing.T, callers []caller) *scene {
	t.Helper()
	alice := find(callers, "owner")
	path := mustCreate(t, alice.User, e2e.M{"agent": "demo", "state": e2e.M{"color": "red", "user:secret": "mine"}})
	s := &scene{session: strings.TrimPrefix(path, api+"/sessions/"), path: path, task: "task-" + uuid.NewString()}
	mustAppend(t, alice.User, path, event("first", "hello"))
	mustSave(t, alice.User, path, s.task, "hello")
	alice.Send(http.MethodPut, path+"/artifacts/note.txt", "old", e2e.Header("Content-Type", "text/plain")).Want(201)
	share := func(name, access string, more e2e.M) string {
		body := e2e.M{"access": access, "user_id": find(callers, name).ID}
		maps.Copy(body, more)
		return alice.Post(path+"/shares", body).Want(201).Str("data.id")
	}
	link := func(name, access string) {
		token := alice.Post(path+"/shares", e2e.M{"access": access}).Want(201).Str("data.token")
		find(callers, name).Post(api+"/shares/accept", e2e.M{"token": token}).Want(200)
	}
	share("named reader", "read", nil)
	share("named writer", "write", nil)
	share("expired share", "write", e2e.M{"expires_in": 1})
	alice.Delete(path + "/shares/" + share("revoked share", "write", nil)).Want(204)
	link("link reader", "read")
	link("link writer", "write")
	s.share = alice.Post(path+"/shares", e2e.M{"access": "read", "user_id": "somebody"}).Want(201).Str("data.id")
	return s
}

// occupy starts a run in the scene, for routes about runs.
func (s *scene) occupy(t *testing.T, c caller) {
	t.Helper()
	_, s.run = mustRun(t, c.User, s.path, "work", e2e.M{"mode": "external", "agent": "demo"})
}

// respond creates a response in the scene, for routes about it and its items.
func (s *scene) respond(t *testing.T, c caller) {
	t.Helper()
	made := c.Post("/v1/responses", e2e.M{"model": "demo", "input": "hello", "conversation": s.session}).Want(200)
	s.response, s.item = made.Str("id"), made.Str("output.0.id")
}

// hook makes a webhook with a delivery, for routes about them.
func (s *scene) hook(t *testing.T, c caller) {
	t.Helper()
	s.webhook = c.Post(api+"/webhooks", deafWebhook()).Want(201).Str("data.id")
	s.delivery = c.Post(api+"/webhooks/"+s.webhook+"/test", nil).Want(202).Str("data.id")
}

// address is the path of a request to a route of the template.
func (s *scene) address(r route, path string) string {
	if r.path != "" {
		path = r.path
	}
	return strings.NewReplacer("{session_id}", s.session, "{thread_id}", s.session, "{run_id}", s.run, "{task_id}", s.task, "{share_id}", s.share,
		"{name}", "note.txt", "{agent}", "demo", "{import_id}", "none", "{part}", "2", "{a2a_task}", s.a2aTask,
		"{webhook_id}", s.webhook, "{delivery_id}", s.delivery, "{automation_id}", s.automation,
		"{conversation_id}", s.session, "{response_id}", s.response, "{item_id}", s.item, "{model}", "demo").Replace(path)
}

// mustRead returns everything that the owner can read of a scene.
func (s *scene) mustRead(t *testing.T, alice caller) string {
	t.Helper()
	var all strings.Builder
	for _, path := range []string{"/thread", "/events?view=all", "/state", "/tasks", "/artifacts", "/shares", "/forks"} {
		all.Write(alice.Get(s.path + path).Want(200).Body)
	}
	return all.String()
}

// routesOf are the routes of the template, as "METHOD /path".
func routesOf(t *testing.T, sys *e2e.System) []string {
	t.Helper()
	template, err := samtemplate.Load(filepath.Join(sys.Root, "template.yaml"), samtemplate.Options{
		Parameters: map[string]string{"JwtIssuer": "https://issuer.example", "JwtAudience": "rethread"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, function := range template.Functions {
		for _, r := range function.Routes {
			if !strings.HasSuffix(r.Path, "/{unknown+}") { // what does not exist has nothing to protect
				all = append(all, r.Method+" "+r.Path)
			}
		}
	}
	for _, sockets := range template.WebSocketAPIs {
		for key := range sockets.Routes {
			all = append(all, "websocket "+key)
		}
	}
	slices.Sort(all)
	// Routes that delete everything come last.
	const erase = "DELETE /api/v1/me/data"
	return append(slices.DeleteFunc(all, func(r string) bool { return r == erase }), erase)
}

// testMatrix calls every route of the template as every kind of caller, and
// compares the answers with the table. Refused calls must not change anything.
func testMatrix(t *testing.T, sys *e2e.System) {
	t.Helper()
	callers, table, routes := newCallers(t, sys), accessTable(), routesOf(t, sys)
	other := mustCreate(t, find(callers, "owner").User, nil)
	find(callers, "owner").Post(other+"/shares", e2e.M{"access": "read", "user_id": find(callers, "reader of another").ID}).Want(201)
	shared := mustStage(t, callers)
	scenes := map[string]*scene{}
	used := map[string]bool{}
	for _, name := range routes {
		key := rowOf(table, name)
		if key == "" {
			t.Errorf("%s is in the template, but not in the access table", name)
			continue
		}
		used[key], scenes[name] = true, shared
		r := table[key]
		ofA2A := strings.Contains(r.path, "{a2a_task}")
		if r.who == writes || r.who == owns || ofA2A || strings.Contains(name, "{run_id}") || strings.HasPrefix(name, "DELETE ") {
			scenes[name] = mustStage(t, callers)
		}
		if ofA2A {
			s := scenes[name]
			s.a2aTask = mustDo(t, find(callers, "owner").User, s.session)
		}
	}
	for key := range table {
		if !used[key] {
			t.Errorf("%s is in the access table, but not in the template", key)
		}
	}
	for s := range distinct(scenes) { // until the expiring shares have expired
		waitFor(t, func() bool { return find(callers, "expired share").Get(s.path).Status == http.StatusForbidden })
	}
	var out bytes.Buffer
	rows := tabwriter.NewWriter(&out, 0, 4, 1, ' ', 0)
	for _, name := range routes {
		if s := scenes[name]; s != nil {
			r := table[rowOf(table, name)]
			cells := append([]string{name, string(r.who)}, row(t, sys, callers, s, name, r)...)
			_, _ = fmt.Fprintln(rows, strings.Join(cells, "\t")) // writes into memory
		}
	}
	_ = rows.Flush() // writes into memory
	t.Logf("who may use what; the columns are %v\n%s", names(callers), out.String())
}

// distinct returns each scene once.
func distinct(scenes map[string]*scene) map[*scene]bool {
	out := map[*scene]bool{}
	for _, s := range scenes {
		out[s] = true
	}
	return out
}

func names(callers []caller) []string {
	out := make([]string, len(callers))
	for i, c := range callers {
		out[i] = c.name
	}
	return out
}

// rowOf is the key of the table for a route of the template.
func rowOf(table map[string]route, name string) string {
	method, path, _ := strings.Cut(name, " ")
	bare, _ := strings.CutPrefix(path, "/api")
	for _, key := range []string{name, method + " " + strings.TrimPrefix(bare, "/v1")} {
		if _, ok := table[key]; ok {
			return key
		}
	}
	return ""
}

// row calls one route as every caller.
func row(t *testing.T, sys *e2e.System, callers []caller, s *scene, name string, r route) []string {
	t.Helper()
	var statuses []string
	before, alice := "", find(callers, "owner")
	if strings.Contains(name, "{run_id}") { // now, because the run sends no other heartbeat
		s.occupy(t, alice)
	}
	switch { // there may be few of them
	case strings.Contains(name, "{webhook_id}"):
		s.hook(t, alice)
	case strings.Contains(name, "{response_id}"), strings.Contains(name, "{item_id}"):
		s.respond(t, alice)
	case strings.Contains(name, "{automation_id}"):
		s.automation = alice.Post(api+"/automations", deafAutomation()).Want(201).Str("data.id")
	}
	changes := !strings.HasPrefix(name, "GET ") && r.who != signed
	if changes {
		before = s.mustRead(t, alice)
	}
	for _, c := range callers {
		want := r.expected(c)
		if changes && before != "" && !slices.Equal(want, []int{401}) && !slices.Equal(want, []int{403}) && !slices.Equal(want, []int{404}) {
			if after := s.mustRead(t, alice); after != before {
				t.Errorf("%s: a refused caller has changed something:\n%s\n%s", name, before, after)
			}
			before = ""
		}
		got := ask(t, sys, c, s, name, r)
		if !slices.Contains(want, got) {
			t.Errorf("%s as %s: %d, want %v", name, c.name, got, want)
		}
		statuses = append(statuses, fmt.Sprint(got))
	}
	return statuses
}
