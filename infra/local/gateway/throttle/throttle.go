// Package throttle limits the request rate of an API's stage with a token bucket,
// as API Gateway does: each request takes a token, and tokens are added at a fixed
// rate.
package throttle

import (
	"golang.org/x/time/rate"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// Message is the message of the 429 response.
const Message = "Too Many Requests"

// Limiter limits one stage.
type Limiter struct{ bucket *rate.Limiter }

// New returns the limiter of a stage. It limits nothing if the template sets no
// limit.
func New(t samtemplate.Throttle) Limiter {
	if t.Rate == 0 {
		return Limiter{rate.NewLimiter(rate.Inf, 0)}
	}
	return Limiter{rate.NewLimiter(rate.Limit(t.Rate), t.Burst)}
}

// Allow takes a token and reports whether one was available.
func (l Limiter) Allow() bool { return l.bucket.Allow() }
