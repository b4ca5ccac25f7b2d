// Package idempotency is the domain of the Idempotency-Key header: requests with
// the same key and body get the same answer for a day, as long as the caller may
// still see it. It is what shared/transport/rest and shared/store/idempotency have in common.
package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
)

// Lifetime is how long an answer is kept, and how long a key stays used after its
// answer was deleted with its session.
const Lifetime = 24 * time.Hour

const (
	// Lease is how long a request holds its key before another attempt may take it
	// over, if its context has no deadline: the maximum run time of functions
	// behind the HTTP API.
	Lease = 30 * time.Second
	// LeaseMargin is how long a request holds its key beyond its context's
	// deadline, for clock skew.
	LeaseMargin = time.Second
)

// Answer is the response to a finished request.
type Answer struct {
	Status int
	Header map[string]string
	Body   []byte
	// Unkept says that no answer is stored although the request may have been carried
	// out: for a claim with Rebuilds. Lease is then how long an earlier attempt may
	// still be at work.
	Unkept bool          `json:"-"`
	Lease  time.Duration `json:"-"`
}

// Claim is one use of a key.
type Claim struct {
	UserID string
	Key    string
	Route  string // method and path: a key is used for one route
	Digest string // of the body
	// Log is the log of the session that the request is about, which distinguishes
	// it from a later session with the same id. The answer is deleted with the
	// session. Log is "" for a request that creates a session or concerns none.
	Log string
	// Rebuilds says that the answer of a request that was carried out can be rebuilt
	// from what it stored, so that it need not be stored.
	Rebuilds bool
	// Nonce identifies this attempt, so that it recognises its own claim.
	Nonce string
}

// Name identifies the claim among those of its user. A session that the request
// creates stores it, so that the answer is deleted with the session.
func (c Claim) Name() string {
	sum := sha256.Sum256([]byte(c.Route + "\x00" + c.Key))
	return hex.EncodeToString(sum[:])
}

// InUse is the fault of a key whose request is under way, at most for that long.
func InUse(most time.Duration) error {
	return &fault.Error{
		Kind: fault.Busy, Detail: "a request with this Idempotency-Key is under way", RetryAfter: min(most, time.Second),
	}
}

// Store stores answers by key.
type Store interface {
	// Begin acquires the key. It returns the stored answer if the request was
	// answered before, and nil if it should be carried out. It returns fault.Busy
	// if the key is in use, fault.Invalid if it was used with another body, and
	// fault.NotFound, until the key expires, if the answer was deleted with its
	// session. For a claim with Rebuilds it returns an answer that is Unkept instead of
	// taking the key over or returning fault.Busy.
	Begin(ctx context.Context, c Claim) (*Answer, error)
	// Finish stores the answer to a request, unless its session was deleted.
	Finish(ctx context.Context, c Claim, a Answer) error
	// Release releases the key after a request that changed nothing.
	Release(ctx context.Context, c Claim) error
}
