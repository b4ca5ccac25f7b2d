// Package delivery is the domain of at-least-once notifications over HTTP. A change
// becomes an Event, an event becomes a Delivery for each Target that subscribes to
// it, deliveries wait in a queue that keeps their order, and a Worker delivers
// them. The package depends on no cloud and on no message format; a MessageBuilder
// builds the messages of each kind of target.
package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/domain/notification"
)

// Delivery is an event for a target. It holds only references, so that it fits into
// any queue and the message reflects the state when it is sent.
type Delivery struct {
	Event  notification.Event `json:"event"`
	Target Target             `json:"target"`
	// Again is set for a redelivery on request: the queue treats it as another
	// delivery, everything else as the same.
	Again string `json:"again,omitempty"`
	// Tries is the number of attempts before it was queued again.
	Tries int `json:"tries,omitempty"`
}

// ID is the same for the same event and target.
func (d Delivery) ID() string { return digest(string(d.Target.Kind), d.Target.Name, d.Event.ID) }

// QueueID is ID, unless the delivery is a redelivery.
func (d Delivery) QueueID() string {
	if d.Again == "" {
		return d.ID()
	}
	return digest(d.ID(), d.Again)
}

// digest returns a short name for parts, which contain no line breaks.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintln(h, part) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

var (
	// ErrNothing says that there is nothing left to deliver: the target is gone, or
	// the change was undone.
	ErrNothing = errors.New("there is nothing to deliver")
	// ErrGone is ErrNothing for a deleted target: none of its earlier deliveries is
	// needed any more.
	ErrGone = fmt.Errorf("the target is gone: %w", ErrNothing)
	// ErrRefused says that the target's address must not be called.
	ErrRefused = errors.New("the target must not be called")
	// ErrUnqueued says that the queue did not accept a delivery.
	ErrUnqueued = errors.New("a delivery cannot be queued")
)

// Targets finds the targets of an event. With an error it may return some of them,
// which can be delivered to without waiting for the others.
type Targets interface {
	Targets(ctx context.Context, e notification.Event) ([]Target, error)
}

// Queue keeps deliveries until they are delivered, those of a group in the order in
// which they were put. A delivery that is put again soon after is kept once.
type Queue interface {
	Put(ctx context.Context, d Delivery) error
}
