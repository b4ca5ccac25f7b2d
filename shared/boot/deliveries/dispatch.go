package deliveries

import (
	"os"

	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/client/messaging"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
)

// busVariable is the environment variable with the name of the event bus on which all
// events are published; empty for none.
const busVariable = "EVENT_BUS"

// StartDispatch runs the function that queues deliveries, and begins queued runs, until
// Lambda stops it.
func StartDispatch() {
	boot.Start(func(d boot.Deps) (any, error) {
		queue, err := queues(d, receiver.WebhookKind, receiver.PushKind, automation.Kind)
		if err != nil {
			return nil, err
		}
		dispatch := boot.Dispatch(d.Store.Watching.Notifications, &delivery.Dispatcher{Targets: d.Store, Queue: queue}, bus(d), d.Log)
		return boot.StartingQueued(dispatch, d.NextQueued(), d.Log), nil
	})
}

// bus returns the event bus for all events; nil if none is configured.
func bus(d boot.Deps) notification.Bus {
	name := os.Getenv(busVariable)
	if name == "" {
		return nil
	}
	return messaging.NewBus(eventbridge.NewFromConfig(d.AWS), name)
}
