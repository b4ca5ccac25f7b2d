// Package quota is the domain of what one user may have at once. It knows
// neither a database nor a transport.
package quota

import (
	"context"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
)

// The names of the quotas, as callers meet them.
const (
	Sessions    = "sessions"
	Runs        = "runs"
	Bytes       = "bytes"
	OpenStreams = "streams"
)

// Limits are a deployment's, for each user; 0 means none.
type Limits struct {
	Sessions int64 // that exist
	Runs     int64 // at work at once, over all sessions
	Bytes    int64 // of logs and artifacts, about as they are stored
	Streams  int64 // open at once, over all protocols that stream
}

// Use is how much of a quota is used. Limit is nil where there is none.
type Use struct {
	Used  int64  `json:"used"`
	Limit *int64 `json:"limit"`
}

// NewUse is a use under a limit, where 0 means none.
func NewUse(used, limit int64) Use {
	u := Use{Used: max(used, 0)}
	if limit > 0 {
		u.Limit = &limit
	}
	return u
}

// Usage is what a user uses.
type Usage struct {
	Sessions Use `json:"sessions"`
	Runs     Use `json:"runs"`
	Bytes    Use `json:"bytes"`
	Streams  Use `json:"streams"`
}

// Store knows what users use.
type Store interface {
	// Usage is what the user has now. Sessions made within the last second may
	// be missing where they are not limited, and bytes count while they are.
	Usage(ctx context.Context, userID string) (Usage, error)
}

// Exceeded is the fault of whoever wants more than the limit: fault.Busy, with
// the members quota, limit and used. It may be tried again after a while, when
// something may have ended or gone.
func Exceeded(name string, limit, used int64, retry time.Duration) *fault.Error {
	what := map[string]string{
		Sessions:    "You have %d sessions, of %d allowed: delete some first",
		Runs:        "You have %d runs at work, of %d allowed at once: wait for one to end, or cancel it",
		Bytes:       "You store %d bytes, of %d allowed: delete sessions first",
		OpenStreams: "You have %d streams open, of %d allowed at once: close one first, or use a websocket",
	}[name]
	f := fault.New(fault.Busy, what, used, limit)
	f.RetryAfter = retry
	return f.With("quota", name).With("limit", limit).With("used", used)
}
