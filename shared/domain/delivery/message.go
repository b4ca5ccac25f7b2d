package delivery

import (
	"context"
	"time"
)

// Message is one request to a target.
type Message struct {
	URL    string
	Header map[string]string
	Body   []byte
}

// Answer is what a target answered.
type Answer struct {
	Status int // as in HTTP
	// RetryAfter is how long it wants to be left alone, 0 where it does not say.
	RetryAfter time.Duration
}

// MessageBuilder makes the messages of one kind of targets.
type MessageBuilder interface {
	// Messages are what to send, in order: mostly one. ErrNothing for nothing,
	// ErrGone for nothing ever. Made again, they say the same.
	Messages(ctx context.Context, d Delivery) ([]Message, error)
	// Drop removes a target that answered at this address that it is gone for
	// good.
	Drop(ctx context.Context, t Target, url string) error
}

// AttemptObserver is a MessageBuilder that hears what became of each try.
type AttemptObserver interface {
	// OnAttempt comes after a try. An error of it changes nothing of what becomes of
	// the delivery.
	OnAttempt(ctx context.Context, d Delivery, o Outcome) error
}

// Poster sends messages. ErrRefused for an address that must not be called; any
// other error is one of the moment.
type Poster interface {
	Post(ctx context.Context, m Message) (Answer, error)
}
