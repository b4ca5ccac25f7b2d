package hooks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

type deliveryBody struct {
	ID              string         `json:"id"`
	WebhookID       string         `json:"webhook_id"`
	EventID         string         `json:"event_id"`
	EventType       string         `json:"event_type"`
	SessionID       *string        `json:"session_id"` // null if the event is not about a session
	State           receiver.State `json:"state"`
	Tries           int            `json:"tries"`
	Attempts        []attemptBody  `json:"attempts"`
	NextAttemptTime *int64         `json:"next_attempt_time"`
	CreatedTime     int64          `json:"created_time"`
	// Event is what is sent; only in the answer that reads one delivery.
	Event json.RawMessage `json:"event,omitempty"`
}

type attemptBody struct {
	Time       int64   `json:"time"`
	DurationMS int64   `json:"duration_ms"`
	Status     *int    `json:"status"` // null without an answer
	Reason     *string `json:"reason"` // null if the delivery succeeded
}

func bodyOfDelivery(r receiver.Record) deliveryBody {
	out := deliveryBody{
		ID: r.ID, WebhookID: r.WebhookID, EventID: r.Event.ID, EventType: string(r.Event.Type),
		SessionID: nilIfZero(r.Event.SessionID), State: r.State, Tries: r.Tries, Attempts: []attemptBody{},
		NextAttemptTime: nilIfZero(r.NextAttemptTime), CreatedTime: r.CreatedTime,
	}
	for _, a := range r.Attempts {
		out.Attempts = append(out.Attempts, attemptBody{
			Time: a.Time, DurationMS: a.Duration, Status: nilIfZero(a.Status), Reason: nilIfZero(a.Reason),
		})
	}
	return out
}

// nilIfZero returns nil for a zero value.
func nilIfZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func (a *api) listDeliveries(c *rest.Call) (*rest.Reply, error) {
	id, err := c.PathID("webhook_id")
	if err != nil {
		return nil, err
	}
	p, err := c.PlainPages(session.DefaultPage, "deliveries", id)
	if err != nil {
		return nil, err
	}
	after, err := p.After()
	if err != nil {
		return nil, err
	}
	if _, err := a.Webhooks.Webhook(c.Context(), c.User, id); err != nil {
		return nil, err
	}
	page, err := a.Webhooks.Records(c.Context(), receiver.RecordQuery{UserID: c.User, WebhookID: id, Limit: p.Limit, After: after})
	if err != nil {
		return nil, err
	}
	next, err := p.NextAfter(page.Next)
	if err != nil {
		return nil, err
	}
	bodies := make([]deliveryBody, len(page.Records))
	for i, r := range page.Records {
		bodies[i] = bodyOfDelivery(r)
	}
	return p.ListReply(bodies, next)
}

func (a *api) getDelivery(c *rest.Call) (*rest.Reply, error) {
	_, r, err := a.record(c)
	if err != nil {
		return nil, err
	}
	body := bodyOfDelivery(r)
	if body.Event, err = notification.EncodeCloudEvent(r.Event); err != nil {
		return nil, err
	}
	return rest.JSON(http.StatusOK, rest.Data{Data: body})
}

// record reads the delivery in the path, and its webhook.
func (a *api) record(c *rest.Call) (receiver.Webhook, receiver.Record, error) {
	id, err := c.PathID("webhook_id")
	if err != nil {
		return receiver.Webhook{}, receiver.Record{}, err
	}
	deliveryID, err := c.PathID("delivery_id")
	if err != nil {
		return receiver.Webhook{}, receiver.Record{}, err
	}
	w, err := a.Webhooks.Webhook(c.Context(), c.User, id)
	if err != nil {
		return receiver.Webhook{}, receiver.Record{}, err
	}
	r, err := a.Webhooks.Record(c.Context(), c.User, id, deliveryID)
	return w, r, err
}

// testWebhook sends an event without content.
func (a *api) testWebhook(c *rest.Call) (*rest.Reply, error) {
	id, err := c.PathID("webhook_id")
	if err != nil {
		return nil, err
	}
	w, err := a.Webhooks.Webhook(c.Context(), c.User, id)
	if err != nil {
		return nil, err
	}
	eventID, err := c.DerivedID("test")
	if err != nil {
		return nil, err
	}
	return a.queueDelivery(c, w, delivery.Delivery{
		Event:  notification.Event{ID: eventID, Type: receiver.WebhookTest, UserID: c.User, Time: a.Now().UnixMilli()},
		Target: w.Target(),
	})
}

// replayDelivery sends an earlier delivery again, whatever its outcome was.
func (a *api) replayDelivery(c *rest.Call) (*rest.Reply, error) {
	w, r, err := a.record(c)
	if err != nil {
		return nil, err
	}
	nonce, err := c.DerivedID("replay")
	if err != nil {
		return nil, err
	}
	return a.queueDelivery(c, w, r.Again(w.Target(), nonce))
}

// queueDelivery queues a delivery requested by its owner. The record is written
// first, so that it cannot overwrite the answer of a fast receiver.
func (a *api) queueDelivery(c *rest.Call, w receiver.Webhook, d delivery.Delivery) (*rest.Reply, error) {
	if w.Status != receiver.Active {
		return nil, fault.New(fault.WebhookDisabled, "the webhook is disabled; PATCH its status to %s first", receiver.Active).
			With("disabled_reason", w.DisabledReason)
	}
	r, err := a.Webhooks.NoteQueued(c.Context(), d)
	if err != nil {
		return nil, err
	}
	if err := a.Deliveries.Put(c.Context(), d); err != nil {
		return nil, fmt.Errorf("queue a delivery of webhook %s: %w", w.ID, err)
	}
	rep, err := rest.JSON(http.StatusAccepted, rest.Data{Data: bodyOfDelivery(r)})
	if err == nil {
		rep.Header.Set("Location", a.ownWebhooks().location(w.ID)+"/deliveries/"+url.PathEscape(r.ID))
	}
	return rep, err
}
