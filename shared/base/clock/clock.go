// Package clock has the time by which the system judges stored and given times:
// leases, expiries, retention. It is the machine's; the local system can be ahead of it,
// so that developers see at once what takes days. Measured and waited durations keep the
// machine's time, and so do times that others compare with their own clocks, such as those
// of signatures.
package clock

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Variable is the environment variable with the name of the file that says how far the
// local system is ahead. In a deployment it is unset.
const Variable = "CLOCK_FILE"

// New returns a clock that is ahead of the machine's by Ahead of a file; "" means that it
// never is. The file is read at each call, so that all functions are ahead at once; the
// clock panics if it is damaged. Its times have no reading of the monotonic clock, which may
// stand still while an instance is frozen: what an instance remembers is as old as others
// see it.
func New(file string) func() time.Time {
	if file == "" {
		return func() time.Time { return time.Now().Round(0) }
	}
	return func() time.Time {
		ahead, err := Ahead(file)
		if err != nil {
			panic(err)
		}
		return time.Now().Round(0).Add(ahead)
	}
}

// Ahead reads a duration from a file; a missing file means 0.
func Ahead(file string) (time.Duration, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the local host names it
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read how far the clock is ahead: %w", err)
	}
	ahead, err := time.ParseDuration(string(text))
	if err != nil {
		return 0, fmt.Errorf("%s does not say how far the clock is ahead; remove it: %w", file, err)
	}
	return ahead, nil
}
