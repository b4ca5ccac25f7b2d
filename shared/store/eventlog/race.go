package eventlog

import (
	"context"
	"time"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
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
	return min(retry.Jitter(max(width, raceWindow*r.took)), left)
}

// lose ends an attempt whose position was taken. One that followed a remembered head says
// nothing about other writers of this moment, so the next one need not wait.
func (w *writer) lose() {
	if w.recalled {
		w.misremembered()
		return
	}
	w.race.lose()
}

// misremembered says that a remembered head was not that of the log.
func (w *writer) misremembered() {
	w.s.headCache.Change(w.log.Name, func(k knownHead) knownHead {
		k.inRow, k.needed = 0, min(inRowGrowth*max(leastInRow, k.needed), mostInRow)
		return k
	})
}

// lostRace reads what was appended concurrently; done means that it was this batch.
// Otherwise the batch may be tried again, unless it is not allowed any more or has
// competed for too long.
func (w *writer) lostRace(ctx context.Context, deadline time.Time) (done bool, err error) {
	if done, err = w.catchUp(ctx); err != nil || done {
		return done, err
	}
	w.discardTentative(ctx)
	if err := w.allowed(ctx); err != nil {
		return false, err
	}
	if err := w.claimIDs(ctx); err != nil {
		return false, err
	}
	if w.s.Now().After(deadline) {
		return false, records.Busy("too many writers append to this session")
	}
	return false, nil
}

// catchUp reads what was appended since the head was read, and reports whether it
// was this very batch, from an attempt whose answer was lost.
func (w *writer) catchUp(ctx context.Context) (done bool, err error) {
	w.read = w.s.Now()
	all := func() int { return 0 }
	err = w.s.queryRecords(ctx, EntryQuery(w.log.Name, w.head.Next, 0, true), all, func(r *Record) (bool, error) {
		w.pass(r)
		before := len(w.fresh())
		err := w.recognise(r)
		if len(w.fresh()) < before && !w.recalled { // otherwise earlier requests appended and counted it
			w.s.CountEntry(ctx, w.log, r)
		}
		return true, err
	})
	return len(w.fresh()) == 0, err
}

// discardTentative removes the chunks of an attempt that is not in the log. Those
// of an attempt with an unknown outcome stay until the session is deleted.
func (w *writer) discardTentative(ctx context.Context) {
	if err := w.s.content.Discard(ctx, keys.LogPK(w.log.Name), w.tentative); err != nil {
		w.s.Log.WarnContext(ctx, "chunks of a failed append stay until the session is deleted", "error", err)
	}
	w.tentative = records.Body{}
}
