package records

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/store/table"
)

// Put stores a record. If a condition does not hold, it returns
// table.ErrConditionFailed, and Found decodes the stored record.
func (t *Table) Put(ctx context.Context, record any, conditions ...table.Condition) error {
	return t.Write(ctx, table.Put(record, conditions...))
}

// Update changes a record. If a condition does not hold, it returns
// table.ErrConditionFailed.
func (t *Table) Update(ctx context.Context, k table.Key, changes []table.Change, conditions ...table.Condition) error {
	return t.Write(ctx, table.Update(k, changes, conditions...))
}

// Delete removes a record. If a condition does not hold, it returns
// table.ErrConditionFailed, unless an earlier attempt of this deletion removed the
// record.
func (t *Table) Delete(ctx context.Context, k table.Key, conditions ...table.Condition) error {
	return t.Write(ctx, table.Delete(k, conditions...))
}

// Found decodes the stored record of the first write whose condition did not hold,
// and reports whether there was one.
func Found(err error, into any) (bool, error) {
	var failed *table.ConditionError
	if !errors.As(err, &failed) || failed.Failures[0].Found == nil {
		return false, nil
	}
	return true, table.Decode(failed.Failures[0].Found, into)
}

// Write carries out a write until its outcome is known. A retry that finds its own
// result has succeeded. A write whose result cannot be recognised, such as an
// unconditional addition, is not repeated and returns table.ErrUndecided.
func (t *Table) Write(ctx context.Context, w table.Write) error {
	if fenceFor(ctx, w) != nil {
		return t.writeFenced(ctx, w)
	}
	if err := late(ctx); err != nil {
		return fmt.Errorf("write %s %s: %w", w.Key.PK, w.Key.SK, err)
	}
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

// undecided is the error of a write whose answer was lost and whose retries were
// all refused for now, which does not decide the first attempt. It includes the
// cause as text only, so that no loop takes the write as not done.
func undecided(err error) error {
	return fmt.Errorf("%w: %v", table.ErrUndecided, err) //nolint:errorlint // see above
}

// Transact carries out writes, all or none, until their outcome is known. A
// condition that does not hold, or a conflicting transaction, returns
// table.ErrConditionFailed. All attempts carry one token, so that the table
// recognises a transaction that it has carried out. After a lost answer a conflict
// does not decide the outcome: the conflicting transaction may be the lost attempt.
func (t *Table) Transact(ctx context.Context, writes ...table.Write) error {
	if err := late(ctx); err != nil {
		return fmt.Errorf("transaction: %w", err)
	}
	fence := fenceFor(ctx, writes...)
	if fence != nil {
		writes = append(slices.Clone(writes), fence.Check)
	}
	in := table.Transaction{Token: t.random().String(), Writes: writes}
	lost := false
	again := func(err error) bool { return isThrottle(err) || lost && isConflict(err) }
	err := retry.Do(ctx, policy(), again, func() error {
		return untilAnswered(ctx, undecidedTries, func() error {
			_, err := t.engine.Transact(ctx, in)
			lost = lost || isUndecided(err)
			return fence.broken(in, err)
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

// late returns why a write is not even sent: the caller's time is over. A write that was
// sent when it ends is undecided.
func late(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return unread(err)
	}
	return nil
}

func isConflict(err error) bool  { return errors.Is(err, table.ErrConflict) }
func isThrottle(err error) bool  { return errors.Is(err, table.ErrThrottled) }
func isUndecided(err error) bool { return errors.Is(err, table.ErrUndecided) }

// untilAnswered repeats a write whose answer is lost, up to tries times, even if
// little time is left. The last such error is table.ErrUndecided.
func untilAnswered(ctx context.Context, tries int, send func() error) error {
	return retry.Do(ctx, retry.Policy{First: backoffFirst, Max: maxBackoff, Tries: tries}, isUndecided, send)
}

// PutWith is Put together with other writes, as one transaction if there are any.
func (t *Table) PutWith(ctx context.Context, put table.Write, along []table.Write) error {
	if len(along) == 0 {
		return t.Write(ctx, put)
	}
	return t.Transact(ctx, append(along, put)...)
}
