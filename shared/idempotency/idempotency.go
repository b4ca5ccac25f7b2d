// Package idempotency is the domain of the Idempotency-Key header: the same
// key and body give the same answer for a day.
package idempotency

import (
	"context"
	"time"
)

// Lifetime is how long an answer is kept.
const Lifetime = 24 * time.Hour

// Lease is how long a request may hold its key before another try may take it
// over: longer than any request can run.
const Lease = 60 * time.Second

// Answer is what a finished request answered.
type Answer struct {
	Status int
	Header map[string]string
	Body   []byte
}

// Claim is one use of a key.
type Claim struct {
	UserID string
	Key    string
	Route  string // method and path: a key belongs to one
	Digest string // of the body
}

// Store keeps answers by key.
type Store interface {
	// Begin takes the key. It returns the stored answer where the request was
	// answered before, and nil where this one is to be carried out. A key that
	// is in use is fault.Busy; one used with another body is fault.Invalid.
	Begin(ctx context.Context, c Claim) (*Answer, error)
	// Finish stores the answer of a request that was carried out.
	Finish(ctx context.Context, c Claim, a Answer) error
	// Release gives the key back after a request that changed nothing.
	Release(ctx context.Context, c Claim) error
}
