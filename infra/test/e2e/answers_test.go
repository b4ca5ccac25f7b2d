package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/test/e2e"
)

// testAnswers has the demo agent say all kinds of things, in one session.
func testAnswers(t *testing.T, sys *e2e.System, _ *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	all := mustFollow(t, alice, s, "watcher")
	ask := func(t *testing.T, input e2e.M) []view.Event {
		t.Helper()
		run := alice.Post(s+"/runs", e2e.M{"input": []e2e.M{input}}).Want(202).Str("data.run.id")
		mustSee(t, all, "the answer", answered(run))
		thread := mustAgree(t, alice, s, all)
		return answers(view.Session{Items: thread.Items}, run)
	}
	content := func(t *testing.T, items []view.Event) string {
		t.Helper()
		if len(items) != 1 || items[0].Status != view.EventCompleted {
			t.Fatalf("answers: %v", items)
		}
		return string(items[0].Fields["content"])
	}
	t.Run("thinking", func(t *testing.T) {
		want := `{"role":"model","parts":[{"thought":true,"text":"Let me think about it"},{"text":"I have thought about it."}]}`
		if diff := cmp.Diff(want, content(t, ask(t, says("/think it")))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("multibyte characters", func(t *testing.T) {
		want := "Grüße 👩‍👩‍👧‍👦 из 東京 🇯🇵 naïve 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 é"
		if diff := cmp.Diff([]string{want}, textsOf(ask(t, says("/utf8")))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("several items", func(t *testing.T) {
		want := []string{"Item 1 of 3. ", "Item 2 of 3. ", "Item 3 of 3. "}
		if diff := cmp.Diff(want, textsOf(ask(t, says("/items 3")))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("a function call and its response", func(t *testing.T) {
		got := content(t, ask(t, says("/tool parcels")))
		if !strings.Contains(got, `{"function_call":{"id":"call_1","name":"look_up","args":{"query":"parcels"}}}`) {
			t.Errorf("called: %s", got)
		}
		response := e2e.M{"content": e2e.M{"role": "user", "parts": []e2e.M{
			{"function_response": e2e.M{"id": "call_1", "name": "look_up", "response": e2e.M{"found": 3}}},
		}}}
		want := []string{`The tool answered {"found":3}. Thank you.`}
		if diff := cmp.Diff(want, textsOf(ask(t, response))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("a state change", func(t *testing.T) {
		ask(t, says("/state region=EMEA user:language=\"en\" n=1.50"))
		got := alice.Get(s + "/state").Want(200)
		if got.Raw("data.session") != `{"n":1.50,"region":"EMEA"}` || got.Raw("data.user") != `{"language":"en"}` {
			t.Errorf("state: %s", got.Body)
		}
	})
}

// testFailures has the demo agent fail in every way.
func testFailures(t *testing.T, sys *e2e.System, _ *endless) {
	t.Helper()
	for command, code := range map[string]string{
		"/fail": "demo_failed", "/drop": "agent_ended_early", "/malformed": "agent_protocol", "/big": "limit_exceeded",
	} {
		t.Run("a partial answer stays visible until the next input:  "+command, func(t *testing.T) {
			t.Parallel()
			alice := sys.User(t, "alice")
			s := mustCreate(t, alice, nil)
			all := mustFollow(t, alice, s, "watcher")
			_, run := mustRun(t, alice, s, command, nil)
			mustSee(t, all, "the failure", func(c view.Session) bool { return c.Status == view.Failed && c.Error != nil })
			mustAgree(t, alice, s, all)
			thread := alice.Get(s + "/thread").Want(200)
			if thread.Str("data.run.id") != run || thread.Str("data.run.error.code") != code || thread.Str("data.session.status") != "failed" {
				t.Errorf("thread: %.2000s", thread.Body)
			}
			if thread.Str("data.items.1.status") != "failed" || thread.Str("data.items.1.error.code") != code ||
				!strings.HasPrefix(thread.Str("data.items.1.content.parts.0.text"), "This goes well, until ") {
				t.Errorf("thread: %.2000s", thread.Body)
			}
			goOn(t, alice, s, run, all)
		})
	}
}

// goOn asks again after a failed run: refused first, then discarding the run.
func goOn(t *testing.T, u *e2e.User, s, failed string, all []*e2e.Follower) {
	t.Helper()
	blocked := u.Post(s+"/runs", e2e.M{"input": []e2e.M{says("wait")}, "on_failed": "block"}).Want(409)
	if blocked.Str("run_id") != failed {
		t.Errorf("blocked: %s", blocked.Body)
	}
	_, next := mustRun(t, u, s, "again", nil)
	mustSee(t, all, "the next answer", answered(next))
	thread := mustAgree(t, u, s, all)
	got := textsOf(thread.Items)
	if n := len(got); n < 2 || got[n-2] != "again" || !strings.HasPrefix(got[n-1], `You said: "again".`) ||
		slices.ContainsFunc(thread.Items, func(e view.Event) bool { return e.InvocationID == failed }) {
		t.Errorf("thread: %.500q", got)
	}
	if old := u.Get(s + "/runs/" + failed).Want(200); old.Str("data.status") != "failed" {
		t.Errorf("the run: %s", old.Body)
	}
}

// testExternal plays an external agent.
func testExternal(t *testing.T, sys *e2e.System, _ *endless) {
	t.Helper()
	alice := sys.User(t, "alice")
	s := mustCreate(t, alice, nil)
	all := mustFollow(t, alice, s, "watcher")
	_, run := mustRun(t, alice, s, "what did we sell?", e2e.M{"mode": "external", "agent": "analyst"})
	r := s + "/runs/" + run
	alice.Patch(r, e2e.M{"keep_alive": true}).Want(200)
	push := func(deltas ...e2e.M) *e2e.Answer {
		return alice.Post(r+"/deltas", e2e.M{"item_id": "answer", "deltas": deltas})
	}
	push(e2e.M{"part": 0, "thought": true, "text": "The table has it."}, e2e.M{"part": 1, "text": "1.2 "}).Want(200)
	if got := push(e2e.M{"part": 1, "text": "million"}).Want(200); got.Str("data.item_id") != "answer" || got.Int("data.offset") < 2 {
		t.Errorf("pushed: %s", got.Body)
	}
	mustSee(t, all, "what was pushed", hasWords(run, 2))
	thread := mustAgree(t, alice, s, all)
	if len(thread.Items) != 2 || thread.Items[1].Status != view.EventInProgress {
		t.Errorf("thread: %v", thread.Items)
	}
	alice.Post(r+"/events", e2e.M{"events": []e2e.M{
		{"id": "answer", "content": e2e.M{"role": "model", "parts": []e2e.M{{"text": "1.2 million dollars."}}}, "actions": e2e.M{"state_delta": e2e.M{"topic": "sales"}}},
		{"id": "more", "content": e2e.M{"role": "model", "parts": []e2e.M{{"text": "Ask me more."}}}},
	}}).Want(201)
	if got := alice.Patch(r, e2e.M{"status": "completed"}).Want(200); got.Str("data.status") != "completed" {
		t.Errorf("ended: %s", got.Body)
	}
	alice.Patch(r, e2e.M{"status": "completed"}).Want(200)
	push(e2e.M{"part": 0, "text": "late"}).Want(409)
	alice.Post(r+"/events", e2e.M{"events": []e2e.M{{"content": e2e.M{"role": "model", "parts": []e2e.M{{"text": "late"}}}}}}).Want(409)
	alice.Patch(r, e2e.M{"keep_alive": true}).Want(409)
	alice.Patch(r, e2e.M{"status": "failed"}).Want(409)
	mustSee(t, all, "the answer", answered(run))
	thread = mustAgree(t, alice, s, all)
	if diff := cmp.Diff([]string{"what did we sell?", "1.2 million dollars.", "Ask me more."}, textsOf(thread.Items)); diff != "" {
		t.Errorf("thread (-want +got)\n%s", diff)
	}
	if got := alice.Get(s + "/state").Want(200).Raw("data.session"); got != `{"topic":"sales"}` {
		t.Errorf("state: %s", got)
	}
	failExternal(t, alice, s, all)
}

// failExternal starts another run, whose agent reports a failure.
func failExternal(t *testing.T, u *e2e.User, s string, all []*e2e.Follower) {
	t.Helper()
	_, run := mustRun(t, u, s, "and in Germany?", e2e.M{"mode": "external", "agent": "analyst"})
	r := s + "/runs/" + run
	u.Post(r+"/deltas", e2e.M{"item_id": "half", "deltas": []e2e.M{{"part": 0, "text": "It is "}}}).Want(200)
	u.Patch(r, e2e.M{"status": "failed", "error": e2e.M{"code": "no_data", "message": "The table is gone."}}).Want(200)
	mustSee(t, all, "the failure", func(c view.Session) bool { return c.Status == view.Failed })
	thread := mustAgree(t, u, s, all)
	if thread.RunID != run || thread.Error == nil || thread.Error.Code != "no_data" || textOf(thread.Items[len(thread.Items)-1]) != "It is " {
		t.Errorf("thread: %+v", thread)
	}
	goOn(t, u, s, run, all)
}
