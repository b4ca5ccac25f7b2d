package a2a_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/a2a"
)

// endedTask is a task whose runs are over, and the notifier of its events.
type endedTask struct {
	*pushServer

	task     *lib.Task
	log      string
	now      time.Time
	notifier a2a.Notifier
}

// newEndedTask returns a task with one configuration of each version, whose run
// has thought, answered "it is 42 <3" and ended.
func newEndedTask(t *testing.T) *endedTask {
	t.Helper()
	w := &endedTask{pushServer: newPushServer(t), now: time.Now()}
	c := w.mustDial(t, alice, lib.TransportProtocolJSONRPC, "1.0")
	w.task = w.mustTask(t, c, &lib.PushConfig{ID: "new", URL: "https://example.com:8443/hook?a=b", Token: "mine"})
	old := w.mustDial(t, alice, lib.TransportProtocolJSONRPC, "0.3")
	if _, err := old.CreateTaskPushConfig(t.Context(), &lib.PushConfig{
		TaskID: w.task.ID, ID: "old", URL: "https://example.com/hook", Auth: &lib.PushAuthInfo{Scheme: "Basic", Credentials: "YTpi"},
	}); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.log, err = w.store.Subscriptions.LogOf(t.Context(), alice, w.task.ContextID); err != nil {
		t.Fatal(err)
	}
	answer := session.Event{Author: "helper", Fields: map[string]json.RawMessage{
		"content": json.RawMessage(`{"role":"model","parts":[{"text":"hm","thought":true},{"text":"it is 42 <3"}]}`),
	}}
	if _, err := w.store.Runs.AppendEvents(t.Context(), w.ref(), []session.Event{answer}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Runs.End(t.Context(), w.ref(), run.Completed, nil); err != nil {
		t.Fatal(err)
	}
	w.notifier = a2a.Notifier{
		Sessions: w.store.Sessions, Runs: w.store.Runs, Links: w.store.Tasks, Targets: w.store.Pushes, Issuer: "https://api.example/a2a",
		Sign: func(_ context.Context, claims any) (string, error) {
			text, err := json.Marshal(claims)
			return "signed " + string(text), err
		},
		Now: func() time.Time { return w.now }, SignedTime: func() time.Time { return w.now }, NewID: func() string { return "token-1" },
	}
	return w
}

func (w *endedTask) ref() run.Ref {
	return run.Ref{UserID: alice, SessionID: w.task.ContextID, RunID: string(w.task.ID)}
}

func (w *endedTask) delivery(config string, typ notification.Type, seq int64) delivery.Delivery {
	return delivery.Delivery{
		Event: notification.Event{
			ID: fmt.Sprint(seq), Type: typ, Log: w.log, RunID: string(w.task.ID), Seq: seq, Time: w.now.UnixMilli(),
		},
		Target: receiver.PushTarget(w.log, string(w.task.ID), config),
	}
}

// shapes summarizes messages.
func shapes(t *testing.T, messages []delivery.Message) []string {
	t.Helper()
	var out []string
	for _, m := range messages {
		var body struct {
			Kind           string
			Status         struct{ State string }
			Artifacts      []any
			History        []any
			Task           *struct{ Status struct{ State string } }
			StatusUpdate   *struct{ Status struct{ State string } }
			ArtifactUpdate *struct {
				Artifact struct{ Parts []struct{ Text string } }
			}
		}
		if err := json.Unmarshal(m.Body, &body); err != nil {
			t.Fatalf("%v: %s", err, m.Body)
		}
		switch {
		case body.Task != nil:
			out = append(out, "task "+body.Task.Status.State)
		case body.StatusUpdate != nil:
			out = append(out, "status "+body.StatusUpdate.Status.State)
		case body.ArtifactUpdate != nil:
			out = append(out, "artifact "+body.ArtifactUpdate.Artifact.Parts[0].Text)
		default:
			out = append(out, fmt.Sprintf("%s %s %d %d", body.Kind, body.Status.State, len(body.History), len(body.Artifacts)))
		}
	}
	return out
}

func TestNotifications(t *testing.T) {
	w := newEndedTask(t)
	for name, test := range map[string]struct {
		config string
		typ    notification.Type
		seq    int64
		want   []string
	}{
		"a start sends the task": {"new", notification.RunStarted, 1, []string{"task TASK_STATE_WORKING"}},
		"an item sends what it adds": {
			"new", notification.ItemCompleted, 2, []string{"artifact it is 42 <3", "status TASK_STATE_WORKING"},
		},
		"an end sends the status":                      {"new", notification.RunCompleted, 3, []string{"status TASK_STATE_COMPLETED"}},
		"in version 0.3 a start sends the task":        {"old", notification.RunStarted, 1, []string{"task working 1 0"}},
		"in version 0.3 an item sends the task so far": {"old", notification.ItemCompleted, 2, []string{"task working 2 1"}},
		"in version 0.3 an end sends the whole task":   {"old", notification.RunCompleted, 3, []string{"task completed 2 1"}},
		"a cancellation sends the status":              {"new", notification.TaskCancelled, 0, []string{"status TASK_STATE_CANCELED"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := w.delivery(test.config, test.typ, test.seq)
			got, err := w.notifier.Messages(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, shapes(t, got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again, err := w.notifier.Messages(t.Context(), d)
			if diff := cmp.Diff(got, again); diff != "" || err != nil {
				t.Errorf("the second call differs: %v\n%s", err, diff)
			}
			for _, m := range got {
				if strings.ContainsAny(string(m.Body), "\n") || strings.Contains(string(m.Body), `\u003c`) {
					t.Errorf("not compact: %s", m.Body)
				}
			}
		})
	}
}

func TestNotificationHeaders(t *testing.T) {
	w := newEndedTask(t)
	mine, err := w.notifier.Messages(t.Context(), w.delivery("new", notification.RunCompleted, 3))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := w.notifier.Messages(t.Context(), w.delivery("old", notification.RunCompleted, 3))
	if err != nil {
		t.Fatal(err)
	}
	token := mine[0].Header["X-A2A-Notification-Signature"]
	var claims map[string]any
	if err := json.Unmarshal([]byte(strings.TrimPrefix(token, "signed ")), &claims); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"iss": "https://api.example/a2a", "aud": "https://example.com:8443", "taskId": string(w.task.ID), "jti": "token-1",
		"iat": float64(w.now.Unix()), "exp": float64(w.now.Unix() + 300),
	} {
		if claims[name] != want {
			t.Errorf("%s is %v, want %v", name, claims[name], want)
		}
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/a2a+json", "A2a-Version": "1.0",
		"X-A2A-Notification-Token": "mine", "A2A-Notification-Token": "mine",
	} {
		if got := mine[0].Header[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"Authorization": "Basic YTpi", "Content-Type": "application/json", "A2a-Version": "0.3", "X-A2A-Notification-Token": "",
	} {
		if got := theirs[0].Header[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if theirs[0].Header["X-A2A-Notification-Signature"] == "" || mine[0].Header["X-A2A-Notification-Id"] == "" {
		t.Error("a notification lacks its signature or its id")
	}
}

func TestWithoutNotification(t *testing.T) {
	w := newEndedTask(t)
	for name, test := range map[string]struct {
		change  func(*delivery.Delivery)
		retried bool
	}{
		"a deleted configuration": {func(d *delivery.Delivery) { d.Target = receiver.PushTarget(w.log, string(w.task.ID), "x") }, false},
		"an unknown item":         {func(d *delivery.Delivery) { d.Event.Type, d.Event.Seq = notification.ItemCompleted, 9 }, false},
		"a user's input":          {func(d *delivery.Delivery) { d.Event.Type, d.Event.Seq = notification.ItemCompleted, 1 }, false},
		"a run of another task": {func(d *delivery.Delivery) {
			d.Event.RunID, d.Event.Time = "other", w.now.Add(-time.Hour).UnixMilli()
		}, false},
		"a run whose link may not be stored yet": {func(d *delivery.Delivery) { d.Event.RunID = "other" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := w.delivery("new", notification.RunCompleted, 3)
			test.change(&d)
			_, err := w.notifier.Messages(t.Context(), d)
			if err == nil || errors.Is(err, delivery.ErrNothing) == test.retried {
				t.Errorf("got %v", err)
			}
		})
	}
	if err := w.store.Sessions.Delete(t.Context(), alice, w.task.ContextID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.notifier.Messages(t.Context(), w.delivery("new", notification.RunCompleted, 3)); !errors.Is(err, delivery.ErrNothing) {
		t.Errorf("of a deleted session: %v", err)
	}
}
