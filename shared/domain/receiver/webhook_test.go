package receiver_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
)

func whole() receiver.Webhook {
	return receiver.Webhook{
		ID: "w", UserID: "u/1", URL: "https://example.com/hook?a=b", Description: "für Tests",
		Types: []string{"session.*", "run.completed"}, Agents: []string{"guide"}, SessionIDs: []string{"s", "t"},
		Status: receiver.Active, CreatedTime: 100, UpdatedTime: 100, Since: 100, Version: 1,
	}
}

func numbered(n int) []string {
	var out []string
	for i := range n {
		out = append(out, strings.Repeat("x", i+1))
	}
	return out
}

func TestWebhook_Validate(t *testing.T) {
	t.Parallel()
	if err := whole().Validate(); err != nil {
		t.Errorf("refused: %v", err)
	}
	for name, test := range map[string]struct {
		change  func(*receiver.Webhook)
		pointer string
	}{
		"no address":              {func(w *receiver.Webhook) { w.URL = "" }, "/url"},
		"a long address":          {func(w *receiver.Webhook) { w.URL += strings.Repeat("a", receiver.MaxURL) }, "/url"},
		"an address of two lines": {func(w *receiver.Webhook) { w.URL += "\r\nX: y" }, "/url"},
		"a long description":      {func(w *receiver.Webhook) { w.Description = strings.Repeat("é", 257) }, "/description"},
		"an unknown type":         {func(w *receiver.Webhook) { w.Types = []string{"run.started", "run.slept"} }, "/types/1"},
		"an unknown family":       {func(w *receiver.Webhook) { w.Types = []string{"walk.*"} }, "/types/0"},
		"half a type":             {func(w *receiver.Webhook) { w.Types = []string{"run.comp*"} }, "/types/0"},
		"a type of A2A's alone":   {func(w *receiver.Webhook) { w.Types = []string{"item.completed"} }, "/types/0"},
		"an agent twice":          {func(w *receiver.Webhook) { w.Agents = []string{"a", "b", "a"} }, "/agents/2"},
		"an agent of no name":     {func(w *receiver.Webhook) { w.Agents = []string{""} }, "/agents/0"},
		"an invalid session":      {func(w *receiver.Webhook) { w.SessionIDs = []string{"a/b"} }, "/session_ids/0"},
		"too many sessions":       {func(w *receiver.Webhook) { w.SessionIDs = numbered(51) }, "/session_ids"},
		"entries of too many bytes": {func(w *receiver.Webhook) {
			w.Agents = nil
			for i := range 40 {
				w.Agents = append(w.Agents, strings.Repeat("😀", 126)+string(rune('a'+i%26))+string(rune('a'+i/26)))
			}
		}, "/agents"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := whole()
			test.change(&w)
			var f *fault.Error
			if err := w.Validate(); !errors.As(err, &f) || len(f.Violations) != 1 || f.Violations[0].Pointer != test.pointer {
				t.Errorf("got %v, want a fault of %s", err, test.pointer)
			}
		})
	}
}

func TestWants(t *testing.T) {
	t.Parallel()
	all := receiver.Webhook{Status: receiver.Active, Since: 100}
	event := notification.Event{Type: notification.RunCompleted, SessionID: "s", Agent: "guide", Time: 100}
	with := func(w receiver.Webhook, change func(*receiver.Webhook)) receiver.Webhook {
		change(&w)
		return w
	}
	for name, test := range map[string]struct {
		webhook receiver.Webhook
		event   notification.Event
		want    bool
	}{
		"everything, without filters":  {all, event, true},
		"the type":                     {with(all, func(w *receiver.Webhook) { w.Types = []string{"run.completed"} }), event, true},
		"its family":                   {with(all, func(w *receiver.Webhook) { w.Types = []string{"task.*", "run.*"} }), event, true},
		"another family":               {with(all, func(w *receiver.Webhook) { w.Types = []string{"session.*"} }), event, false},
		"another agent":                {with(all, func(w *receiver.Webhook) { w.Agents = []string{"other"} }), event, false},
		"another session":              {with(all, func(w *receiver.Webhook) { w.SessionIDs = []string{"t"} }), event, false},
		"all filters at once":          {whole(), event, true},
		"nothing while disabled":       {with(all, func(w *receiver.Webhook) { w.Status = receiver.Disabled }), event, false},
		"nothing of before":            {with(all, func(w *receiver.Webhook) { w.Since = 101 }), event, false},
		"no event that only A2A sends": {all, notification.Event{Type: notification.ItemCompleted, Time: 100}, false},
		"a fork of the session": {
			with(all, func(w *receiver.Webhook) { w.SessionIDs = []string{"s"} }),
			notification.Event{Type: notification.SessionForked, SessionID: "new", Source: "s", Time: 100},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.webhook.Wants(test.event); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	ref := func(s receiver.Status) *receiver.Status { return &s }
	url, version := "https://example.org/", int64(1)
	got, err := receiver.WebhookChange{URL: &url, Types: &[]string{}, IfMatch: &version}.Apply(whole(), 200)
	want := whole()
	want.URL, want.Types, want.UpdatedTime, want.Version = url, nil, 200, 2
	if diff := cmp.Diff(want, got, cmp.Transformer("empty", func(s []string) int { return len(s) })); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := (receiver.WebhookChange{IfMatch: &version}).Apply(got, 200); !errors.Is(err, fault.Of(fault.Precondition)) {
		t.Errorf("another version: %v", err)
	}
	paused, err := receiver.WebhookChange{Status: ref(receiver.Disabled)}.Apply(whole(), 200)
	if err != nil || paused.Status != receiver.Disabled || paused.DisabledReason != receiver.Paused || paused.Since != 100 {
		t.Errorf("paused: %+v, %v", paused, err)
	}
	again, err := receiver.WebhookChange{Status: ref(receiver.Active)}.Apply(paused, 300)
	if err != nil || again.Status != receiver.Active || again.DisabledReason != "" || again.Since != 300 {
		t.Errorf("active again: %+v, %v", again, err)
	}
	if same, err := (receiver.WebhookChange{Status: ref(receiver.Active)}).Apply(again, 400); err != nil || same.Since != 300 {
		t.Errorf("active as it was: %+v, %v", same, err)
	}
	if _, err := (receiver.WebhookChange{Status: ref("asleep")}).Apply(again, 400); !errors.Is(err, fault.Of(fault.Invalid)) {
		t.Errorf("another status: %v", err)
	}
}

func TestWebhook_Target(t *testing.T) {
	t.Parallel()
	target := whole().Target()
	if user, id, ok := receiver.ParseWebhook(target); user != "u/1" || id != "w" || !ok {
		t.Errorf("got %q %q %v", user, id, ok)
	}
	target.Kind = "a2a"
	if _, _, ok := receiver.ParseWebhook(target); ok {
		t.Error("a target of another kind is taken for a webhook")
	}
	early := delivery.Delivery{Event: notification.Event{ID: "e", Time: 99}, Target: whole().Target()}
	late, again := early, early
	late.Event.Time, again.Again, again.Tries = 100, "once more", 3
	if receiver.DeliveryID(early) >= receiver.DeliveryID(late) || receiver.DeliveryID(early) != receiver.DeliveryID(again) {
		t.Error("an id sorts by time, and is the same when a delivery is made again")
	}
	if early.QueueID() == again.QueueID() || early.QueueID() != early.ID() {
		t.Error("for the queue, one that is made again is another")
	}
}
