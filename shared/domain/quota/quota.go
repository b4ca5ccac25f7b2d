// Package quota is the domain of limits for one user. It depends on neither a
// database nor a transport.
package quota

import (
	"context"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
)

// The names of the quotas in the API.
const (
	Sessions    = "sessions"
	Runs        = "runs"
	Bytes       = "bytes"
	OpenStreams = "streams"
)

// Limits are a deployment's limits for each user; 0 is unlimited.
type Limits struct {
	Sessions int64 // existing ones
	Runs     int64 // active at once, over all sessions
	Bytes    int64 // of logs and artifacts, about as they are stored
	Streams  int64 // open at once, over all streaming protocols
	// RequestDays is how many days the requests to agents are kept, 0 for not at all.
	RequestDays int64
}

// Use is how much of a quota is used. Limit is nil if unlimited.
type Use struct {
	Used  int64  `json:"used"`
	Limit *int64 `json:"limit"`
}

// NewUse returns a use under a limit; 0 is unlimited.
func NewUse(used, limit int64) Use {
	u := Use{Used: max(used, 0)}
	if limit > 0 {
		u.Limit = &limit
	}
	return u
}

// Usage is a user's use of all quotas.
type Usage struct {
	Sessions Use `json:"sessions"`
	Runs     Use `json:"runs"`
	Bytes    Use `json:"bytes"`
	Streams  Use `json:"streams"`
}

// Store reads the usage of users.
type Store interface {
	// Usage returns the user's current usage. If sessions are not limited, those of
	// the last second may be missing; bytes are counted only while they are
	// limited.
	Usage(ctx context.Context, userID string) (Usage, error)
}

// Exceeded returns the fault for exceeding a limit: fault.Busy, with the members
// quota, limit and used. A retry may succeed after the user has freed something.
func Exceeded(name string, limit, used int64, retry time.Duration) *fault.Error {
	what := map[string]string{
		Sessions:    "You have %d sessions, of %d allowed: delete some first",
		Runs:        "You have %d runs at work, of %d allowed at once: wait for one to end, or cancel it",
		Bytes:       "You store %d bytes, of %d allowed: delete sessions first",
		OpenStreams: "You have %d streams open, of %d allowed at once: close one first, or use a websocket",
	}[name]
	f := fault.New(fault.QuotaExceeded, what, used, limit)
	f.RetryAfter = retry
	return f.With("quota", name).With("limit", limit).With("used", used)
}
