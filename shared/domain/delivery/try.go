package delivery

import (
	"encoding/json"
	"time"
)

// RetryPolicy is when a worker retries failures.
type RetryPolicy struct {
	First  time.Duration // wait after the first attempt; it doubles with each
	Max    time.Duration // longest wait
	Within time.Duration // from queueing until the delivery is abandoned
}

// DefaultRetryPolicy makes about 40 attempts over a day.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{First: time.Second, Max: time.Hour, Within: 24 * time.Hour}
}

// wait returns the wait after a failed attempt, numbered from 1: at least what the
// target asks for, plus a random part, from none to all, of a value that doubles.
// The jitter, from 0 to 1, spreads deliveries that failed together.
func (p RetryPolicy) wait(try int, jitter float64, least time.Duration) time.Duration {
	ceiling := p.Max
	if shift := try - 1; shift < 32 && p.First<<shift < p.Max {
		ceiling = p.First << shift
	}
	return min(max(0, least)+time.Duration(jitter*float64(ceiling)), p.Max)
}

// Try identifies an attempt.
type Try struct {
	Number int       // from 1
	Queued time.Time // when the delivery was queued
	// Failures, if not 0, is how many attempts in a row will have failed for the
	// target if this one does: the wait then depends on it instead of Number.
	Failures int
}

// State is the state of a delivery after an attempt.
type State int

// The states.
const (
	Done      State = iota // delivered, or nothing to deliver
	Later                  // to be tried again
	Abandoned              // permanently
)

// Result is the result of an attempt.
type Result struct {
	State  State
	Wait   time.Duration // until the next attempt, for Later
	Reason string        // for Later and Abandoned
	// Nothing is set with Done if there was nothing to deliver, or if the target
	// refuses further deliveries. Gone is set too if the target does not exist any
	// more.
	Nothing, Gone bool
}

// GivenUp is a delivery that was given up, as the queue of abandoned deliveries has it.
type GivenUp struct {
	Reason string          `json:"reason"`
	Tries  int             `json:"tries"`
	Body   json.RawMessage `json:"body"` // a JSON value: what was to be delivered
}
