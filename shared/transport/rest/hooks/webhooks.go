package hooks

import (
	"net/http"

	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/transport/rest"
)

const maxWebhookBody = 1 << 20

// Webhooks handles webhooks, their secrets and the records of their deliveries.
func Webhooks(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	all := a.ownWebhooks()
	one := all.path + "/{webhook_id}"
	a.Handle(http.MethodPost, all.path, rest.WithBody(maxWebhookBody, a.withSecret(all.whileExists(a.Once(rest.Repeatable{May: rest.AnyCaller}, a.createWebhook)))))
	a.Handle(http.MethodGet, all.path, all.getAll)
	a.Handle(http.MethodGet, one, all.getOne)
	a.Handle(http.MethodPatch, one, rest.WithBody(maxWebhookBody, a.changeWebhook))
	a.Handle(http.MethodDelete, one, all.deleteOne)
	a.Handle(http.MethodPost, one+"/test", a.Once(rest.Repeatable{May: a.ownsWebhook}, a.testWebhook))
	a.Handle(http.MethodGet, one+"/secret", a.getSecret)
	a.Handle(http.MethodPost, one+"/secret/rotate", rest.WithOptionalBody(maxWebhookBody, a.withCurrentSecret(a.Once(rest.Repeatable{May: a.ownsWebhook}, a.rotateSecret))))
	a.Handle(http.MethodGet, one+"/deliveries", a.listDeliveries)
	a.Handle(http.MethodGet, one+"/deliveries/{delivery_id}", a.getDelivery)
	a.Handle(http.MethodPost, one+"/deliveries/{delivery_id}/replay", a.Once(rest.Repeatable{May: a.ownsWebhook}, a.replayDelivery))
	return a.Mux
}

func (a *api) ownWebhooks() owned[receiver.Webhook] {
	return owned[receiver.Webhook]{
		name: "webhook", path: rest.Versioned + "/webhooks", id: "webhook_id",
		know: func(w receiver.Webhook) label { return label{w.ID, w.CreatedTime, w.Version} },
		body: func(w receiver.Webhook) any { return bodyOfWebhook(w) },
		list: a.Webhooks.Webhooks, read: a.Webhooks.Webhook, remove: a.Webhooks.DeleteWebhook,
	}
}

// ownsWebhook requires the owner of the webhook in the path.
func (a *api) ownsWebhook(c *rest.Call) (string, error) {
	id, err := c.PathID("webhook_id")
	if err == nil {
		_, err = a.Webhooks.Webhook(c.Context(), c.User, id)
	}
	return "", err
}

// createWebhook answers without the secret, so the answer stored under an
// idempotency key does not contain it. withSecret adds it.
func (a *api) createWebhook(c *rest.Call) (*rest.Reply, error) {
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

func (a *api) changeWebhook(c *rest.Call) (*rest.Reply, error) {
	own := a.ownWebhooks()
	id, err := c.PathID(own.id)
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
	w, err := a.Webhooks.ChangeWebhook(c.Context(), c.User, id, change)
	if err != nil {
		return nil, err
	}
	return own.reply(http.StatusOK, w)
}
