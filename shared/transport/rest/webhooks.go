package rest

import (
	"net/http"

	"github.com/rethread/rethread/shared/domain/webhook"
)

const maxWebhookBody = 1 << 20

// Webhooks handles webhooks, their secrets and the records of their deliveries.
func Webhooks(c Config) http.Handler {
	a := newAPI(c)
	all := a.ownWebhooks()
	one := all.path + "/{webhook_id}"
	a.handle(http.MethodPost, all.path, withBody(maxWebhookBody, a.withSecret(all.whileExists(a.once(repeatable{may: anyCaller}, a.createWebhook)))))
	a.handle(http.MethodGet, all.path, all.getAll)
	a.handle(http.MethodGet, one, all.getOne)
	a.handle(http.MethodPatch, one, withBody(maxWebhookBody, a.changeWebhook))
	a.handle(http.MethodDelete, one, all.deleteOne)
	a.handle(http.MethodPost, one+"/test", a.once(repeatable{may: a.ownsWebhook}, a.testWebhook))
	a.handle(http.MethodGet, one+"/secret", a.getSecret)
	a.handle(http.MethodPost, one+"/secret/rotate", withOptionalBody(maxWebhookBody, a.withCurrentSecret(a.once(repeatable{may: a.ownsWebhook}, a.rotateSecret))))
	a.handle(http.MethodGet, one+"/deliveries", a.listDeliveries)
	a.handle(http.MethodGet, one+"/deliveries/{delivery_id}", a.getDelivery)
	a.handle(http.MethodPost, one+"/deliveries/{delivery_id}/replay", a.once(repeatable{may: a.ownsWebhook}, a.replayDelivery))
	return a.mux
}

func (a *api) ownWebhooks() owned[webhook.Webhook] {
	return owned[webhook.Webhook]{
		name: "webhook", path: versioned + "/webhooks", id: "webhook_id",
		know: func(w webhook.Webhook) label { return label{w.ID, w.CreatedTime, w.Version} },
		body: func(w webhook.Webhook) any { return bodyOfWebhook(w) },
		list: a.Webhooks.Webhooks, read: a.Webhooks.Webhook, remove: a.Webhooks.DeleteWebhook,
	}
}

// ownsWebhook requires the owner of the webhook in the path.
func (a *api) ownsWebhook(c *call) (string, error) {
	id, err := c.pathID("webhook_id")
	if err == nil {
		_, err = a.Webhooks.Webhook(c.Context(), c.user, id)
	}
	return "", err
}

// createWebhook answers without the secret, so the answer stored under an
// idempotency key does not contain it. withSecret adds it.
func (a *api) createWebhook(c *call) (*reply, error) {
	w, secret, err := a.newWebhook(c)
	if err != nil {
		return nil, err
	}
	made, err := a.Webhooks.CreateWebhook(c.Context(), w, secret)
	if err != nil {
		return nil, err
	}
	return a.ownWebhooks().reply(http.StatusCreated, made)
}

func (a *api) changeWebhook(c *call) (*reply, error) {
	own := a.ownWebhooks()
	id, err := c.pathID(own.id)
	if err != nil {
		return nil, err
	}
	change, err := a.webhookChange(c)
	if err != nil {
		return nil, err
	}
	if change.IfMatch, err = own.matchedVersion(c, id); err != nil {
		return nil, err
	}
	w, err := a.Webhooks.ChangeWebhook(c.Context(), c.user, id, change)
	if err != nil {
		return nil, err
	}
	return own.reply(http.StatusOK, w)
}
