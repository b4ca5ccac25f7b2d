package httpapi

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/session"
	"github.com/rethread/rethread/shared/webhook"
)

const (
	webhooksPath   = versioned + "/webhooks"
	maxWebhookBody = 1 << 20
)

// Webhooks handles webhooks, their secrets and what became of their deliveries.
func Webhooks(c Config) http.Handler {
	a := newAPI(c)
	const one = webhooksPath + "/{webhook_id}"
	a.handle(http.MethodPost, webhooksPath, withBody(maxWebhookBody, a.withSecret(a.once(a.createWebhook))))
	a.handle(http.MethodGet, webhooksPath, a.listWebhooks)
	a.handle(http.MethodGet, one, a.getWebhook)
	a.handle(http.MethodPatch, one, withBody(maxWebhookBody, a.changeWebhook))
	a.handle(http.MethodDelete, one, a.deleteWebhook)
	a.handle(http.MethodPost, one+"/test", a.once(a.testWebhook))
	a.handle(http.MethodGet, one+"/secret", a.getSecret)
	a.handle(http.MethodPost, one+"/secret/rotate", withOptionalBody(maxWebhookBody, a.nowSecret(a.once(a.rotateSecret))))
	a.handle(http.MethodGet, one+"/deliveries", a.listDeliveries)
	a.handle(http.MethodGet, one+"/deliveries/{delivery_id}", a.getDelivery)
	a.handle(http.MethodPost, one+"/deliveries/{delivery_id}/replay", a.once(a.replayDelivery))
	return a.mux
}

func webhookReply(status int, w webhook.Webhook) (*reply, error) {
	rep, err := jsonReply(status, data{bodyOfWebhook(w)})
	if err != nil {
		return nil, err
	}
	rep.header.Set("ETag", etag(w.Version))
	return rep, nil
}

func webhookPath(id string) string { return webhooksPath + "/" + url.PathEscape(id) }

// createWebhook answers without the secret: what is kept under an idempotency key
// holds none. withSecret adds it.
func (a *api) createWebhook(c *call) (*reply, error) {
	w, secret, err := a.newWebhook(c)
	if err != nil {
		return nil, err
	}
	made, err := a.Webhooks.CreateWebhook(c.Context(), w, secret)
	if err != nil {
		return nil, err
	}
	rep, err := webhookReply(http.StatusCreated, made)
	if err == nil {
		rep.header.Set("Location", webhookPath(made.ID))
	}
	return rep, err
}

func (a *api) getWebhook(c *call) (*reply, error) {
	id, err := c.pathID("webhook_id")
	if err != nil {
		return nil, err
	}
	w, err := a.Webhooks.Webhook(c.Context(), c.user, id)
	if err != nil {
		return nil, err
	}
	return webhookReply(http.StatusOK, w)
}

// place is where a list of webhooks goes on.
type place struct {
	Created int64
	ID      string
}

func (a *api) listWebhooks(c *call) (*reply, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	p, err := c.pages(q, session.DefaultPage, "webhooks")
	if err != nil {
		return nil, err
	}
	var after place
	if err := p.resume(&after); err != nil {
		return nil, err
	}
	all, err := a.Webhooks.Webhooks(c.Context(), c.user)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(w webhook.Webhook) bool {
		return cmp.Or(cmp.Compare(w.CreatedTime, after.Created), cmp.Compare(w.ID, after.ID)) <= 0
	})
	var next *string
	if len(all) > p.limit {
		all = all[:p.limit]
		last := all[p.limit-1]
		if next, err = p.next(place{last.CreatedTime, last.ID}); err != nil {
			return nil, err
		}
	}
	bodies := make([]webhookBody, len(all))
	for i, w := range all {
		bodies[i] = bodyOfWebhook(w)
	}
	return p.listReply(bodies, next)
}

func (a *api) changeWebhook(c *call) (*reply, error) {
	id, err := c.pathID("webhook_id")
	if err != nil {
		return nil, err
	}
	change, err := a.webhookChange(c)
	if err != nil {
		return nil, err
	}
	match, err := parseIfMatch(c.Header)
	if err != nil {
		return nil, err
	}
	if match.given && !match.any {
		// The version that matched must still hold when the change is made.
		w, err := a.Webhooks.Webhook(c.Context(), c.user, id)
		if err != nil {
			return nil, err
		}
		if !match.matches(w.Version) {
			return nil, fault.New(fault.Precondition, "If-Match does not hold: the webhook is at version %d", w.Version)
		}
		change.IfMatch = &w.Version
	}
	w, err := a.Webhooks.ChangeWebhook(c.Context(), c.user, id, change)
	if err != nil {
		return nil, err
	}
	return webhookReply(http.StatusOK, w)
}

func (a *api) deleteWebhook(c *call) (*reply, error) {
	id, err := c.pathID("webhook_id")
	if err != nil {
		return nil, err
	}
	if err := a.Webhooks.DeleteWebhook(c.Context(), c.user, id); err != nil {
		return nil, err
	}
	return noContent(), nil
}
