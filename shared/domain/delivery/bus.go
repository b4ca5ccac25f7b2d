package delivery

import "context"

// Bus passes events on to whoever listens, in no order.
type Bus interface {
	// Publish says of each event, by its place, why it could not be passed on; nil
	// for those that were. One may be published again.
	Publish(ctx context.Context, events []Event) []error
}
