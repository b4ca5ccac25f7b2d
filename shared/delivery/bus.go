package delivery

import "context"

// Public reports whether others than A2A are told of events of the type.
func (t Type) Public() bool { return t != ItemCompleted && t != TaskCancelled }

// Bus passes events on to whoever listens, in no order.
type Bus interface {
	// Publish says of each event, by its place, why it could not be passed on; nil
	// for those that were. One may be published again.
	Publish(ctx context.Context, events []Event) []error
}
