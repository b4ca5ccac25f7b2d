package stores_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/idempotency"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/store/stores"
)

// scenario is an operation and the record of its outcome: outcomes contain no ids and
// times, so that two of the same scenario are equal.
type scenario struct {
	name string
	play func(*world)
}

// world is the store in which a scenario runs.
type world struct {
	t       *testing.T
	s       *stores.Store
	loser   *loser
	clock   *calendar
	outcome []string
}

// note records an outcome.
func (w *world) note(what string, err error, more ...any) {
	w.t.Helper()
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		what += fmt.Sprintf(": fault %d %s", f.Kind, f.Detail)
	case err != nil:
		what += ": " + err.Error()
	}
	w.outcome = append(w.outcome, fmt.Sprint(append([]any{what}, more...)...))
}

func scenarios() []scenario {
	return []scenario{
		{"a session", playSession},
		{"a session with state", playState},
		{"events", playEvents},
		{"a run", playRun},
		{"a run that is continued", playContinuation},
		{"a queue", playQueue},
		{"a task", playTask},
		{"feedback", playFeedback},
		{"a webhook", playWebhook},
		{"an automation", playAutomation},
		{"an idempotency key", playKey},
		{"an import", playImport},
		{"an import that is abandoned", playAbandon},
		{"watchers", playWatchers},
		{"shares", playShares},
		{"artifacts", playArtifacts},
		{"an A2A task", playA2A},
		{"signing keys", playSigning},
		{"a rewind and a fork", playRewind},
		{"retention", playRetention},
		{"an erasure", playErasure},
	}
}

func playSession(w *world) {
	ctx := w.t.Context()
	w.loser.begin()
	made, err := w.s.Sessions.Create(ctx, session.New{ID: "s", UserID: alice, AppName: "a", Metadata: []byte("{}"), Nonce: "n", KeyedBy: "k"})
	w.note("create", err, made.Version)
	name, hour := "renamed", int64(7200)
	changed, err := w.s.Sessions.Update(ctx, alice, "s", session.Patch{Name: &name, IfMatch: &made.Version})
	w.note("rename", err, changed.Version, changed.Name)
	changed, err = w.s.Sessions.Update(ctx, alice, "s", session.Patch{Retention: &hour, IfMatch: &changed.Version})
	w.note("retain", err, changed.Version, changed.Retention)
	usage, err := w.s.Runs.Usage(ctx, alice)
	w.note("usage", err, usage.Sessions.Used)
	w.note("delete", w.s.Sessions.Delete(ctx, alice, "s"))
	usage, err = w.s.Runs.Usage(ctx, alice)
	w.note("usage", err, usage.Sessions.Used)
	w.clock.forward(time.Hour)
	n, err := w.s.Lifecycle.Sweep(ctx)
	w.note("sweep", err, n)
}

func playState(w *world) {
	w.loser.begin()
	got := mustCreate(w.t, w.s, alice, "s", session.Delta{"a": []byte("1"), "user:b": []byte("2")})
	w.note("create", nil, got.HeadSeq)
	state, err := w.s.Sessions.State(w.t.Context(), alice, "s")
	w.note("state", err, string(state.Merged["a"]), string(state.Merged["user:b"]))
}

func playEvents(w *world) {
	mustCreate(w.t, w.s, alice, "s", nil)
	w.loser.begin()
	mustAppend(w.t, w.s, alice, "s", event(w.t, "", "i", "one"))
	mustAppend(w.t, w.s, alice, "s", event(w.t, "chosen", "i", "two"), stateEvent(w.t, "i", map[string]any{"a": 1}))
	for _, e := range mustEvents(w.t, w.s, alice, "s", session.EventQuery{View: session.All}) {
		w.note("event", nil, e.Seq, e.InvocationID)
	}
}

func playRun(w *world) {
	ctx := w.t.Context()
	mustCreate(w.t, w.s, alice, "s", nil)
	w.loser.begin()
	started := mustStart(w.t, w.s, startOf(w.t, "s", "r", "hi"))
	claimed, err := w.s.Runs.Claim(ctx, refOf("s", "r"), run.Claimant{Worker: "worker"})
	w.note("claim", err, claimed.ID, started.Status)
	w.clock.forward(run.Lease / 2)
	w.note("renew", w.s.Runs.Renew(ctx, refOf("s", "r")))
	it := mustBegin(w.t, w.s, refOf("s", "r"), "item")
	mustFlush(w.t, it, "some ", "text")
	e := event(w.t, "item", "r", "some text")
	done, err := it.Complete(ctx, e)
	w.note("complete", err, done.Seq, done.Status)
	ended := mustEnd(w.t, w.s, refOf("s", "r"), run.Completed, nil)
	w.note("end", nil, ended.Status)
	mustStart(w.t, w.s, startOf(w.t, "s", "r2", "more"))
	cancelled, err := w.s.Runs.Cancel(ctx, refOf("s", "r2"))
	w.note("cancel", err, cancelled.Status)
	mustStart(w.t, w.s, startOf(w.t, "s", "r3", "again"))
	usage, err := w.s.Runs.Usage(ctx, alice)
	w.note("usage", err, usage.Runs.Used)
	w.note("thread", nil, shown(mustThread(w.t, w.s, "s")))
}

func playContinuation(w *world) {
	ctx := w.t.Context()
	ref, _ := lose(w.t, w.s, w.clock, "s", 2)
	w.loser.begin()
	for _, worker := range []string{"second", "third"} {
		r, err := w.s.Runs.Claim(ctx, refOf("s", "r"), continuable(worker, 2))
		w.note("claim", err, r.Continuations)
		ref.Continuation = r.Continuations
		mustFlush(w.t, mustBegin(w.t, w.s, ref, ""), worker)
		w.clock.forward(run.Lease + time.Second)
	}
	w.note("renew", w.s.Runs.Renew(ctx, ref))
	w.clock.forward(run.ContinuationGrace * run.Lease)
	w.note("thread", nil, shown(mustThread(w.t, w.s, "s")))
}

func playTask(w *world) {
	mustCreate(w.t, w.s, alice, "s", nil)
	w.loser.begin()
	for _, text := range []string{"one", "two"} {
		w.note("save", nil, mustSave(w.t, w.s, "s", "t", `[{"id":"b","type":"user","text":"`+text+`"}]`))
	}
	w.note("save", nil, mustSave(w.t, w.s, "s", "t", `[{"id":"b","type":"user","text":"three"}]`, "inv"))
	got, err := w.s.Tasks.Task(w.t.Context(), alice, "s", "t")
	w.note("task", err, string(got.Bubbles))
	w.note("delete", w.s.Tasks.DeleteTask(w.t.Context(), alice, "s", "t"))
	_, err = w.s.Tasks.Task(w.t.Context(), alice, "s", "t")
	w.note("task", err)
}

func playFeedback(w *world) {
	ctx := w.t.Context()
	mustCreate(w.t, w.s, alice, "s", nil)
	mustSave(w.t, w.s, "s", "t", `[{"id":"b","type":"user","text":"x"}]`)
	w.loser.begin()
	f := task.Feedback{ID: "f", UserID: alice, SessionID: "s", TaskID: "t", Type: task.Up, CreatedTime: 1}
	w.note("give", w.s.Feedback.AddFeedback(ctx, f))
	w.note("mark", w.s.Feedback.MarkTask(ctx, f))
	page, err := w.s.Feedback.ListFeedback(ctx, task.FeedbackQuery{UserID: alice, Limit: 10})
	w.note("list", err, len(page.Feedback))
	got, err := w.s.Tasks.Task(ctx, alice, "s", "t")
	w.note("task", err, string(got.Metadata))
}

func playWebhook(w *world) {
	ctx := w.t.Context()
	w.loser.begin()
	made := fixture.CreateWebhook(w.t, w.s, fixture.Webhook(alice, "h", 1))
	fixture.CreateWebhook(w.t, w.s, fixture.Webhook(alice, "h2", 2))
	text := "changed"
	changed, err := w.s.Webhooks.ChangeWebhook(ctx, alice, "h", receiver.WebhookChange{Description: &text, IfMatch: &made.Version})
	w.note("change", err, changed.Version, changed.Description)
	secrets, err := w.s.Webhooks.RotateSecret(ctx, alice, "h", receiver.Rotation{Next: "whsec_second"})
	w.note("rotate", err, secrets.Version, len(secrets.Previous), secrets.Previous[0].Secret)
	w.note("disable", w.s.Webhooks.DisableWebhook(ctx, receiver.Disabling{UserID: alice, ID: "h", URL: changed.URL, Reason: "gone"}))
	d := delivery.Delivery{Event: notification.Event{ID: "e", Type: receiver.WebhookTest, UserID: alice}, Target: changed.Target()}
	record, err := w.s.Webhooks.NoteQueued(ctx, d)
	w.note("queue", err, record.State, record.Tries)
	w.note("webhook", nil, fixture.ReadWebhook(w.t, w.s, alice, "h").Status)
	w.note("delete", w.s.Webhooks.DeleteWebhook(ctx, alice, "h"))
	all, err := w.s.Webhooks.Webhooks(ctx, alice)
	w.note("left", err, len(all))
}

func playAutomation(w *world) {
	ctx := w.t.Context()
	w.loser.begin()
	made, err := w.s.Automations.CreateAutomation(ctx, automation.Automation{
		ID: "a", UserID: alice, Name: "n", Status: automation.Active, CreatedTime: 1, UpdatedTime: 1, Version: 1,
		On: automation.Trigger{Types: []string{"task.saved"}}, Do: automation.Action{Agent: "guide", Input: "hello"},
	})
	w.note("create", err, made.Version)
	name := "changed"
	changed, err := w.s.Automations.ChangeAutomation(ctx, alice, "a", automation.Change{Name: &name, IfMatch: &made.Version})
	w.note("change", err, changed.Version, changed.Name)
	for _, id := range []string{"r1", "r2"} {
		counted, err := w.s.Automations.CountRun(ctx, made, automation.LastRun{RunID: id, SessionID: "s", EventType: "task.saved"})
		w.note("count", err, counted)
	}
	w.note("delete", w.s.Automations.DeleteAutomation(ctx, alice, "a"))
	w.note("delete again", w.s.Automations.DeleteAutomation(ctx, alice, "a"))
}

func playKey(w *world) {
	ctx := w.t.Context()
	w.loser.begin()
	for _, log := range []string{"", "log"} {
		c := idempotency.Claim{UserID: alice, Key: "k" + log, Route: "POST /x", Digest: "d", Log: log, Nonce: "1"}
		begin := func(what, nonce string) {
			c.Nonce = nonce
			answer, err := w.s.Idempotency.Begin(ctx, c)
			w.note(what, err, answer != nil)
		}
		begin("begin", "1")
		w.note("release", w.s.Idempotency.Release(ctx, c))
		begin("begin again", "2")
		w.clock.forward(2 * idempotency.Lease)
		begin("take over", "3")
		begin("in use", "4")
		c.Nonce = "3"
		w.note("finish", w.s.Idempotency.Finish(ctx, c, idempotency.Answer{Status: 201, Body: []byte("x")}))
		begin("repeat", "5")
		w.clock.forward(idempotency.Lifetime)
		begin("a day later", "6")
	}
}

func playImport(w *world) {
	ctx := w.t.Context()
	mustCreate(w.t, w.s, bob, "other", nil)
	w.loser.begin()
	p, err := w.s.Archives.Import(ctx, upload(w.t, w.document()))
	w.note("import", err, p.Session != nil, p.Kept)
	usage, err := w.s.Runs.Usage(ctx, bob)
	w.note("usage", err, usage.Sessions.Used)
}

// document is an exported session of alice's.
func (w *world) document() []byte {
	w.loser.end()
	defer w.loser.begin()
	mustCreate(w.t, w.s, alice, "s", session.Delta{"user:b": []byte("2")})
	mustAppend(w.t, w.s, alice, "s", event(w.t, "", "i", "hello"))
	mustPut(w.t, w.s, alice, "s", "user:shared", "content")
	var doc bytes.Buffer
	if err := w.s.Archives.Export(w.t.Context(), alice, "s", archive.NewWriter(&doc)); err != nil {
		w.t.Fatal(err)
	}
	w.note("delete", w.s.Sessions.Delete(w.t.Context(), alice, "s"))
	return doc.Bytes()
}

func playAbandon(w *world) {
	ctx := w.t.Context()
	u := upload(w.t, w.document())
	u.Part.Complete = false
	p, err := w.s.Archives.Import(ctx, u)
	w.note("part", err, p.NextPart)
	w.clock.forward(time.Hour)
	w.note("abandon", w.s.Archives.Abandon(ctx, bob, "im"))
	w.note("abandon again", w.s.Archives.Abandon(ctx, bob, "im"))
}

func playWatchers(w *world) {
	ctx := w.t.Context()
	mustCreate(w.t, w.s, alice, "s", nil)
	fixture.LetIn(w.t, w.s, "s", "share", bob)
	w.loser.begin()
	fixture.Subscribe(w.t, w.s, fixture.Subscription("s", "c1", alice, ""), fixture.Subscription("s", "c2", bob, "share"))
	w.note("end subscriptions", w.s.Shares.Revoke(ctx, alice, "s", "share"))
	w.note("unsubscribe", w.s.Subscriptions.Unsubscribe(ctx, alice, "s", "c1"))
	w.note("disconnect", w.s.Subscriptions.Disconnect(ctx, "c2"))
	w.note("subscriptions", nil, len(fixture.Watchers(w.t, w.s, fixture.Log(w.t, w.s, "s"))))
}

func playShares(w *world) {
	ctx := w.t.Context()
	mustCreate(w.t, w.s, alice, "s", nil)
	w.loser.begin()
	fixture.LetIn(w.t, w.s, "s", "link", "")
	fixture.LetIn(w.t, w.s, "s", "named", "carol")
	fixture.Accept(w.t, w.s, bob, "link")
	at, err := w.s.Shares.CallerGrants(ctx, bob, "s")
	w.note("grants", err, len(at.Grants))
	w.note("leave", w.s.Shares.LeaveSession(ctx, bob, "s"))
	w.note("revoke", w.s.Shares.Revoke(ctx, alice, "s", "named"))
	all, err := w.s.Shares.Shares(ctx, alice, "s")
	w.note("shares", err, len(all), all[0].Access == access.Read)
}

func playArtifacts(w *world) {
	ctx := w.t.Context()
	mustCreate(w.t, w.s, alice, "s", nil)
	w.loser.begin()
	for _, name := range []string{"own", "user:shared"} {
		w.note(name, nil, mustPut(w.t, w.s, alice, "s", name, randomText(w.t, 3<<10)).Version, mustPut(w.t, w.s, alice, "s", name, "x").Version)
		w.note("delete", w.s.Artifacts.DeleteArtifact(ctx, alice, "s", name))
		_, _, err := w.s.Artifacts.Artifact(ctx, artifact.Ref{UserID: alice, SessionID: "s", Name: name})
		w.note("read", err)
	}
	usage, err := w.s.Runs.Usage(ctx, alice)
	w.note("usage", err, usage.Bytes.Used)
}

func playA2A(w *world) {
	ctx := w.t.Context()
	mustCreate(w.t, w.s, alice, "s", nil)
	w.loser.begin()
	of := receiver.PushTask{UserID: alice, SessionID: "s", ID: "t"}
	fixture.PutConfigs(w.t, w.s, of, receiver.PushConfig{ID: "a", URL: "https://example.com/a", Version: "1"},
		receiver.PushConfig{ID: "b", URL: "https://example.com/b", Version: "1"})
	w.note("drop", w.s.Pushes.DeleteConfig(ctx, of, "a"))
	left, err := w.s.Pushes.Configs(ctx, of)
	w.note("configs", err, len(left))
	w.note("link", w.s.Tasks.AddLink(ctx, task.Link{TaskID: "t", UserID: alice, SessionID: "s", Runs: []string{"r"}, CreatedTime: 1}, bob))
	w.note("extend", w.s.Tasks.ExtendLink(ctx, alice, "t", "r2"))
	w.note("cancel", w.s.Tasks.CancelLink(ctx, alice, "t", 5))
	link, err := w.s.Tasks.Link(ctx, bob, "t")
	w.note("linked", err, link.Runs, link.CancelledTime)
}

func playSigning(w *world) {
	w.loser.begin()
	for version := range int64(2) {
		w.note("put", w.s.Keys.PutSigningKeys(w.t.Context(), []byte("keys"), version))
	}
}

func playRewind(w *world) {
	mustCreate(w.t, w.s, alice, "s", nil)
	mustAppend(w.t, w.s, alice, "s", event(w.t, "", "i1", "one"), stateEvent(w.t, "i2", map[string]any{"a": 1}))
	w.loser.begin()
	done, err := w.s.History.Rewind(w.t.Context(), session.Rewind{UserID: alice, SessionID: "s", Before: "i2", Nonce: "rewound"})
	w.note("rewind", err, done.Event.Seq, done.Session.Epoch)
	f := mustFork(w.t, w.s, "s", "f", nil)
	w.note("fork", nil, f.HeadSeq)
	w.note("thread", nil, shown(mustThread(w.t, w.s, "f")))
}

func playRetention(w *world) {
	mustCreate(w.t, w.s, alice, "s", nil)
	w.clock.forward(30 * time.Minute)
	mustAppend(w.t, w.s, alice, "s", event(w.t, "", "i", "hello"))
	w.clock.forward(40 * time.Minute)
	w.loser.begin()
	n, err := w.s.Lifecycle.SweepRetention(w.t.Context())
	w.note("look", err, n)
	w.clock.forward(time.Hour)
	n, err = w.s.Lifecycle.SweepRetention(w.t.Context())
	w.note("delete", err, n)
	usage, err := w.s.Runs.Usage(w.t.Context(), alice)
	w.note("usage", err, usage.Sessions.Used)
}

func playErasure(w *world) {
	ctx := w.t.Context()
	mustCreate(w.t, w.s, alice, "s", nil)
	fixture.LetIn(w.t, w.s, "s", "share", bob)
	fixture.CreateWebhook(w.t, w.s, fixture.Webhook(alice, "h", 1))
	w.clock.forward(time.Second)
	w.loser.begin()
	for _, user := range []string{bob, alice} {
		report, err := w.s.Lifecycle.Erase(ctx, user)
		w.note("erase", err, report.Status, report.Removed)
	}
	w.clock.forward(time.Minute)
	n, err := w.s.Lifecycle.SweepErasures(ctx)
	w.note("sweep", err, n)
}
