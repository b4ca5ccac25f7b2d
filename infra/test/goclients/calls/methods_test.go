package calls_test

import (
	"context"
	"encoding/json"
	"errors"

	rethread "github.com/rethread/rethread/clients/go"
)

// methods returns the call of each operation that has a method.
func methods(ctx context.Context, c *rethread.Client, o ...rethread.Option) map[string]func() error {
	none := rethread.ListQuery{}
	events := rethread.AppendRequest{Events: []rethread.EventRequest{{InvocationID: "i", Author: "user"}}}
	before := rethread.RewindRequest{RewindBeforeInvocationID: "i"}
	return map[string]func() error{
		"listSessions": func() error {
			return drop(c.Sessions.List(rethread.SessionQuery{Agent: "a", Shared: true, Exact: true}, o...).Collect(ctx))
		},
		"createSession": func() error { return drop(c.Sessions.Create(ctx, rethread.SessionRequest{}, o...)) },
		"getSession":    func() error { return drop(c.Sessions.Get(ctx, "s/1", o...)) },
		"updateSession": func() error {
			return drop(c.Sessions.Update(ctx, "s", rethread.SessionChange{Name: rethread.Ptr("n")}, o...))
		},
		"deleteSession": func() error { return c.Sessions.Delete(ctx, "s", o...) },
		"leaveSession":  func() error { return c.Sessions.Leave(ctx, "s", o...) },
		"forkSession":   func() error { return drop(c.Sessions.Fork(ctx, "s", rethread.ForkRequest{}, o...)) },
		"getForks":      func() error { return drop(c.Sessions.Forks(ctx, "s", o...)) },
		"rewindSession": func() error { return drop(c.Sessions.Rewind(ctx, "s", before, o...)) },
		"exportSession": func() error { return export(ctx, c, o) },
		"getState":      func() error { return drop(c.State.Get(ctx, "s", o...)) },
		"watchSession":  func() error { return watchToTheEnd(ctx, c) },

		"listEvents": func() error {
			return drop(c.Events.List("s", rethread.EventQuery{All: true, After: 1}, o...).Collect(ctx))
		},
		"appendEvents": func() error { return drop(c.Events.Append(ctx, "s", events, o...)) },
		"getThread":    func() error { return drop(c.Thread.Get(ctx, "s", rethread.ThreadQuery{Newest: true}, o...)) },

		"startRun": func() error {
			return drop(c.Runs.Start(ctx, "s", rethread.RunRequest{Input: rethread.Input("hi")}, o...))
		},
		"listRuns":        func() error { return drop(c.Runs.List("s", none, o...).Collect(ctx)) },
		"getRun":          func() error { return drop(c.Runs.Get(ctx, "s", "r", o...)) },
		"listRunRequests": func() error { return drop(c.Runs.Requests("s", "r", none, o...).Collect(ctx)) },
		"updateRun":       func() error { return drop(c.Runs.Update(ctx, "s", "r", rethread.RunChange{KeepAlive: true}, o...)) },
		"cancelRun":       func() error { return drop(c.Runs.Cancel(ctx, "s", "r", o...)) },
		"pushDeltas":      func() error { return drop(c.Runs.PushDeltas(ctx, "s", "r", rethread.DeltaPush{ItemID: "a"}, o...)) },
		"pushRunEvents":   func() error { return drop(c.Runs.PushEvents(ctx, "s", "r", rethread.RunEvents{}, o...)) },

		"listArtifacts":        func() error { return drop(c.Artifacts.List("s", none, o...).Collect(ctx)) },
		"listArtifactVersions": func() error { return drop(c.Artifacts.Versions("s", "a", none, o...).Collect(ctx)) },
		"getArtifact":          func() error { return drop(c.Artifacts.GetVersion(ctx, "s", "a b.txt", 0, o...)) },
		"putArtifact": func() error {
			return drop(c.Artifacts.Put(ctx, "s", "a", rethread.Upload{Content: []byte("x"), InvocationID: "i"}, o...))
		},
		"deleteArtifact": func() error { return c.Artifacts.Delete(ctx, "s", "a", o...) },

		"listTasks":    func() error { return drop(c.Tasks.List("s", none, o...).Collect(ctx)) },
		"saveTask":     func() error { return drop(c.Tasks.Save(ctx, "s", rethread.TaskSave{}, o...)) },
		"getTask":      func() error { return drop(c.Tasks.Get(ctx, "s", "t", o...)) },
		"deleteTask":   func() error { return c.Tasks.Delete(ctx, "s", "t", o...) },
		"listMessages": func() error { return drop(c.Messages.List("s", none, o...).Collect(ctx)) },
		"listFeedback": func() error { return drop(c.Feedback.List(rethread.FeedbackQuery{Type: "up"}, o...).Collect(ctx)) },
		"giveFeedback": func() error { return drop(c.Feedback.Give(ctx, rethread.FeedbackRequest{}, o...)) },

		"listShares":   func() error { return drop(c.Shares.List("s", none, o...).Collect(ctx)) },
		"shareSession": func() error { return drop(c.Shares.Create(ctx, "s", rethread.ShareRequest{}, o...)) },
		"revokeShare":  func() error { return c.Shares.Revoke(ctx, "s", "x", o...) },
		"acceptShare":  func() error { return drop(c.Shares.Accept(ctx, "t", o...)) },
		"getMyUsage":   func() error { return drop(c.Me.Usage(ctx, o...)) },
		"getErasure":   func() error { return drop(c.Me.Erasure(ctx, o...)) },
		"eraseMyData":  func() error { return drop(c.Me.Erase(ctx, o...)) },

		"importSession": func() error { return drop(c.Imports.Start(ctx, "i", json.RawMessage("{}"), o...)) },
		"importPart":    func() error { return drop(c.Imports.Part(ctx, "i", 2, json.RawMessage("{}"), o...)) },
		"abandonImport": func() error { return c.Imports.Abandon(ctx, "i", o...) },

		"listWebhooks":        func() error { return drop(c.Webhooks.List(none, o...).Collect(ctx)) },
		"createWebhook":       func() error { return drop(c.Webhooks.Create(ctx, rethread.WebhookRequest{}, o...)) },
		"getWebhook":          func() error { return drop(c.Webhooks.Get(ctx, "w", o...)) },
		"updateWebhook":       func() error { return drop(c.Webhooks.Update(ctx, "w", rethread.WebhookChange{}, o...)) },
		"deleteWebhook":       func() error { return c.Webhooks.Delete(ctx, "w", o...) },
		"testWebhook":         func() error { return drop(c.Webhooks.Test(ctx, "w", o...)) },
		"getWebhookSecret":    func() error { return drop(c.Webhooks.Secret(ctx, "w", o...)) },
		"rotateWebhookSecret": func() error { return drop(c.Webhooks.RotateSecret(ctx, "w", rethread.SecretRotation{}, o...)) },
		"listDeliveries":      func() error { return drop(c.Webhooks.Deliveries("w", none, o...).Collect(ctx)) },
		"getDelivery":         func() error { return drop(c.Webhooks.Delivery(ctx, "w", "d", o...)) },
		"replayDelivery":      func() error { return drop(c.Webhooks.Replay(ctx, "w", "d", o...)) },

		"listAutomations":  func() error { return drop(c.Automations.List(none, o...).Collect(ctx)) },
		"createAutomation": func() error { return drop(c.Automations.Create(ctx, rethread.AutomationRequest{}, o...)) },
		"getAutomation":    func() error { return drop(c.Automations.Get(ctx, "a", o...)) },
		"changeAutomation": func() error { return drop(c.Automations.Update(ctx, "a", rethread.AutomationChange{}, o...)) },
		"deleteAutomation": func() error { return c.Automations.Delete(ctx, "a", o...) },

		"listA2ATasks":        func() error { return drop(c.A2A.Tasks(ctx, "s", o...)) },
		"saveA2ATask":         func() error { return drop(c.A2A.SaveTask(ctx, json.RawMessage("{}"), o...)) },
		"getA2ATask":          func() error { return drop(c.A2A.Task(ctx, "t", o...)) },
		"deleteA2ATask":       func() error { return c.A2A.DeleteTask(ctx, "t", o...) },
		"getDefaultAgentCard": func() error { return drop(c.A2A.Card(ctx, "", o...)) },
		"getAgentCard":        func() error { return drop(c.A2A.Card(ctx, "a", o...)) },
		"getNotificationKeys": func() error { return drop(c.A2A.Keys(ctx, o...)) },
	}
}

// drop drops the result of a call.
func drop[T any](_ T, err error) error { return err }

func export(ctx context.Context, c *rethread.Client, o []rethread.Option) error {
	res, err := c.Sessions.Export(ctx, "s", o...)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// watchToTheEnd watches until the session is deleted.
func watchToTheEnd(ctx context.Context, c *rethread.Client) error {
	for _, err := range c.Watch(ctx, "s") {
		if err != nil && !errors.Is(err, rethread.ErrDeleted) {
			return err
		}
	}
	return nil
}
