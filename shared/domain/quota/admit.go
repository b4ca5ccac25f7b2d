package quota

import (
	"maps"
	"slices"
	"time"
)

// How long a user who has reached a limit waits before asking again.
const (
	bytesRetry = time.Minute
	runsRetry  = 5 * time.Second
)

const (
	// recountEvery is how often at most the sessions of a user who has reached the
	// limit are counted.
	recountEvery = time.Minute
	// indexLag is how long after a session was made a count surely includes it.
	indexLag = 5 * time.Second
	// slotGrace is how long a slot holds whose run is not at work: it may be starting,
	// which takes less, with all that is tried again.
	slotGrace = time.Minute
)

// AdmitBytes decides whether a user who stores so many bytes may store more:
// Exceeded if not. The last write may exceed the limit.
func (l Limits) AdmitBytes(used int64) error {
	if l.Bytes > 0 && used >= l.Bytes {
		return Exceeded(Bytes, l.Bytes, used, bytesRetry)
	}
	return nil
}

// SessionCount is how many sessions a user has, as far as is known.
type SessionCount struct {
	Known   bool // they were counted
	Number  int64
	Created int64 // when the last one was made, in epoch milliseconds
	Counted int64 // when they were last counted, in epoch milliseconds
}

// AdmitSession decides whether a user may have one more session: Exceeded if not.
// Recount is set if that depends on a new count: they were never counted, or the
// limit is reached by a count that may be too high.
func (l Limits) AdmitSession(c SessionCount, now time.Time) (recount bool, err error) {
	switch {
	case !c.Known:
		return true, nil
	case c.Number < l.Sessions:
		return false, nil
	case now.Sub(time.UnixMilli(c.Counted)) < recountEvery || now.Sub(time.UnixMilli(c.Created)) < indexLag:
		return false, l.AdmitCounted(c.Number)
	}
	return true, nil
}

// AdmitCounted decides the same by a count that was just made.
func (l Limits) AdmitCounted(sessions int64) error {
	if sessions < l.Sessions {
		return nil
	}
	return Exceeded(Sessions, l.Sessions, sessions, recountEvery)
}

// FreeSlots are the slots, of those that were taken at the given times, whose runs
// are over: not at work, and not just starting. Times are epoch milliseconds.
func FreeSlots(taken map[string]int64, atWork map[string]bool, now int64) []string {
	var free []string
	for _, slot := range slices.Sorted(maps.Keys(taken)) {
		if !atWork[slot] && taken[slot] < now-slotGrace.Milliseconds() {
			free = append(free, slot)
		}
	}
	return free
}

// RunsExceeded is the fault of a user whose slots are all taken; running are the
// runs at work, as the fault shows them.
func (l Limits) RunsExceeded(slots int64, running any) error {
	return Exceeded(Runs, l.Runs, slots, runsRetry).With("running", running)
}
