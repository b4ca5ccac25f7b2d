package delivery

import "time"

// RetryPolicy is how a worker repeats what failed.
type RetryPolicy struct {
	First  time.Duration // wait after the first try; it doubles with each
	Most   time.Duration // longest wait
	Within time.Duration // from when it was queued until it is given up
}

// DefaultRetryPolicy is some 40 tries over a day.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{First: time.Second, Most: time.Hour, Within: 24 * time.Hour}
}

// wait is how long to wait after a failed try, numbered from 1: at least as long as
// the target asks for, and a random part, from none to all, of what doubles. So
// those that failed together do not come again together. jitter is from 0 to 1.
func (p RetryPolicy) wait(try int, jitter float64, least time.Duration) time.Duration {
	ceiling := p.Most
	if shift := try - 1; shift < 32 && p.First<<shift < p.Most {
		ceiling = p.First << shift
	}
	return min(max(0, least)+time.Duration(jitter*float64(ceiling)), p.Most)
}

// Try says which one it is.
type Try struct {
	Number int       // from 1
	Queued time.Time // when the delivery was
	// Failures, unless it is 0, is which try in a row it is to its target that may
	// fail: the wait after it goes by that, and not by Number.
	Failures int
}

// State is what becomes of a delivery.
type State int

// The states.
const (
	Done    State = iota // brought, or there is nothing to bring
	Later                // to be tried again
	GivenUp              // for good
)

// Result is what became of a try.
type Result struct {
	State  State
	Wait   time.Duration // until the next try, of Later
	Reason string        // of Later and GivenUp
	// Nothing is set of what is Done since there was nothing to bring, or since its
	// target wants no more. Gone is set as well where the target is there no more.
	Nothing, Gone bool
}
