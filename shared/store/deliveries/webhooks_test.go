package deliveries_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/stores"
)

const firstSecret = fixture.FirstSecret

func wantMissing(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, fault.Of(fault.NotFound)) {
		t.Errorf("%s: %v, want not found", what, err)
	}
}

// handClock is a clock that a test sets.
type handClock struct{ now time.Time }

func (c *handClock) read() time.Time { return c.now }

func newClockedStore(t *testing.T) (*stores.Store, *handClock) {
	t.Helper()
	c := &handClock{time.UnixMilli(1_000_000)}
	return stores.New(storetest.Engine(t), stores.WithClock(c.read)), c
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	s, now := newClockedStore(t)
	t.Run("are listed for their owner only, oldest first", func(t *testing.T) {
		second, first := fixture.Webhook("a/b", "w2", 20), fixture.Webhook("a/b", "w1", 10)
		fixture.CreateWebhook(t, s, second)
		fixture.CreateWebhook(t, s, first)
		got, err := s.Webhooks.Webhooks(t.Context(), "a/b")
		if diff := cmp.Diff([]receiver.Webhook{first, second}, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		_, err = s.Webhooks.Webhook(t.Context(), fixture.Bob, "w1")
		wantMissing(t, "somebody else's", err)
		if got, err := s.Webhooks.Webhooks(t.Context(), fixture.Bob); err != nil || len(got) != 0 {
			t.Errorf("another user's: %v, %v", got, err)
		}
	})
	t.Run("a creation that is repeated changes nothing", func(t *testing.T) {
		w := fixture.Webhook("repeats", "w", 10)
		fixture.CreateWebhook(t, s, w)
		again := w
		again.URL = "https://example.com/other"
		got, err := s.Webhooks.CreateWebhook(t.Context(), again, "whsec_other")
		if diff := cmp.Diff(w, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if secrets, err := s.Webhooks.Secrets(t.Context(), "repeats", "w"); err != nil || secrets.Current != firstSecret {
			t.Errorf("%v, %v", secrets, err)
		}
	})
	t.Run("a user has at most 20, however many race", func(t *testing.T) {
		var mu sync.Mutex
		var group sync.WaitGroup
		made := 0
		for i := range receiver.MaxWebhooks + 5 {
			group.Go(func() {
				_, err := s.Webhooks.CreateWebhook(t.Context(), fixture.Webhook("many", fmt.Sprint("w", i), 10), firstSecret)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					made++
				case !errors.Is(err, fault.Of(fault.Conflict)):
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got, err := s.Webhooks.Webhooks(t.Context(), "many"); err != nil || made != receiver.MaxWebhooks || len(got) != made {
			t.Errorf("%d created, %d stored, %v", made, len(got), err)
		}
	})
	t.Run("applies concurrent changes one after the other", func(t *testing.T) {
		fixture.CreateWebhook(t, s, fixture.Webhook("changes", "w", 10))
		var group sync.WaitGroup
		for i := range 4 {
			group.Go(func() {
				text := fmt.Sprint(i)
				if _, err := s.Webhooks.ChangeWebhook(t.Context(), "changes", "w", receiver.WebhookChange{Description: &text}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := fixture.ReadWebhook(t, s, "changes", "w"); got.Version != 5 || got.UpdatedTime != now.now.UnixMilli() {
			t.Errorf("got %+v", got)
		}
		_, err := s.Webhooks.ChangeWebhook(t.Context(), "changes", "none", receiver.WebhookChange{})
		wantMissing(t, "another", err)
		bad := "x\n"
		if _, err := s.Webhooks.ChangeWebhook(t.Context(), "changes", "w", receiver.WebhookChange{URL: &bad}); !errors.Is(err, fault.Of(fault.Invalid)) {
			t.Errorf("a bad address: %v", err)
		}
	})
	t.Run("a deleted one is removed with its secret and records", func(t *testing.T) {
		w := fixture.CreateWebhook(t, s, fixture.Webhook("deletes", "w", 10))
		other := fixture.CreateWebhook(t, s, fixture.Webhook("deletes", "w2", 10))
		for _, to := range []receiver.Webhook{w, other} {
			if _, err := s.Webhooks.NoteQueued(t.Context(), delivery.Delivery{Target: to.Target()}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Webhooks.DeleteWebhook(t.Context(), "deletes", "w"); err != nil {
			t.Fatal(err)
		}
		wantMissing(t, "again", s.Webhooks.DeleteWebhook(t.Context(), "deletes", "w"))
		_, err := s.Webhooks.Webhook(t.Context(), "deletes", "w")
		wantMissing(t, "the webhook", err)
		_, err = s.Webhooks.Secrets(t.Context(), "deletes", "w")
		wantMissing(t, "its secret", err)
		_, err = s.Webhooks.RotateSecret(t.Context(), "deletes", "w", receiver.Rotation{Next: "whsec_late"})
		wantMissing(t, "a rotation", err)
		for id, want := range map[string]int{"w": 0, "w2": 1} {
			page, err := s.Webhooks.Records(t.Context(), receiver.RecordQuery{UserID: "deletes", WebhookID: id, Limit: 9})
			if err != nil || len(page.Records) != want {
				t.Errorf("%d records of %s, %v", len(page.Records), id, err)
			}
		}
	})
	t.Run("secrets are rotated one after the other", func(t *testing.T) {
		fixture.CreateWebhook(t, s, fixture.Webhook("rotates", "w", 10))
		var group sync.WaitGroup
		for i := range 3 {
			group.Go(func() {
				r := receiver.Rotation{Next: receiver.Secret(fmt.Sprint("whsec_", i))}
				if _, err := s.Webhooks.RotateSecret(t.Context(), "rotates", "w", r); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		got, err := s.Webhooks.Secrets(t.Context(), "rotates", "w")
		if all := got.At(now.now); err != nil || got.Version != 4 || len(all) != 4 || all[3] != firstSecret {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestWebhookTargets(t *testing.T) {
	t.Parallel()
	s := fixture.Store(t)
	w := fixture.CreateWebhook(t, s, fixture.Webhook(fixture.Alice, "w", 10))
	all := fixture.Webhook(fixture.Alice, "all", 10)
	all.Types, all.Agents, all.SessionIDs = nil, nil, nil
	fixture.CreateWebhook(t, s, all)
	e := notification.Event{ID: "l.1", Type: notification.RunStarted, UserID: fixture.Alice, SessionID: "s", Agent: "guide", Time: 10}
	with := func(change func(*notification.Event)) notification.Event {
		other := e
		change(&other)
		return other
	}
	for name, test := range map[string]struct {
		event notification.Event
		want  []delivery.Target
	}{
		"both match":                           {e, []delivery.Target{all.Target(), w.Target()}},
		"one matches":                          {with(func(e *notification.Event) { e.Type = notification.TaskSaved }), []delivery.Target{all.Target()}},
		"the event is from before the webhook": {with(func(e *notification.Event) { e.Time = 9 }), nil},
		"the event is another user's":          {with(func(e *notification.Event) { e.UserID = fixture.Bob }), nil},
		"the owner is unknown":                 {with(func(e *notification.Event) { e.UserID = "" }), nil},
		"the event is not public":              {with(func(e *notification.Event) { e.Type = notification.TaskCancelled }), nil},
		"the session does not match":           {with(func(e *notification.Event) { e.SessionID = "t" }), []delivery.Target{all.Target()}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := s.Targets(t.Context(), test.event)
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestDisableWebhook(t *testing.T) {
	t.Parallel()
	s, now := newClockedStore(t)
	created := now.now
	for name, test := range map[string]struct {
		change func(*receiver.Disabling)
		want   receiver.Status
	}{
		"disables one that was not changed since":     {func(*receiver.Disabling) {}, receiver.Disabled},
		"disables one that was changed, if requested": {func(d *receiver.Disabling) { d.UnchangedSince = time.Time{} }, receiver.Disabled},
		"does not disable one that was changed since": {func(d *receiver.Disabling) { d.UnchangedSince = created.Add(-1) }, receiver.Active},
		"does not disable one with another address":   {func(d *receiver.Disabling) { d.URL += "x" }, receiver.Active},
	} {
		t.Run(name, func(t *testing.T) {
			w := fixture.CreateWebhook(t, s, fixture.Webhook(name, "w", created.UnixMilli()))
			d := receiver.Disabling{UserID: name, ID: "w", URL: w.URL, Reason: receiver.Failing, UnchangedSince: created}
			test.change(&d)
			for range 2 { // repeated, it changes nothing
				if err := s.Webhooks.DisableWebhook(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
			got := fixture.ReadWebhook(t, s, name, "w")
			if disabled := got.DisabledReason == receiver.Failing && got.Version == 2; got.Status != test.want ||
				disabled != (test.want == receiver.Disabled) {
				t.Errorf("got %+v", got)
			}
		})
	}
	t.Run("a deleted one stays deleted", func(t *testing.T) {
		if err := s.Webhooks.DisableWebhook(t.Context(), receiver.Disabling{UserID: "nobody", ID: "w"}); err != nil {
			t.Fatal(err)
		}
		_, err := s.Webhooks.Webhook(t.Context(), "nobody", "w")
		wantMissing(t, "it", err)
	})
}

// Webhooks cost a lookup for each event, and the reads and the record of an attempt.
func TestWebhookCosts(t *testing.T) {
	t.Parallel()
	meter := &capacity.Meter{}
	s := stores.New(meter.Around(storetest.Engine(t)))
	w := fixture.Webhook(fixture.Alice, "w", 10)
	for _, id := range []string{"w", "w2", "w3"} {
		fixture.CreateWebhook(t, s, fixture.Webhook(fixture.Alice, id, 10))
	}
	d := fixture.DeliveryAt(w, 100)
	note := receiver.Note{Delivery: d, State: receiver.Delivered, Number: 1, Attempt: receiver.Attempt{Time: 1, Status: 204}}
	for name, test := range map[string]struct {
		do   func() error
		want capacity.Usage
	}{
		"an event of a user with webhooks": {
			// One for the webhooks, one for the automations: finding none costs one too.
			func() error { _, err := s.Targets(t.Context(), d.Event); return err }, capacity.Usage{Reads: 2, Requests: 2},
		},
		"an event of a user without webhooks": {
			func() error {
				_, err := s.Targets(t.Context(), notification.Event{Type: notification.TaskSaved, UserID: fixture.Bob})
				return err
			}, capacity.Usage{Reads: 2, Requests: 2},
		},
		"an event that is for push notifications alone": {
			func() error {
				_, err := s.Targets(t.Context(), notification.Event{Type: notification.ItemCompleted, UserID: fixture.Alice})
				return err
			}, capacity.Usage{},
		},
		"such an event of a run": {
			func() error {
				_, err := s.Targets(t.Context(), notification.Event{Type: notification.ItemCompleted, UserID: fixture.Alice, Log: "log", RunID: "run"})
				return err
			}, capacity.Usage{Reads: 1, Requests: 1},
		},
		"an event of a run for all targets": {
			func() error {
				_, err := s.Targets(t.Context(), notification.Event{Type: notification.RunStarted, UserID: fixture.Alice, Log: "log", RunID: "run"})
				return err
			}, capacity.Usage{Reads: 3, Requests: 3},
		},
		"the secret of a message": {
			func() error { _, err := s.Webhooks.Secrets(t.Context(), fixture.Alice, "w"); return err }, capacity.Usage{Reads: 1, Requests: 1},
		},
		"the record of an attempt": {func() error { return s.Webhooks.NoteTry(t.Context(), note) }, capacity.Usage{Writes: 1, Requests: 1}},
	} {
		before := meter.Total()
		if err := test.do(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, meter.Total().Sub(before)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
