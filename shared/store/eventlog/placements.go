package eventlog

import (
	"slices"
	"time"
)

// Placement is a new task, by the position of the entry that placed it.
type Placement struct {
	Position int64 `dynamodbav:"p"`
	Time     int64 `dynamodbav:"t"` // of the entry, in epoch milliseconds
}

// Unfinished returns the placements whose saves may not have ended at a time.
func Unfinished(all []Placement, millis int64) []Placement {
	return slices.DeleteFunc(slices.Clone(all), func(p Placement) bool { return p.Time < millis-SavingTime.Milliseconds() })
}

// SavingTime is longer than a request takes: saves announced earlier have
// ended.
const SavingTime = time.Minute
