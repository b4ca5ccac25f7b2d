package main

import (
	"errors"
	"fmt"
	"time"
)

// kindsFloor is how often each kind of fault must come in a minute: once in two.
const kindsFloor = 0.5

var errFew = errors.New("too little was tried to say anything")

// floors are the least that a minute of chaos must hold, on a slow machine too: of
// what is told in total, and of checks by invariant.
func floors() (amounts, checks map[string]float64) {
	return map[string]float64{"requests": 150, "faults": 100, "kills": 8, "sessions": 6},
		map[string]float64{
			"acknowledged": 40, "answers": 1, "artifacts": 3, "dense": 150, "deleted": 4, "forks": 1, "listed": 6, "once": 100,
			"orphans": 300, "refused": 5, "repeats": 3, "shown": 40, "state": 6, "stuck": 100, "tasks": 2, "views": 18, "watchers": 3,
		}
}

// enough fails where less was tried in a time than says anything.
func (t *total) enough(lasted time.Duration) error {
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
		return fmt.Errorf("%w: %s: %d, not %d", errFew, name, got, whole)
	}
	return nil
}
