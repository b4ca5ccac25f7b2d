package e2e_test

import (
	"testing"

	"github.com/rethread/rethread/infra/test/e2e"
)

// TestSystem is the specification of the running system as far as `make test` has it:
// each entrance, each kind of thing, live sessions and a crash. Groups run in parallel,
// against two systems with empty databases, one for requests and one for live sessions,
// and some against systems of their own.
func TestSystem(t *testing.T) {
	t.Parallel()
	both(t, testRequests, testLive, testFewPolicies)
}

// TestSystemAtLength is the rest of the specification, for `make test-slow`.
func TestSystemAtLength(t *testing.T) {
	t.Parallel()
	both(t, testMoreRequests, testMoreLive, testPolicies)
}

// both tests requests and live sessions, and then the policies of functions.
func both(t *testing.T, requests func(*testing.T, *e2e.System), live func(*testing.T, *e2e.System, *endless), policies func(*testing.T, *e2e.System)) {
	t.Helper()
	agent := newEndless(t)
	sys := e2e.Start(t, agent.env())
	t.Run("beside one another", func(t *testing.T) {
		requests(t, sys)
		live(t, sys.Another(t, agent.env()), agent)
	})
	t.Run("policies", func(t *testing.T) { policies(t, sys) }) // the last one, because it checks all earlier ones
}

// group is tests that share a system with other groups.
type group struct {
	name string
	run  func(*testing.T, *e2e.System)
}

// run runs groups in parallel with one another and with those of other calls.
func run(t *testing.T, sys *e2e.System, groups ...group) {
	t.Helper()
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			g.run(t, sys)
		})
	}
}

// testRequests tests requests.
func testRequests(t *testing.T, sys *e2e.System) {
	t.Helper()
	run(t, sys,
		group{"addresses", testAddresses},
		group{"sessions", testSessions},
		group{"events", testEvents},
		group{"state", testState},
		group{"tasks", testTasks},
		group{"messages", testMessages},
		group{"feedback", testFeedback},
		group{"artifacts", testArtifacts},
		group{"identity", testIdentity},
		group{"bad input", testBadInput},
		group{"a2a", testA2A},
		group{"agui", testAGUI},
		group{"aisdk", testAISDK},
		group{"responses", testResponses},
		group{"origins", testOrigins},
		group{"mcp", testMCP},
	)
}

// testMoreRequests tests what takes longer, and what tests of handlers hold as well.
func testMoreRequests(t *testing.T, sys *e2e.System) {
	t.Helper()
	run(t, sys,
		group{"documents", testDocuments},
		group{"session lists", testSessionLists},
		group{"search", testSearch},
		group{"event lists", testEventLists},
		group{"racing writers", testRacingWriters},
		group{"rewind", testRewind},
		group{"fork", testFork},
		group{"task sizes", testTaskSizes},
		group{"idempotency", testIdempotency},
		group{"a2a of other versions", testOtherA2A},
		group{"archive", testArchive},
		group{"erasure", testErasure},
		group{"access", testAccess},
		group{"quotas", testQuotas},
		group{"retention", testRetention},
		group{"working in forks", testWorkingInForks},
		group{"logs", testLogs},
		group{"traces", testTraces},
		group{"parameters", testParameters},
		group{"sent to agents", testSent},
		group{"services", testServices},
	)
}

// testDocuments tests what documents show, one after the other, because some share
// users.
func testDocuments(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("samples", func(t *testing.T) { testSamples(t, sys) })
	t.Run("payloads", func(t *testing.T) { testPayloads(t, sys) })
	t.Run("demo", func(t *testing.T) { testDemo(t, sys) })
	t.Run("doctor", func(t *testing.T) { testDoctor(t, sys) })
}

// testLive tests live sessions.
func testLive(t *testing.T, sys *e2e.System, _ *endless) {
	t.Helper()
	run(t, sys,
		group{"clock", testClock},
		group{"watching", testWatching},
		group{"webhooks", testWebhooks},
	)
}

// testMoreLive tests what takes longer of live sessions.
func testMoreLive(t *testing.T, sys *e2e.System, agent *endless) {
	t.Helper()
	run(t, sys,
		group{"crashes", agent.testCrashes},
		group{"turns", testTurns},
		group{"redrive", testRedrive},
		group{"runs", agent.testRuns},
		group{"queue", agent.testQueue},
		group{"crowds", testCrowds},
		group{"automations", testAutomations},
		group{"push notifications", testPush},
		group{"go client", testGoClient},
	)
}

const api = "/api/v1"

func sessionPath(id string) string { return api + "/sessions/" + id }

// mustCreate creates a session and returns its path.
func mustCreate(t *testing.T, u *e2e.User, body e2e.M) string {
	t.Helper()
	if body == nil {
		body = e2e.M{}
	}
	return sessionPath(u.Post(api+"/sessions", body).Want(201).Str("data.id"))
}

// event is a minimal event of an invocation with a text.
func event(invocation, text string) e2e.M {
	return e2e.M{
		"invocation_id": invocation, "author": "user",
		"content": e2e.M{"role": "user", "parts": []e2e.M{{"text": text}}},
	}
}

// mustAppend appends events and returns the answer.
func mustAppend(t *testing.T, u *e2e.User, session string, events ...e2e.M) *e2e.Answer {
	t.Helper()
	return u.Post(session+"/events", e2e.M{"events": events}).Want(201)
}

// bubble is a message of a task.
func bubble(id, kind, text string) e2e.M { return e2e.M{"id": id, "type": kind, "text": text} }

// mustSave saves a task with one bubble.
func mustSave(t *testing.T, u *e2e.User, session, task, text string) *e2e.Answer {
	t.Helper()
	return u.Post(session+"/tasks", e2e.M{
		"task_id": task, "user_message": text, "message_bubbles": []e2e.M{bubble("m-"+task, "user", text)},
	}).Want(200, 201)
}

// allPages reads a list to its end and returns every page.
func allPages(t *testing.T, u *e2e.User, path string) []*e2e.Answer {
	t.Helper()
	var pages []*e2e.Answer
	for path != "" {
		if len(pages) > 2000 {
			t.Fatalf("%s never ends", path)
		}
		page := u.Get(path).Want(200)
		pages = append(pages, page)
		path = page.Next()
	}
	return pages
}
