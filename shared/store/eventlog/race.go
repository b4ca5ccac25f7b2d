package eventlog

import (
	"time"

	"github.com/rethread/rethread/shared/base/sleep"
)

// race is a writer's competition for positions of a log. An attempt reads the head and
// puts an entry after it; it fails, and costs a write unit, if another writer's entry is
// put in between. So attempts must be rare compared to the time that one takes: with n
// writers that is one in n of these times. A writer does not know n, so each loss widens
// the time in which it makes its next attempt, in units of what its last attempt took:
// that is short on a fast table, and longer if the table or the machine is busy. The
// nearer the time when it gives up, the narrower: those who have waited longest try most
// often, and a few writers on a slow table are not refused for a few unlucky waits.
type race struct {
	losses   int
	patience time.Duration // how long the writer competes
	until    time.Time     // when it gives up
	began    time.Time
	took     time.Duration
}

const (
	// The least and the most that an attempt is taken to last.
	attemptLeast = 4 * time.Millisecond
	maxAttempt   = 30 * time.Millisecond
	// A writer waits for up to raceWindow attempts after its first loss, raceGrowth
	// times as many after each further one, up to raceWindows.
	raceWindow  = 2
	raceGrowth  = 4
	raceWindows = 64
)

// begin begins an attempt.
func (r *race) begin() { r.began = time.Now() }

// lose ends an attempt that another writer won.
func (r *race) lose() {
	r.losses++
	r.took = min(max(time.Since(r.began), attemptLeast), maxAttempt)
}

// wait returns how long to wait before the next attempt, at most until the writer gives up.
func (r *race) wait(error) time.Duration {
	windows := raceWindow
	for range r.losses - 1 {
		windows = min(windows*raceGrowth, raceWindows)
	}
	left := max(0, time.Until(r.until))
	width := time.Duration(float64(windows) * float64(r.took) * float64(left) / float64(r.patience))
	return min(sleep.Jitter(max(width, raceWindow*r.took)), left)
}
