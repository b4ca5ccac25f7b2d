// Package idempotency is the domain of the Idempotency-Key header: the same
// key and body give the same answer for a day, to a caller who may still have it.
package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Lifetime is how long an answer is kept, and how long a key stays used whose
// answer went with its session.
const Lifetime = 24 * time.Hour

const (
	// Lease is how long a request holds its key before another try may take it
	// over, where its context has no deadline: as long as functions behind the
	// HTTP API run at most.
	Lease = 30 * time.Second
	// LeaseMargin is how much longer than its context's deadline a request holds
	// its key: clocks differ.
	LeaseMargin = time.Second
)

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
	// Log is that of the session which the request is about, by which the session
	// is told from a later one with its id. The answer goes with it. It is "" for
	// a request that makes a session, or is about none.
	Log string
	// Nonce marks this one try, so that it knows its own claim again.
	Nonce string
}

// Name tells the claim from the others of its user. A session that the request
// makes remembers it, so that the answer goes with the session.
func (c Claim) Name() string {
	sum := sha256.Sum256([]byte(c.Route + "\x00" + c.Key))
	return hex.EncodeToString(sum[:])
}

// Store keeps answers by key.
type Store interface {
	// Begin takes the key. It returns the stored answer where the request was
	// answered before, and nil where this one is to be carried out. A key that
	// is in use is fault.Busy; one used with another body is fault.Invalid; one
	// whose answer went with what it was about is fault.NotFound until it expires.
	Begin(ctx context.Context, c Claim) (*Answer, error)
	// Finish stores the answer of a request that was carried out, unless what it
	// is about went meanwhile.
	Finish(ctx context.Context, c Claim, a Answer) error
	// Release gives the key back after a request that changed nothing.
	Release(ctx context.Context, c Claim) error
}
