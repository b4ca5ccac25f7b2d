// Package delivery is the domain of telling others what happened, over HTTP and
// until they have heard it: what happened becomes an Event, an event becomes a
// Delivery for each Target that wants it, deliveries wait in a queue that keeps
// their order, and a Worker brings them. It knows neither a cloud nor what the
// messages of a kind of targets look like; those come from a MessageBuilder.
package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Delivery is an event for a target. It holds references only, so that it fits
// into any queue, and so that what is sent is what is true at that time.
type Delivery struct {
	Event  Event  `json:"event"`
	Target Target `json:"target"`
	// Again is set where somebody wants it delivered another time: it makes another
	// one of it for the queue, and for nobody else.
	Again string `json:"again,omitempty"`
	// Tries is how often it was tried before it was queued again.
	Tries int `json:"tries,omitempty"`
}

// ID is the same for the same event and target.
func (d Delivery) ID() string { return digest(string(d.Target.Kind), d.Target.Name, d.Event.ID) }

// QueueID is ID, unless the delivery is to be made again.
func (d Delivery) QueueID() string {
	if d.Again == "" {
		return d.ID()
	}
	return digest(d.ID(), d.Again)
}

// digest is a short name for parts, which hold no line breaks.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintln(h, part) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

var (
	// ErrNothing says that there is nothing to tell any more: the target is gone,
	// or what happened was taken back.
	ErrNothing = errors.New("there is nothing to deliver")
	// ErrGone is ErrNothing where the target is gone: nothing that was made for it
	// before is to be delivered any more.
	ErrGone = fmt.Errorf("the target is gone: %w", ErrNothing)
	// ErrRefused says that a message must not be sent to where its target is.
	ErrRefused = errors.New("the target must not be called")
	// ErrUnqueued says that the queue did not take a delivery.
	ErrUnqueued = errors.New("a delivery cannot be queued")
)

// Targets finds who wants to hear of an event. With an error there may be some as
// well, who are not to wait for the others.
type Targets interface {
	Targets(ctx context.Context, e Event) ([]Target, error)
}

// Queue keeps deliveries until they have been brought, those of a group in the
// order in which they came. One that is put again soon after is kept once.
type Queue interface {
	Put(ctx context.Context, d Delivery) error
}
