package e2e_test

import (
	"testing"

	"github.com/rethread/rethread/infra/test/e2e"
)

// TestSystem is the specification of the running system: one group of tests a
// resource, all against one system with an empty database.
func TestSystem(t *testing.T) {
	agent := newEndless(t)
	sys := e2e.Start(t, agent.env())
	t.Run("beside one another", func(t *testing.T) {
		t.Run("requests", func(t *testing.T) {
			t.Parallel()
			testRequests(t, sys)
		})
		t.Run("retention", func(t *testing.T) { // waits for the sweeper most of the time
			t.Parallel()
			testRetention(t, sys)
		})
	})
	t.Run("live", func(t *testing.T) { testLive(t, sys, agent) })
	t.Run("policies", func(t *testing.T) { testPolicies(t, sys) }) // the last, as it is about what all others did
}

// testRequests is about what requests do.
func testRequests(t *testing.T, sys *e2e.System) {
	t.Helper()
	for _, group := range []struct {
		name string
		run  func(*testing.T, *e2e.System)
	}{
		{"samples", testSamples},
		{"payloads", testPayloads},
		{"demo", testDemo},
		{"doctor", testDoctor},
		{"sessions", testSessions},
		{"session lists", testSessionLists},
		{"events", testEvents},
		{"event lists", testEventLists},
		{"racing writers", testRacingWriters},
		{"state", testState},
		{"rewind", testRewind},
		{"fork", testFork},
		{"tasks", testTasks},
		{"task sizes", testTaskSizes},
		{"messages", testMessages},
		{"feedback", testFeedback},
		{"artifacts", testArtifacts},
		{"identity", testIdentity},
		{"bad input", testBadInput},
		{"idempotency", testIdempotency},
		{"a2a", testA2A},
		{"archive", testArchive},
		{"erasure", testErasure},
		{"access", testAccess},
		{"quotas", testQuotas},
		{"working in forks", testWorkingInForks},
		{"logs", testLogs},
		{"traces", testTraces},
		{"parameters", testParameters},
	} {
		t.Run(group.name, func(t *testing.T) { group.run(t, sys) })
	}
}

// testLive is about sessions as they happen: tests that wait for agents most of
// the time, and so run beside one another.
func testLive(t *testing.T, sys *e2e.System, agent *endless) {
	t.Helper()
	t.Run("crashes", func(t *testing.T) {
		t.Parallel()
		testCrashes(t, sys)
	})
	t.Run("runs", func(t *testing.T) {
		t.Parallel()
		testRuns(t, sys, agent)
	})
	t.Run("leases", func(t *testing.T) {
		t.Parallel()
		testLeases(t, sys)
	})
	t.Run("watching", func(t *testing.T) {
		t.Parallel()
		testWatching(t, sys)
	})
	t.Run("turns", func(t *testing.T) {
		t.Parallel()
		testTurns(t, sys)
	})
	t.Run("automations", func(t *testing.T) {
		t.Parallel()
		testAutomations(t, sys)
	})
	t.Run("push notifications", func(t *testing.T) {
		t.Parallel()
		testPush(t, sys)
	})
	t.Run("redrive", func(t *testing.T) {
		t.Parallel()
		testRedrive(t, sys)
	})
	t.Run("webhooks", func(t *testing.T) {
		t.Parallel()
		testWebhooks(t, sys)
	})
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

// event is a minimal event of an invocation that says text.
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

// mustSave saves a task of one bubble.
func mustSave(t *testing.T, u *e2e.User, session, task, text string) *e2e.Answer {
	t.Helper()
	return u.Post(session+"/tasks", e2e.M{
		"task_id": task, "user_message": text, "message_bubbles": []e2e.M{bubble("m-"+task, "user", text)},
	}).Want(200, 201)
}

// allPages follows a list to its end and returns every page.
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
