package outbound_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/client/outbound"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
)

const (
	replaced = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	current  = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

// fakeWebhooks is a store of one webhook, with what was recorded.
type fakeWebhooks struct {
	webhook  receiver.Webhook
	secrets  receiver.Secrets
	gone     error // of the webhook
	unsigned error // of the secrets

	well     bool // something was accepted
	notes    []receiver.Note
	disabled []receiver.Disabling
}

func (s *fakeWebhooks) Webhook(context.Context, string, string) (receiver.Webhook, error) {
	return s.webhook, s.gone
}

func (s *fakeWebhooks) Secrets(context.Context, string, string) (receiver.Secrets, error) {
	return s.secrets, s.unsigned
}

func (s *fakeWebhooks) NoteTry(_ context.Context, n receiver.Note) error {
	s.notes = append(s.notes, n)
	return nil
}

func (s *fakeWebhooks) DeliveredSince(context.Context, string, string, time.Time) (bool, error) {
	return s.well, nil
}

func (s *fakeWebhooks) DisableWebhook(_ context.Context, d receiver.Disabling) error {
	s.disabled = append(s.disabled, d)
	return nil
}

func newFakeStore() *fakeWebhooks {
	return &fakeWebhooks{
		webhook: receiver.Webhook{ID: "w", UserID: "u/1", URL: "https://example.com/hook", Status: receiver.Active},
		secrets: receiver.Secrets{
			Current:  current,
			Previous: []receiver.PreviousSecret{{Secret: replaced, ExpiresTime: time.Now().Add(time.Hour).UnixMilli()}},
		},
	}
}

func (s *fakeWebhooks) delivery() delivery.Delivery {
	return delivery.Delivery{
		Event:  notification.Event{ID: "l.7", Type: notification.RunStarted, UserID: "u/1", SessionID: "s", RunID: "r", Time: 1735776000007},
		Target: s.webhook.Target(),
	}
}

func header(m delivery.Message) http.Header {
	h := http.Header{}
	for name, value := range m.Header {
		h.Set(name, value)
	}
	return h
}

func TestMessages(t *testing.T) {
	t.Parallel()
	s := newFakeStore()
	n := &outbound.WebhookNotifier{Webhooks: s, Now: time.Now}
	d := s.delivery()
	messages, err := n.Messages(t.Context(), d)
	if err != nil || len(messages) != 1 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	m := messages[0]
	t.Run("are signed with each secret", func(t *testing.T) {
		t.Parallel()
		for _, secret := range []string{replaced, current} {
			receiver, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			if err := receiver.Verify(m.Body, header(m)); err != nil {
				t.Error(err)
			}
			if err := receiver.Verify(append(m.Body, ' '), header(m)); err == nil {
				t.Error("another body is verified")
			}
		}
		if at, err := strconv.ParseInt(m.Header["webhook-timestamp"], 10, 64); err != nil || time.Since(time.Unix(at, 0)) > time.Minute {
			t.Errorf("headers %v", m.Header)
		}
	})
	t.Run("are CloudEvents", func(t *testing.T) {
		t.Parallel()
		var e sdk.Event
		if err := json.Unmarshal(m.Body, &e); err != nil {
			t.Fatal(err)
		}
		if err := e.Validate(); err != nil || e.ID() != "l.7" || e.Type() != "run.started" || e.Subject() != "runs/r" ||
			m.URL != s.webhook.URL || m.Header["Content-Type"] != sdk.ApplicationCloudEventsJSON {
			t.Errorf("%v: %s to %s as %v", err, m.Body, m.URL, m.Header)
		}
	})
	t.Run("are the same when they are built again", func(t *testing.T) {
		t.Parallel()
		again := d
		again.Again, again.Tries = "n", 4
		other, err := n.Messages(t.Context(), again)
		if err != nil {
			t.Fatal(err)
		}
		if string(other[0].Body) != string(m.Body) || other[0].Header["webhook-id"] != m.Header["webhook-id"] ||
			m.Header["webhook-id"] != receiver.DeliveryID(d) {
			t.Errorf("%s as %v", other[0].Body, other[0].Header)
		}
	})
	broken := errors.New("no table")
	for name, test := range map[string]struct {
		change func(*fakeWebhooks)
		want   error
	}{
		"are not built for a disabled webhook":              {func(s *fakeWebhooks) { s.webhook.Status = receiver.Disabled }, delivery.ErrNothing},
		"are not built for a deleted webhook":               {func(s *fakeWebhooks) { s.gone = fault.Missing("Webhook") }, delivery.ErrNothing},
		"are not built for a webhook that is being deleted": {func(s *fakeWebhooks) { s.unsigned = fault.Missing("Webhook") }, delivery.ErrNothing},
		"fail if the table cannot be read":                  {func(s *fakeWebhooks) { s.gone = broken }, broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFakeStore()
			test.change(s)
			if _, err := (&outbound.WebhookNotifier{Webhooks: s, Now: time.Now}).Messages(t.Context(), s.delivery()); !errors.Is(err, test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("an invalid secret is not in the error", func(t *testing.T) {
		t.Parallel()
		s := newFakeStore()
		s.secrets.Current = "whsec_%%%"
		_, err := (&outbound.WebhookNotifier{Webhooks: s, Now: time.Now}).Messages(t.Context(), s.delivery())
		if err == nil || strings.Contains(err.Error(), "%%%") {
			t.Errorf("got %v", err)
		}
	})
}

func TestTried(t *testing.T) {
	t.Parallel()
	queued, began := time.UnixMilli(1_000), time.UnixMilli(5_000)
	const url = "https://example.com/hook"
	lasting := receiver.Disabling{UserID: "u/1", ID: "w", URL: url, Reason: receiver.Failing, UnchangedSince: queued}
	refused := lasting
	refused.Reason = receiver.Refused
	for name, test := range map[string]struct {
		outcome delivery.Outcome
		well    bool
		want    receiver.Note // without the members that all notes have
		disable []receiver.Disabling
	}{
		"taken": {
			outcome: delivery.Outcome{URL: url, Status: 204},
			want:    receiver.Note{State: receiver.Delivered, Number: 5, Attempt: receiver.Attempt{Status: 204}},
		},
		"failed, with a retry": {
			outcome: delivery.Outcome{
				URL: url, Status: 500, Result: delivery.Result{State: delivery.Later, Wait: 4 * time.Second, Reason: "the target answers 500"},
			},
			want: receiver.Note{
				State: receiver.Pending, Number: 5, NextAttemptTime: 9_250,
				Attempt: receiver.Attempt{Status: 500, Reason: "the target answers 500"},
			},
		},
		"abandoned": {
			outcome: delivery.Outcome{URL: url, Result: delivery.Result{State: delivery.Abandoned, Reason: "late"}},
			want:    receiver.Note{State: receiver.Failed, Number: 5, Attempt: receiver.Attempt{Reason: "late"}},
			disable: []receiver.Disabling{lasting},
		},
		"abandoned, while others were accepted": {
			outcome: delivery.Outcome{URL: url, Result: delivery.Result{State: delivery.Abandoned, Reason: "late"}}, well: true,
			want: receiver.Note{State: receiver.Failed, Number: 5, Attempt: receiver.Attempt{Reason: "late"}},
		},
		"abandoned before it was sent": {
			outcome: delivery.Outcome{Result: delivery.Result{State: delivery.Abandoned, Reason: "no table"}},
			want:    receiver.Note{State: receiver.Failed, Number: 5, Attempt: receiver.Attempt{Reason: "no table"}},
		},
		"refused before it was sent": {
			outcome: delivery.Outcome{
				URL: url, Err: delivery.ErrRefused, Result: delivery.Result{State: delivery.Abandoned, Reason: "private"},
			},
			well:    true,
			want:    receiver.Note{State: receiver.Failed, Number: 5, Attempt: receiver.Attempt{Reason: "private"}},
			disable: []receiver.Disabling{refused},
		},
		"gone": {
			outcome: delivery.Outcome{URL: url, Status: 410},
			want: receiver.Note{
				State: receiver.Failed, Number: 5, Attempt: receiver.Attempt{Status: 410, Reason: "the target is gone for good"},
			},
		},
		"not attempted": {outcome: delivery.Outcome{Err: delivery.ErrNothing}, want: receiver.Note{State: receiver.Failed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFakeStore()
			s.well = test.well
			d := s.delivery()
			d.Tries = 2
			o := test.outcome
			o.Try, o.Began, o.Took = delivery.Try{Number: 3, Queued: queued}, began, 250*time.Millisecond
			if err := (&outbound.WebhookNotifier{Webhooks: s, Now: time.Now}).OnAttempt(t.Context(), d, o); err != nil {
				t.Fatal(err)
			}
			want := test.want
			want.Delivery, want.Queued = d, 1_000
			if want.Number > 0 {
				want.Attempt.Time, want.Attempt.Duration = 5_000, 250
			}
			if diff := cmp.Diff([]receiver.Note{want}, s.notes); diff != "" {
				t.Errorf("noted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.disable, s.disabled); diff != "" {
				t.Errorf("disabled (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a 410 disables the webhook", func(t *testing.T) {
		t.Parallel()
		s := newFakeStore()
		if err := (&outbound.WebhookNotifier{Webhooks: s}).Drop(t.Context(), s.webhook.Target(), url); err != nil {
			t.Fatal(err)
		}
		want := []receiver.Disabling{{UserID: "u/1", ID: "w", URL: url, Reason: receiver.Gone}}
		if diff := cmp.Diff(want, s.disabled); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
