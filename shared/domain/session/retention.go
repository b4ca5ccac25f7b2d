package session

import (
	"strconv"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
)

// Limits of how long a session may be kept after its last activity, in seconds.
const (
	MinRetention = 60
	MaxRetention = 10 * 365 * 24 * 60 * 60 // ten years
)

// Retention returns how long a deployment keeps the sessions of an agent that have
// no retention of their own: seconds since their last activity, 0 for unlimited.
type Retention func(agent string) int64

// CheckRetention validates a retention in seconds.
func CheckRetention(pointer string, seconds int64) error {
	if seconds < MinRetention || seconds > MaxRetention {
		return fault.Field(fault.Invalid, pointer, "must be %d to %d seconds", int64(MinRetention), int64(MaxRetention))
	}
	return nil
}

// ParseRetention parses a retention in a deployment's configuration: a Go duration
// (720h) or whole days (30d). Empty is 0, which is unlimited.
func ParseRetention(text string) (seconds int64, err error) {
	if text == "" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseInt(days, 10, 32)
		return checked(n*24*60*60, text, err)
	}
	d, err := time.ParseDuration(text)
	return checked(int64(d/time.Second), text, err)
}

func checked(seconds int64, text string, err error) (int64, error) {
	if err == nil {
		err = CheckRetention("", seconds)
	}
	if err != nil {
		return 0, fault.New(fault.Invalid, `%q is no retention: give a duration of one minute to ten years, such as "720h" or "30d"`, text)
	}
	return seconds, nil
}
