package main

import (
	"errors"
	"fmt"
	"time"
)

// kindsFloor is the minimum of each kind of fault per minute: one in two minutes.
const kindsFloor = 0.5

var errTooFew = errors.New("too little was tested for a result")

// floors are the minimums per requested minute of chaos, for which a slow machine gets
// more rounds: of the totals, and of checks by invariant.
func floors() (amounts, checks map[string]float64) {
	return map[string]float64{"requests": 150, "faults": 100, "kills": 8, "sessions": 6},
		map[string]float64{
			"acknowledged": 40, "answers": 1, "artifacts": 3, "continued": 10, "dense": 150, "deleted": 4, "forks": 1, "kept": 3, "listed": 6, "once": 100,
			"orphans": 300, "owners": 12, "queued": 0.5, "refused": 5, "repeats": 3, "shown": 40, "state": 6, "stuck": 100, "takeovers": 0.5, "tasks": 2, "views": 18, "watchers": 3,
		}
}

// checkFloors returns an error if less was tested than the floors require.
func (t *total) checkFloors(lasted time.Duration) error {
	amounts, checks := floors()
	var errs []error
	for name, got := range map[string]int{"requests": t.requests, "faults": t.faults, "kills": t.kills, "sessions": t.sessions} {
		errs = append(errs, atLeast(name, got, amounts[name]*lasted.Minutes()))
	}
	for name, least := range checks {
		errs = append(errs, atLeast("checks of "+name, t.by[name], least*lasted.Minutes()))
	}
	for kind, got := range t.injected {
		errs = append(errs, atLeast("faults of "+kind, got, kindsFloor*lasted.Minutes()))
	}
	return errors.Join(errs...)
}

func atLeast(name string, got int, least float64) error {
	if whole := int(least); got < whole {
		return fmt.Errorf("%w: %s: %d, want at least %d", errTooFew, name, got, whole)
	}
	return nil
}
