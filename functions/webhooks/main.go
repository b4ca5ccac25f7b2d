// Command webhooks handles webhooks: the URLs to which users have events of their
// sessions sent.
package main

import (
	"crypto/rand"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/client/outbound"
	"github.com/rethread/rethread/shared/client/queue"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/transport/rest/hooks"
)

func main() { boot.Start(wire) }

// wire reads the environment: DELIVERIES_URL is the queue for tests and replays.
func wire(d boot.Deps) (any, error) {
	queues, err := queue.FromEnvironment(d.AWS, receiver.WebhookKind)
	if err != nil {
		return nil, err
	}
	c := d.API()
	c.Webhooks, c.Deliveries, c.CheckURL = d.Store.Webhooks, queues, outbound.FromEnvironment().Check
	c.NewSecret = func() (receiver.Secret, error) { return receiver.NewSecret(rand.Reader) }
	return boot.HTTP(hooks.Webhooks(c)), nil
}
