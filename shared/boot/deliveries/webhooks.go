package deliveries

import (
	"crypto/rand"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/transport/rest/hooks"
)

// StartWebhooks runs the function of the webhook routes until Lambda stops it.
// DELIVERIES_URL is the queue for tests and replays.
func StartWebhooks() {
	boot.Start(func(d boot.Deps) (any, error) {
		queue, err := queues(d, receiver.WebhookKind)
		if err != nil {
			return nil, err
		}
		c := d.API()
		c.Webhooks, c.Deliveries, c.CheckURL = d.Store.Webhooks, queue, boot.Guard().Check
		c.NewSecret = func() (receiver.Secret, error) { return receiver.NewSecret(rand.Reader) }
		return boot.HTTP(hooks.Webhooks(c)), nil
	})
}
