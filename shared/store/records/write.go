package records

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/store/table"
)

// Put stores a record. Where a condition does not hold it is
// table.ErrConditionFailed, and Found has what stands there instead.
func (t *Table) Put(ctx context.Context, record any, conditions ...table.Condition) error {
	return t.Write(ctx, table.Put(record, conditions...))
}

// Update changes a record. Where a condition does not hold it is
// table.ErrConditionFailed.
func (t *Table) Update(ctx context.Context, k table.Key, changes []table.Change, conditions ...table.Condition) error {
	return t.Write(ctx, table.Update(k, changes, conditions...))
}

// Delete removes a record. Where a condition does not hold it is
// table.ErrConditionFailed, unless the record is gone because an earlier try of this
// deletion removed it.
func (t *Table) Delete(ctx context.Context, k table.Key, conditions ...table.Condition) error {
	return t.Write(ctx, table.Delete(k, conditions...))
}

// Found decodes what stood under the key of the first write whose condition did not
// hold, and says whether there was something.
func Found(err error, into any) (bool, error) {
	var failed *table.ConditionError
	if !errors.As(err, &failed) || failed.Failures[0].Found == nil {
		return false, nil
	}
	return true, table.Decode(failed.Failures[0].Found, into)
}

// Write carries out a write until its outcome is known. A write that may have
// happened and then meets its own result has succeeded. What cannot be recognised,
// an addition without a condition, is not repeated: table.ErrUndecided.
func (t *Table) Write(ctx context.Context, w table.Write) error {
	tries := undecidedTries
	if !repeatable(w) {
		tries = 1
	}
	lost := false
	again := func(err error) bool { return isConflict(err) || lost && isThrottle(err) }
	err := retry.Do(ctx, policy(), again, func() error {
		return untilAnswered(ctx, tries, func() error {
			_, err := t.engine.Write(ctx, w)
			var failed *table.ConditionError
			if lost && errors.As(err, &failed) && landed(w, failed.Failures[0].Found) {
				return nil
			}
			lost = lost || isUndecided(err)
			return err
		})
	})
	switch {
	case err == nil:
		return nil
	case lost && again(err):
		err = undecided(err)
	default:
		err = Exhausted(asBusy(err))
	}
	return fmt.Errorf("write %s %s: %w", w.Key.PK, w.Key.SK, err)
}

// undecided is the error of a write whose answer was lost and whose repeats were all
// refused for the moment, which says nothing of the first. Why they were is told in
// words alone, so that no loop takes the write as not done.
func undecided(err error) error {
	return fmt.Errorf("%w: %v", table.ErrUndecided, err) //nolint:errorlint // see above
}

// Transact carries out writes, all or none, until their outcome is known. A condition
// that does not hold, or another transaction in the way, is table.ErrConditionFailed.
// One token goes with all tries, so that the table recognises those that it has
// carried out. Once an answer was lost, another in the way decides nothing: it may be
// the lost try itself.
func (t *Table) Transact(ctx context.Context, writes ...table.Write) error {
	in := table.Transaction{Token: t.random().String(), Writes: writes}
	lost := false
	again := func(err error) bool { return isThrottle(err) || lost && isConflict(err) }
	err := retry.Do(ctx, policy(), again, func() error {
		return untilAnswered(ctx, undecidedTries, func() error {
			_, err := t.engine.Transact(ctx, in)
			lost = lost || isUndecided(err)
			return err
		})
	})
	switch {
	case err == nil:
		return nil
	case lost && again(err):
		err = undecided(err)
	case isConflict(err):
		err = fmt.Errorf("%w: %w", table.ErrConditionFailed, err)
	}
	return fmt.Errorf("transaction: %w", Exhausted(asBusy(err)))
}

func isConflict(err error) bool  { return errors.Is(err, table.ErrConflict) }
func isThrottle(err error) bool  { return errors.Is(err, table.ErrThrottled) }
func isUndecided(err error) bool { return errors.Is(err, table.ErrUndecided) }

// untilAnswered sends a write again whose answer is lost, a few times and however
// little time is left. The last such error is table.ErrUndecided.
func untilAnswered(ctx context.Context, tries int, send func() error) error {
	return retry.Do(ctx, retry.Policy{First: backoffFirst, Most: backoffMost, Tries: tries}, isUndecided, send)
}

// PutWith is Put along with other writes, as one where there are any.
func (t *Table) PutWith(ctx context.Context, put table.Write, along []table.Write) error {
	if len(along) == 0 {
		return t.Write(ctx, put)
	}
	return t.Transact(ctx, append(along, put)...)
}
