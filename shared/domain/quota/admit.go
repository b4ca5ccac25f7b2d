package quota

import (
	"maps"
	"slices"
	"time"
)

// How long a user who has reached a limit waits before a retry.
const (
	bytesRetry = time.Minute
	runsRetry  = 5 * time.Second
)

const (
	// recountEvery is the minimum time between two counts of the sessions of a user
	// who has reached the limit.
	recountEvery = time.Minute
	// indexLag is how long after its creation a session is certainly included in a
	// count.
	indexLag = 5 * time.Second
	// slotGrace is how long a slot is kept whose run is not active: it may be
	// starting, which takes less time, including retries.
	slotGrace = time.Minute
)

// AdmitBytes decides whether a user with that many stored bytes may store more; it
// returns Exceeded if not. The last write may exceed the limit.
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
	Created int64 // when the last one was created, in epoch milliseconds
	Counted int64 // when they were last counted, in epoch milliseconds
}

// AdmitSession decides whether a user may have one more session; it returns Exceeded
// if not. Recount is set if that depends on a new count: the sessions were never
// counted, or the count that reaches the limit may be too high.
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

// AdmitCounted decides the same from a new count.
func (l Limits) AdmitCounted(sessions int64) error {
	if sessions < l.Sessions {
		return nil
	}
	return Exceeded(Sessions, l.Sessions, sessions, recountEvery)
}

// FreeSlots returns the slots, of those that were taken at the given times, whose
// runs are neither active nor starting. Times are epoch milliseconds.
func FreeSlots(taken map[string]int64, atWork map[string]bool, now int64) []string {
	var free []string
	for _, slot := range slices.Sorted(maps.Keys(taken)) {
		if !atWork[slot] && taken[slot] < now-slotGrace.Milliseconds() {
			free = append(free, slot)
		}
	}
	return free
}

// RunsExceeded returns the fault for a user whose slots are all taken; running are
// the active runs, as the fault shows them.
func (l Limits) RunsExceeded(slots int64, running any) error {
	return Exceeded(Runs, l.Runs, slots, runsRetry).With("running", running)
}
