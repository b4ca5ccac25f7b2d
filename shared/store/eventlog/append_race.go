package eventlog

import (
	"context"
	"errors"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	// AppendTime is how long a request to append competes with others before it returns
	// fault.Busy: its client had better wait and send it again.
	AppendTime = 4 * time.Second
	// ContentionTime is the same for workers of runs and for work that appends along
	// with other changes.
	ContentionTime = 20 * time.Second
	// ContentionWait is the maximum wait between two attempts of work that is not an
	// append and whose conflicts are short.
	ContentionWait = 40 * time.Millisecond
)

// compete puts the batch at the head, and again after the new head as long as other
// writers are faster.
func (w *writer) compete(ctx context.Context) (appended int, err error) {
	deadline, lost := w.s.Now().Add(w.Patience), false
	w.race.patience, w.race.until = w.Patience, time.Now().Add(w.Patience)
	p := retry.Policy{Most: w.Patience, After: w.race.wait, Reserve: records.AnswerTime}
	err = retry.Do(ctx, p, func(error) bool { return lost }, func() error {
		w.race.begin()
		if lost {
			lost = false
			done, err := w.lostRace(ctx, deadline)
			if w.recalled { // what it found may have been appended by earlier requests
				w.recalled, appended = false, len(w.fresh())
			}
			if err != nil || done {
				return err
			}
		}
		fresh := w.fresh()
		appended = len(fresh)
		err := w.tryOnce(ctx, fresh)
		if lost = errors.Is(err, table.ErrConditionFailed); lost {
			w.lose()
		}
		return err
	})
	if err != nil {
		return 0, records.Exhausted(err)
	}
	return appended, nil
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

// ExpectHead returns fault.Conflict, with head_seq, if the head is not the expected
// one; nil expects none.
func ExpectHead(seq *int64, at Head) error {
	if seq == nil || *seq == at.Last() {
		return nil
	}
	return fault.New(fault.Conflict, "the head of the log is %d, not %d", at.Last(), *seq).With("head_seq", at.Last())
}

// tryOnce puts the fresh events at the head, if there are any and the head is the
// expected one.
func (w *writer) tryOnce(ctx context.Context, fresh []int) error {
	if len(fresh) == 0 {
		return nil
	}
	if err := ExpectHead(w.Expected, w.at); err != nil {
		return err
	}
	err := w.try(ctx, fresh)
	switch {
	case err == nil:
		w.s.CountEntry(ctx, w.log, w.last)
	case errors.Is(err, table.ErrConditionFailed):
		metrics.Count(ctx, metrics.Conflicts, 1)
	}
	return err
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
	err = w.s.queryRecords(ctx, EntryQuery(w.log.Name, w.at.Next, 0, true), all, func(r *Record) (bool, error) {
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
	w.tentative = content.Body{}
}
