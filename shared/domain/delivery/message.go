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

// Answer is a target's response.
type Answer struct {
	Status int // as in HTTP
	// RetryAfter is the delay that the target asks for, 0 if it asks for none.
	RetryAfter time.Duration
}

// MessageBuilder builds the messages of one kind of target.
type MessageBuilder interface {
	// Messages returns the messages to send, in order: usually one. ErrNothing if
	// there is nothing to send, ErrGone if there never will be. A repeat builds the
	// same messages.
	Messages(ctx context.Context, d Delivery) ([]Message, error)
	// Drop removes a target whose address answered that it is gone permanently.
	Drop(ctx context.Context, t Target, url string) error
}

// AttemptObserver is a MessageBuilder that is notified of each attempt.
type AttemptObserver interface {
	// OnAttempt is called after an attempt. Its error does not change the outcome
	// of the delivery.
	OnAttempt(ctx context.Context, d Delivery, o Outcome) error
}

// Poster sends messages. It returns ErrRefused for an address that must not be
// called; any other error is temporary.
type Poster interface {
	Post(ctx context.Context, m Message) (Answer, error)
}
