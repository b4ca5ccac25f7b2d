// Package throttle bounds what a stage of an API takes, by a token bucket as
// API Gateway has it: a request takes a token, and those come back at a rate.
package throttle

import (
	"golang.org/x/time/rate"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// Message is what callers hear who are refused, with the status 429.
const Message = "Too Many Requests"

// Limiter bounds one stage.
type Limiter struct{ bucket *rate.Limiter }

// New returns the limiter of a stage; one that the template does not bound
// bounds nothing.
func New(t samtemplate.Throttle) Limiter {
	if t.Rate == 0 {
		return Limiter{rate.NewLimiter(rate.Inf, 0)}
	}
	return Limiter{rate.NewLimiter(rate.Limit(t.Rate), t.Burst)}
}

// Allow takes a token, and reports whether there was one.
func (l Limiter) Allow() bool { return l.bucket.Allow() }
