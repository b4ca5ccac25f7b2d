// Command dispatch reads the table's changes and queues deliveries for webhooks,
// A2A push notifications and automations, and begins queued runs.
package main

import (
	"os"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/boot/invoke"
	"github.com/rethread/rethread/shared/client/eventbus"
	"github.com/rethread/rethread/shared/client/queue"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
)

// busVariable is the environment variable with the name of the event bus on which all
// events are published; empty for none.
const busVariable = "EVENT_BUS"

func main() { boot.Start(wire) }

func wire(d boot.Deps) (any, error) {
	queues, err := queue.FromEnvironment(d.AWS, receiver.WebhookKind, receiver.PushKind, automation.Kind)
	if err != nil {
		return nil, err
	}
	var bus notification.Bus
	if name := os.Getenv(busVariable); name != "" {
		bus = eventbus.New(d.AWS, name)
	}
	dispatch := batch.Dispatch(d.Store.Watching.Notifications, &delivery.Dispatcher{Targets: d.Store, Queue: queues}, bus, d.Log)
	return batch.StartingQueued(dispatch, invoke.NextQueued(d), d.Log), nil
}
