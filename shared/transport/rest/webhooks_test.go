package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/transport/rest"
)

// queue records queued deliveries.
type queue struct {
	put   []delivery.Delivery
	stuck error
}

func (q *queue) Put(_ context.Context, d delivery.Delivery) error {
	q.put = append(q.put, d)
	return q.stuck
}

type webhookView struct {
	ID             string   `json:"id"`
	URL            string   `json:"url"`
	Description    string   `json:"description"`
	Types          []string `json:"types"`
	Agents         []string `json:"agents"`
	SessionIDs     []string `json:"session_ids"`
	Status         string   `json:"status"`
	DisabledReason *string  `json:"disabled_reason"`
	Secret         string   `json:"secret"`
}

type secretView struct {
	Secret   string `json:"secret"`
	Previous []struct {
		ExpiresTime int64 `json:"expires_time"`
	} `json:"previous"`
}

type deliveryView struct {
	ID              string           `json:"id"`
	WebhookID       string           `json:"webhook_id"`
	EventType       string           `json:"event_type"`
	State           string           `json:"state"`
	Tries           int              `json:"tries"`
	Attempts        []map[string]any `json:"attempts"`
	NextAttemptTime *int64           `json:"next_attempt_time"`
}

const hookURL = "https://example.com/hook"

func (s *system) mustWebhook(t *testing.T, user, more string) webhookView {
	t.Helper()
	got := s.must(t, http.StatusCreated, post(user, "/webhooks", `{"url":"`+hookURL+`"`+more+`}`))
	return decode[one[webhookView]](t, got).Data
}

func TestWebhooks(t *testing.T) {
	s := newSystem(t)
	t.Run("are created with a secret, which is returned once", func(t *testing.T) {
		got := s.must(t, http.StatusCreated, post(alice, "/webhooks", `{"url":"`+hookURL+`","types":["run.*"],"description":"<3"}`))
		w := decode[one[webhookView]](t, got).Data
		if _, err := receiver.ParseSecret(w.Secret); err != nil {
			t.Error(err)
		}
		path := "/webhooks/" + w.ID
		if at := got.header.Get("Location"); at != "/api/v1"+path || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("Location %q, headers %v", at, got.header)
		}
		read := s.must(t, http.StatusOK, get(alice, path))
		want := w
		want.Secret = ""
		if diff := cmp.Diff(want, decode[one[webhookView]](t, read).Data); diff != "" || strings.Contains(string(read.body), "whsec_") {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got.header.Get("ETag") != read.header.Get("ETag") || read.header.Get("ETag") == "" {
			t.Errorf("ETag %q, then %q", got.header.Get("ETag"), read.header.Get("ETag"))
		}
		secret := s.must(t, http.StatusOK, get(alice, path+"/secret"))
		if v := decode[one[secretView]](t, secret).Data; v.Secret != w.Secret || len(v.Previous) != 0 {
			t.Errorf("shows %s", secret.body)
		}
	})
	t.Run("accept a given secret", func(t *testing.T) {
		const given = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		if w := s.mustWebhook(t, alice, `,"secret":"`+given+`"`); w.Secret != given {
			t.Errorf("got %q", w.Secret)
		}
	})
	t.Run("are created once by repeated requests, whose stored answer has no secret", func(t *testing.T) {
		r := post(alice, "/webhooks", `{"url":"`+hookURL+`"}`).with("Idempotency-Key", "once")
		first := decode[one[webhookView]](t, s.must(t, http.StatusCreated, r)).Data
		s.must(t, http.StatusOK, post(alice, "/webhooks/"+first.ID+"/secret/rotate", ``))
		got := s.must(t, http.StatusCreated, r)
		again := decode[one[webhookView]](t, got).Data
		if again.ID != first.ID || again.Secret == first.Secret || again.Secret == "" || got.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("first %+v, then %+v", first, again)
		}
		s.must(t, http.StatusNoContent, del(alice, "/webhooks/"+first.ID))
		s.mustRefuse(t, http.StatusNotFound, "", r)
		s.must(t, http.StatusNotFound, get(alice, "/webhooks/"+first.ID))
	})
	t.Run("are updated at the expected version", func(t *testing.T) {
		w := s.mustWebhook(t, alice, `,"types":["run.*"],"agents":["a"]`)
		path := "/webhooks/" + w.ID
		got := s.must(t, http.StatusOK, patch(alice, path,
			`{"url":"https://example.org/","types":[],"session_ids":["s"],"status":"disabled"}`).with("If-Match", `"1"`))
		paused := "paused"
		want := webhookView{
			ID: w.ID, URL: "https://example.org/", Types: []string{}, Agents: []string{"a"}, SessionIDs: []string{"s"},
			Status: "disabled", DisabledReason: &paused,
		}
		if diff := cmp.Diff(want, decode[one[webhookView]](t, got).Data); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		s.mustRefuse(t, http.StatusPreconditionFailed, "", patch(alice, path, `{"status":"active"}`).with("If-Match", `"1"`))
		s.must(t, http.StatusOK, patch(alice, path, `{"status":"active"}`).with("If-Match", "*"))
	})
	t.Run("are paged", func(t *testing.T) {
		var want, got []string
		for range 5 {
			want = append(want, s.mustWebhook(t, "lists", "").ID)
		}
		pages := follow(t, s, get("lists", "/webhooks?limit=2"), func(r response) {
			for _, w := range decode[page[webhookView]](t, r).Data {
				got = append(got, w.ID)
			}
		})
		if len(got) != len(want) || pages != 3 {
			t.Errorf("%v in %d pages, want %v", got, pages, want)
		}
	})
	t.Run("are hidden from other users", func(t *testing.T) {
		path := "/webhooks/" + s.mustWebhook(t, alice, "").ID
		for _, r := range []request{
			get(bob, path), patch(bob, path, `{"status":"disabled"}`), del(bob, path), get(bob, path+"/secret"),
			post(bob, path+"/secret/rotate", ``), post(bob, path+"/test", ``), get(bob, path+"/deliveries"),
			get(bob, path+"/deliveries/d"), post(bob, path+"/deliveries/d/replay", ``), get(alice, path+"/deliveries/d"),
		} {
			s.mustRefuse(t, http.StatusNotFound, "", r)
		}
		s.must(t, http.StatusOK, get(alice, path))
	})
	t.Run("are limited to 20 per user", func(t *testing.T) {
		for range receiver.MaxWebhooks {
			s.mustWebhook(t, "many", "")
		}
		s.mustRefuse(t, http.StatusConflict, "", post("many", "/webhooks", `{"url":"`+hookURL+`"}`))
	})
}

func TestWebhooksBadInput(t *testing.T) {
	s := newSystem(t)
	path := "/webhooks/" + s.mustWebhook(t, alice, "").ID
	for body, want := range map[string]struct {
		status  int
		pointer string
	}{
		`{}`: {http.StatusBadRequest, "/url"}, `{"url":7}`: {http.StatusBadRequest, "/url"}, `[]`: {http.StatusBadRequest, ""},
		`{"url":"http://example.com/"}`:                        {http.StatusUnprocessableEntity, "/url"},
		`{"url":"https://10.0.0.1/"}`:                          {http.StatusUnprocessableEntity, "/url"},
		`{"url":"https://127.0.0.1/"}`:                         {http.StatusUnprocessableEntity, "/url"},
		`{"url":"https://[::1]/"}`:                             {http.StatusUnprocessableEntity, "/url"},
		`{"url":"https://169.254.169.254/latest/meta-data/"}`:  {http.StatusUnprocessableEntity, "/url"},
		`{"url":"https://router.local/"}`:                      {http.StatusUnprocessableEntity, "/url"},
		`{"url":"https://me:pass@example.com/"}`:               {http.StatusUnprocessableEntity, "/url"},
		`{"url":"https://example.com/","types":["run"]}`:       {http.StatusUnprocessableEntity, "/types/0"},
		`{"url":"https://example.com/","types":"run.*"}`:       {http.StatusBadRequest, "/types"},
		`{"url":"https://example.com/","agents":["a",null]}`:   {http.StatusBadRequest, "/agents/1"},
		`{"url":"https://example.com/","session_ids":["a/b"]}`: {http.StatusUnprocessableEntity, "/session_ids/0"},
		`{"url":"https://example.com/","secret":"whsec_x"}`:    {http.StatusUnprocessableEntity, "/secret"},
		`{"url":"https://example.com/","secret":null}`:         {http.StatusBadRequest, "/secret"},
	} {
		t.Run(body, func(t *testing.T) {
			s.mustRefuse(t, want.status, want.pointer, post("bad", "/webhooks", body))
			if want.pointer != "/secret" && want.pointer != "" && body != `{}` {
				s.mustRefuse(t, want.status, want.pointer, patch(alice, path, body))
			}
		})
	}
	if got := decode[page[webhookView]](t, s.must(t, http.StatusOK, get("bad", "/webhooks"))); len(got.Data) != 0 {
		t.Errorf("made %+v", got.Data)
	}
	s.mustRefuse(t, http.StatusUnprocessableEntity, "", patch(alice, path, `{}`))
	s.mustRefuse(t, http.StatusUnprocessableEntity, "/status", patch(alice, path, `{"status":"asleep"}`).with("If-Match", `"9"`))
	s.mustRefuse(t, http.StatusBadRequest, "/revoke", post(alice, path+"/secret/rotate", `{"revoke":"yes"}`))
	s.mustRefuse(t, http.StatusBadRequest, "cursor", get(alice, "/webhooks?cursor=x"))
	if got := decode[one[webhookView]](t, s.must(t, http.StatusOK, get(alice, path))).Data; got.URL != hookURL || got.Status != "active" {
		t.Errorf("changed to %+v", got)
	}
}

func TestWebhookSecrets(t *testing.T) {
	s := newSystem(t)
	w := s.mustWebhook(t, alice, "")
	rotate := "/webhooks/" + w.ID + "/secret/rotate"
	r := post(alice, rotate, `{}`).with("Idempotency-Key", "k")
	second := decode[one[secretView]](t, s.must(t, http.StatusOK, r)).Data
	if second.Secret == w.Secret || len(second.Previous) != 1 || second.Previous[0].ExpiresTime <= time.Now().UnixMilli() {
		t.Errorf("rotated to %+v", second)
	}
	again := s.must(t, http.StatusOK, r)
	if diff := cmp.Diff(second, decode[one[secretView]](t, again).Data); diff != "" || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("repeated (-want +got):\n%s", diff)
	}
	const given = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	revoked := decode[one[secretView]](t, s.must(t, http.StatusOK, post(alice, rotate, `{"secret":"`+given+`","revoke":true}`))).Data
	if revoked.Secret != given || len(revoked.Previous) != 0 {
		t.Errorf("revoked: %+v", revoked)
	}
}

func TestWebhookDeliveries(t *testing.T) {
	s := newSystem(t)
	w := s.mustWebhook(t, alice, `,"types":["session.created"]`)
	path := "/webhooks/" + w.ID
	t.Run("queues a test once per key", func(t *testing.T) {
		r := post(alice, path+"/test", ``).with("Idempotency-Key", "k")
		got := s.must(t, http.StatusAccepted, r)
		s.must(t, http.StatusAccepted, r)
		d := decode[one[deliveryView]](t, got).Data
		if d.EventType != "webhook.test" || d.State != "pending" || d.WebhookID != w.ID || d.NextAttemptTime == nil ||
			got.header.Get("Location") != "/api/v1"+path+"/deliveries/"+d.ID {
			t.Errorf("%s at %q", got.body, got.header.Get("Location"))
		}
		if len(s.queued.put) != 1 || receiver.DeliveryID(s.queued.put[0]) != d.ID || s.queued.put[0].Event.UserID != alice {
			t.Errorf("queued %+v", s.queued.put)
		}
	})
	t.Run("replays a delivery under its id", func(t *testing.T) {
		first := s.queued.put[0]
		id := receiver.DeliveryID(first)
		if err := s.config.Webhooks.(receiver.WebhookTargets).NoteTry(t.Context(), receiver.Note{
			Delivery: first, State: receiver.Delivered, Number: 2, Attempt: receiver.Attempt{Time: 7, Status: 204, Duration: 3},
		}); err != nil {
			t.Fatal(err)
		}
		read := s.must(t, http.StatusOK, get(alice, path+"/deliveries/"+id))
		done := decode[one[deliveryView]](t, read).Data
		sent, err := notification.EncodeCloudEvent(s.queued.put[0].Event)
		if event := decode[one[struct{ Event json.RawMessage }]](t, read).Data.Event; err != nil || string(event) != string(sent) {
			t.Errorf("the event is %s instead of %s, %v", event, sent, err)
		}
		want := []map[string]any{{"time": 7.0, "duration_ms": 3.0, "status": 204.0, "reason": nil}}
		if diff := cmp.Diff(want, done.Attempts); diff != "" || done.State != "delivered" || done.NextAttemptTime != nil {
			t.Errorf("%+v (-want +got):\n%s", done, diff)
		}
		again := decode[one[deliveryView]](t, s.must(t, http.StatusAccepted, post(alice, path+"/deliveries/"+id+"/replay", ``))).Data
		queued := s.queued.put[len(s.queued.put)-1]
		if again.ID != id || again.State != "pending" || receiver.DeliveryID(queued) != id ||
			queued.QueueID() == first.QueueID() || queued.Tries != 2 || !cmp.Equal(queued.Event, first.Event) {
			t.Errorf("%+v, queued %+v", again, queued)
		}
	})
	t.Run("lists deliveries, latest first", func(t *testing.T) {
		for i := range 3 {
			s.must(t, http.StatusAccepted, post(alice, path+"/test", fmt.Sprintf(`{"n":%d}`, i)))
		}
		var ids []string
		pages := follow(t, s, get(alice, path+"/deliveries?limit=2"), func(r response) {
			for _, d := range decode[page[deliveryView]](t, r).Data {
				ids = append(ids, d.ID)
			}
		})
		latestFirst := slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) // ids begin with the time
		if len(ids) != 4 || pages != 2 || !latestFirst || !slices.Contains(ids, receiver.DeliveryID(s.queued.put[0])) {
			t.Errorf("%v in %d pages", ids, pages)
		}
	})
	t.Run("queues nothing for a disabled webhook", func(t *testing.T) {
		s.must(t, http.StatusOK, patch(alice, path, `{"status":"disabled"}`))
		n := len(s.queued.put)
		problem := s.mustRefuse(t, http.StatusConflict, "", post(alice, path+"/test", ``))
		s.mustRefuse(t, http.StatusConflict, "", post(alice, path+"/deliveries/"+receiver.DeliveryID(s.queued.put[0])+"/replay", ``))
		if problem["disabled_reason"] != "paused" || len(s.queued.put) != n {
			t.Errorf("%v, queued %d", problem, len(s.queued.put)-n)
		}
	})
	t.Run("returns an internal error if the queue fails", func(t *testing.T) {
		s := newSystem(t, func(c *rest.Config) { c.Deliveries = &queue{stuck: errors.New("no queue")} })
		s.mustRefuse(t, http.StatusInternalServerError, "", post(alice, "/webhooks/"+s.mustWebhook(t, alice, "").ID+"/test", ``))
	})
}
