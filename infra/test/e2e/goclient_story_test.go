package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	rethread "github.com/rethread/rethread/clients/go"
	"github.com/rethread/rethread/infra/test/e2e"
)

// goTurn appends a question and an answer, and returns the invocation's id.
func goTurn(t *testing.T, client *rethread.Client, session, question string) string {
	t.Helper()
	turn := client.Events.Invocation(session, "")
	must[[]rethread.Event](t)(turn.Append(t.Context(), []rethread.EventRequest{
		{Author: "user", Content: rethread.Text("user", question)},
		{Author: "guide", Content: rethread.Text("model", "ok"), Actions: &rethread.Actions{StateDelta: map[string]any{"city": question}}},
	}))
	return turn.ID()
}

func testGoSessions(t *testing.T, sys *e2e.System) {
	t.Helper()
	client, _ := goClient(t, sys, "go")
	ctx := t.Context()
	made := must[rethread.Session](t)(client.Sessions.Create(ctx, rethread.SessionRequest{AppName: "trips"}))
	goTurn(t, client, made.ID, "Faro")
	last := goTurn(t, client, made.ID, "Porto")
	again := must[[]rethread.Event](t)(client.Events.Invocation(made.ID, last).Append(ctx, []rethread.EventRequest{
		{Author: "user", Content: rethread.Text("user", "Porto")},
	}))
	if len(again) != 1 || again[0].Seq != 3 {
		t.Errorf("a program that starts again stores %+v", again)
	}
	_, err := client.Events.Invocation(made.ID, last).Append(ctx, []rethread.EventRequest{{Author: "user", Content: rethread.Text("user", "other")}})
	var failed *rethread.Error
	if !errors.As(err, &failed) || !errors.Is(err, rethread.ErrConflict) || failed.Members["event_id"] != last+".1" {
		t.Errorf("other content under the same id: %v", err)
	}
	if all := must[[]rethread.Event](t)(client.Events.List(made.ID, rethread.EventQuery{Limit: 1}).Collect(ctx)); goTexts(all) != "Faro | ok | Porto | ok" {
		t.Errorf("the events are %s", goTexts(all))
	}
	fork := must[rethread.Session](t)(client.Sessions.Fork(ctx, made.ID, rethread.ForkRequest{RewindBeforeInvocationID: last}))
	rewound := must[rethread.Rewound](t)(client.Sessions.Rewind(ctx, made.ID, rethread.RewindRequest{RewindBeforeInvocationID: last}))
	if rewound.Session.Epoch != 1 || rewound.Restored.State["city"] != "Faro" {
		t.Errorf("the rewind gives %+v", rewound)
	}
	for _, id := range []string{made.ID, fork.ID} {
		thread := must[rethread.Thread](t)(client.Thread.Get(ctx, id, rethread.ThreadQuery{}))
		state := must[rethread.State](t)(client.State.Get(ctx, id))
		if goTexts(thread.Items) != "Faro | ok" || state.Merged["city"] != "Faro" {
			t.Errorf("%s shows %s, %v", id, goTexts(thread.Items), state)
		}
	}
	if tree := must[rethread.Branch](t)(client.Sessions.Forks(ctx, made.ID)); len(tree.Children) != 1 || tree.Children[0].ID != fork.ID {
		t.Errorf("the forks are %+v", tree)
	}
	goChange(t, client, made.ID)
	if usage := must[rethread.Usage](t)(client.Me.Usage(ctx)); usage.Sessions.Used != 2 {
		t.Errorf("the usage is %+v", usage)
	}
	if err := client.Sessions.Delete(ctx, fork.ID); err != nil {
		t.Error(err)
	}
	left := must[[]rethread.ListedSession](t)(client.Sessions.List(rethread.SessionQuery{Name: "alg"}).Collect(ctx))
	if len(left) != 1 || left[0].Name != "Algarve" {
		t.Errorf("the sessions are %+v", left)
	}
}

// goChange renames a session by its version, and in ways that are refused.
func goChange(t *testing.T, client *rethread.Client, id string) {
	t.Helper()
	tag := ""
	see := rethread.OnResponse(func(r *http.Response) { tag = r.Header.Get("ETag") })
	must[rethread.Session](t)(client.Sessions.Get(t.Context(), id, see))
	must[rethread.Session](t)(client.Sessions.Update(t.Context(), id, rethread.SessionChange{Name: rethread.Ptr("Algarve")}, rethread.IfMatch(tag)))
	if _, err := client.Sessions.Update(t.Context(), id, rethread.SessionChange{Name: rethread.Ptr("x")}, rethread.IfMatch(tag)); !errors.Is(err, rethread.ErrPreconditionFailed) {
		t.Errorf("an old version: %v", err)
	}
	if _, err := client.Sessions.Get(t.Context(), "unknown"); !errors.Is(err, rethread.ErrNotFound) {
		t.Errorf("an unknown session: %v", err)
	}
}

func testGoRuns(t *testing.T, sys *e2e.System) {
	t.Helper()
	client, _ := goClient(t, sys, "go")
	ctx := t.Context()
	made := must[rethread.Session](t)(client.Sessions.Create(ctx, rethread.SessionRequest{Agent: "demo"}))
	started := must[rethread.Thread](t)(client.Runs.Start(ctx, made.ID, rethread.RunRequest{Mode: "external", Input: rethread.Input("hello")}))
	run, step := started.Run.ID, 0
	steps := []func(rethread.Watched) bool{
		func(w rethread.Watched) bool { // the input is there: the answer begins
			if goTexts(w.Items) != "hello" {
				return false
			}
			must[rethread.Pushed](t)(client.Runs.PushDeltas(ctx, made.ID, run, rethread.DeltaPush{ItemID: "answer", Deltas: []rethread.Delta{{Text: "good "}}}))
			return true
		},
		func(w rethread.Watched) bool {
			if goTexts(w.Items) != "hello | good " || w.Status != rethread.InProgress || w.RunID != run {
				return false
			}
			must[rethread.Run](t)(client.Runs.Update(ctx, made.ID, run, rethread.RunChange{KeepAlive: true}))
			must[[]rethread.Event](t)(client.Runs.PushEvents(ctx, made.ID, run, rethread.RunEvents{
				Events: []rethread.RunEvent{{ID: "answer", Content: rethread.Text("model", "good day")}},
			}))
			must[rethread.Run](t)(client.Runs.Update(ctx, made.ID, run, rethread.RunChange{Status: "completed"}))
			return true
		},
		func(w rethread.Watched) bool {
			if goTexts(w.Items) != "hello | good day" || w.Status != rethread.Idle {
				return false
			}
			must[rethread.Rewound](t)(client.Sessions.Rewind(ctx, made.ID, rethread.RewindRequest{RewindBeforeInvocationID: run}))
			return true
		},
		func(w rethread.Watched) bool { return len(w.Items) == 0 && w.Epoch == 1 },
	}
	watchGo(ctx, t, client, made.ID, func(w rethread.Watched) bool {
		if steps[step](w) {
			step++
		}
		return step == len(steps)
	})
	next := must[rethread.Thread](t)(client.Runs.Start(ctx, made.ID, rethread.RunRequest{Input: rethread.Input("/long 2000")}))
	must[rethread.Thread](t)(client.Runs.Cancel(ctx, made.ID, next.Run.ID))
	if got := must[rethread.Run](t)(client.Runs.Get(ctx, made.ID, next.Run.ID)); got.Status != "cancelled" {
		t.Errorf("the run is %+v", got)
	}
}

func testGoFiles(t *testing.T, sys *e2e.System) {
	t.Helper()
	client, _ := goClient(t, sys, "go")
	ctx := t.Context()
	made := must[rethread.Session](t)(client.Sessions.Create(ctx, rethread.SessionRequest{}))
	for _, text := range []string{"by train", "by bus"} {
		must[rethread.ArtifactVersion](t)(client.Artifacts.Put(ctx, made.ID, "plan.txt", rethread.Upload{Content: []byte(text), MIMEType: "text/plain", InvocationID: text}))
	}
	newest := must[rethread.Artifact](t)(client.Artifacts.Get(ctx, made.ID, "plan.txt"))
	first := must[rethread.Artifact](t)(client.Artifacts.GetVersion(ctx, made.ID, "plan.txt", 0))
	versions := must[[]rethread.ArtifactVersion](t)(client.Artifacts.Versions(made.ID, "plan.txt", rethread.ListQuery{Limit: 1}).Collect(ctx))
	if string(newest.Content) != "by bus" || string(first.Content) != "by train" || newest.MIMEType != "text/plain" || len(versions) != 2 {
		t.Errorf("the files are %+v, %+v, %+v", newest, first, versions)
	}
	if err := client.Artifacts.Delete(ctx, made.ID, "plan.txt"); err != nil {
		t.Error(err)
	}
	if list := must[[]rethread.ArtifactVersion](t)(client.Artifacts.List(made.ID, rethread.ListQuery{}).Collect(ctx)); len(list) != 0 {
		t.Errorf("the artifacts are %+v", list)
	}
	goTasks(t, client, made.ID)
}

func goTasks(t *testing.T, client *rethread.Client, session string) {
	t.Helper()
	ctx := t.Context()
	must[rethread.TaskSaved](t)(client.Tasks.Save(ctx, session, rethread.TaskSave{
		TaskID: "t-" + session, UserMessage: rethread.Ptr("hi"), MessageBubbles: []rethread.Bubble{{ID: "m", Type: "user", Text: "hi"}},
	}))
	task := must[rethread.Task](t)(client.Tasks.Get(ctx, session, "t-"+session))
	list := must[[]rethread.Task](t)(client.Tasks.List(session, rethread.ListQuery{}).Collect(ctx))
	messages := must[[]rethread.Message](t)(client.Messages.List(session, rethread.ListQuery{}).Collect(ctx))
	if len(task.MessageBubbles) != 1 || len(list) != 1 || len(messages) != 1 || messages[0].Message != "hi" {
		t.Errorf("the tasks are %+v, %+v, %+v", task, list, messages)
	}
	must[rethread.FeedbackAccepted](t)(client.Feedback.Give(ctx, rethread.FeedbackRequest{TaskID: task.TaskID, SessionID: session, Type: "up"}))
	if given := must[[]rethread.Feedback](t)(client.Feedback.List(rethread.FeedbackQuery{SessionID: session}).Collect(ctx)); len(given) != 1 {
		t.Errorf("the feedback is %+v", given)
	}
	old := must[[]json.RawMessage](t)(client.A2A.Tasks(ctx, session))
	card := must[json.RawMessage](t)(client.A2A.Card(ctx, ""))
	if len(old) != 1 || !json.Valid(card) {
		t.Errorf("in the form of A2A they are %s; the card is %s", old, card)
	}
	if err := client.Tasks.Delete(ctx, session, task.TaskID); err != nil {
		t.Error(err)
	}
	if _, err := client.Tasks.Get(ctx, session, task.TaskID); !errors.Is(err, rethread.ErrNotFound) {
		t.Errorf("a deleted task: %v", err)
	}
}

func testGoShares(t *testing.T, sys *e2e.System) {
	t.Helper()
	owner, _ := goClient(t, sys, "owner")
	guest, user := goClient(t, sys, "guest")
	ctx := t.Context()
	made := must[rethread.Session](t)(owner.Sessions.Create(ctx, rethread.SessionRequest{}))
	share := must[rethread.Share](t)(owner.Shares.Create(ctx, made.ID, rethread.ShareRequest{Access: "read", UserID: user.ID}))
	if got := must[rethread.Session](t)(guest.Sessions.Get(ctx, made.ID)); got.Access != "read" {
		t.Errorf("the access is %q", got.Access)
	}
	turn := guest.Events.Invocation(made.ID, "")
	if _, err := turn.Append(ctx, []rethread.EventRequest{{Author: "user"}}); !errors.Is(err, rethread.ErrForbidden) {
		t.Errorf("a reader appends: %v", err)
	}
	if err := owner.Shares.Revoke(ctx, made.ID, share.ID); err != nil {
		t.Error(err)
	}
	link := must[rethread.Share](t)(owner.Shares.Create(ctx, made.ID, rethread.ShareRequest{Access: "write"}))
	if got := must[rethread.Accepted](t)(guest.Shares.Accept(ctx, link.Token)); got.SessionID != made.ID || got.Access != "write" {
		t.Errorf("the link gives %+v", got)
	}
	must[[]rethread.Event](t)(turn.Append(ctx, []rethread.EventRequest{{Author: "user"}}))
	if shared := must[[]rethread.ListedSession](t)(guest.Sessions.List(rethread.SessionQuery{Shared: true}).Collect(ctx)); len(shared) != 1 {
		t.Errorf("what is shared is %+v", shared)
	}
	if list := must[[]rethread.Share](t)(owner.Shares.List(made.ID, rethread.ListQuery{}).Collect(ctx)); len(list) == 0 {
		t.Error("there are no shares")
	}
	if err := guest.Sessions.Leave(ctx, made.ID); err != nil {
		t.Error(err)
	}
	for _, err := range guest.Watch(ctx, made.ID) {
		if !errors.Is(err, rethread.ErrForbidden) && !errors.Is(err, rethread.ErrNotFound) {
			t.Errorf("who has left still watches: %v", err)
		}
	}
}

func testGoArchive(t *testing.T, sys *e2e.System) {
	t.Helper()
	client, _ := goClient(t, sys, "go")
	ctx := t.Context()
	made := must[rethread.Session](t)(client.Sessions.Create(ctx, rethread.SessionRequest{Name: "Faro"}))
	goTurn(t, client, made.ID, "Faro")
	res, err := client.Sessions.Export(ctx, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	document := must[[]byte](t)(io.ReadAll(res.Body))
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	copied := must[rethread.Imported](t)(client.Imports.Start(ctx, "copy-of-"+made.ID, document))
	if copied.Session == nil || copied.Session.Name != "Faro" || copied.Session.HeadSeq != 2 {
		t.Fatalf("the import gives %+v", copied)
	}
	var whole map[string]any
	if err := json.Unmarshal(document, &whole); err != nil {
		t.Fatal(err)
	}
	last := must[[]byte](t)(json.Marshal(map[string]any{"format": whole["format"], "state": whole["state"], "complete": true}))
	delete(whole, "state")
	delete(whole, "complete")
	part := must[[]byte](t)(json.Marshal(whole))
	begun := must[rethread.Imported](t)(client.Imports.Start(ctx, "part-of-"+made.ID, part))
	ended := must[rethread.Imported](t)(client.Imports.Part(ctx, begun.Progress.ImportID, begun.Progress.NextPart, last))
	if ended.Session == nil || ended.Session.HeadSeq != 2 {
		t.Errorf("the second part gives %+v", ended)
	}
	other := must[rethread.Imported](t)(client.Imports.Start(ctx, "none-of-"+made.ID, part))
	if err := client.Imports.Abandon(ctx, other.Progress.ImportID); err != nil {
		t.Error(err)
	}
	must[rethread.Erasure](t)(client.Me.Erase(ctx))
	await(t, "the user's data to be deleted", func(context.Context) bool {
		return must[rethread.Erasure](t)(client.Me.Erasure(ctx)).Status == "complete"
	})
	if left := must[[]rethread.ListedSession](t)(client.Sessions.List(rethread.SessionQuery{}).Collect(ctx)); len(left) != 0 {
		t.Errorf("%d sessions are left", len(left))
	}
}

func testGoHooks(t *testing.T, sys *e2e.System) {
	t.Helper()
	client, _ := goClient(t, sys, "go")
	ctx := t.Context()
	r := newInbox(t)
	hook := must[rethread.Webhook](t)(client.Webhooks.Create(ctx, rethread.WebhookRequest{URL: r.url, Types: []string{"run.*"}}))
	test := must[rethread.Delivery](t)(client.Webhooks.Test(ctx, hook.ID))
	mustOpen(t, r.mustNext(t), hook.Secret)
	await(t, "the delivery", func(ctx context.Context) bool {
		return must[rethread.Delivery](t)(client.Webhooks.Delivery(ctx, hook.ID, test.ID)).State == "delivered"
	})
	must[rethread.WebhookSecret](t)(client.Webhooks.RotateSecret(ctx, hook.ID, rethread.SecretRotation{Revoke: true}))
	secret := must[rethread.WebhookSecret](t)(client.Webhooks.Secret(ctx, hook.ID))
	must[rethread.Delivery](t)(client.Webhooks.Replay(ctx, hook.ID, test.ID))
	mustOpen(t, r.mustNext(t), secret.Secret)
	deliveries := must[[]rethread.Delivery](t)(client.Webhooks.Deliveries(hook.ID, rethread.ListQuery{}).Collect(ctx))
	paused := must[rethread.Webhook](t)(client.Webhooks.Update(ctx, hook.ID, rethread.WebhookChange{Status: "disabled"}))
	if len(deliveries) == 0 || paused.Status != "disabled" {
		t.Errorf("the deliveries are %+v; the webhook is %+v", deliveries, paused)
	}
	if err := client.Webhooks.Delete(ctx, hook.ID); err != nil {
		t.Error(err)
	}
	if list := must[[]rethread.Webhook](t)(client.Webhooks.List(rethread.ListQuery{}).Collect(ctx)); len(list) != 0 {
		t.Errorf("the webhooks are %+v", list)
	}
	rule := must[rethread.Automation](t)(client.Automations.Create(ctx, rethread.AutomationRequest{
		On: rethread.AutomationTrigger{Types: []string{"run.failed"}}, Do: rethread.AutomationAction{Agent: "demo", Session: "new", Input: "why?"},
	}))
	must[rethread.Automation](t)(client.Automations.Update(ctx, rule.ID, rethread.AutomationChange{Name: rethread.Ptr("ask"), Status: "disabled"}))
	got := must[rethread.Automation](t)(client.Automations.Get(ctx, rule.ID))
	all := must[[]rethread.Automation](t)(client.Automations.List(rethread.ListQuery{}).Collect(ctx))
	if got.Name != "ask" || got.Status != "disabled" || len(all) != 1 {
		t.Errorf("the automations are %+v", all)
	}
	if err := client.Automations.Delete(ctx, rule.ID); err != nil {
		t.Error(err)
	}
}
