package notification

import "context"

// Bus passes events on to subscribers, in no order.
type Bus interface {
	// Publish returns an error for each event that could not be passed on, at its
	// index; nil for the others. An event may be published again.
	Publish(ctx context.Context, events []Event) []error
}
