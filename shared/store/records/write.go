package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/value"
)

const (
	backoffFirst = 5 * time.Millisecond
	maxBackoff   = 500 * time.Millisecond
	briefBackoff = 40 * time.Millisecond // the same for conflicts that are short
	// AnswerTime is reserved from a context's time when retries end, so that the
	// caller still gets an answer: a function that exceeds its timeout is stopped
	// without one.
	AnswerTime = 2 * time.Second
	// undecidedTries is how often a write is sent while each answer is lost.
	undecidedTries = 6

	retryAfter = time.Second
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

// PutWith is Put together with other writes, as one transaction if there are any.
func (t *Table) PutWith(ctx context.Context, put table.Write, along []table.Write) error {
	if len(along) == 0 {
		return t.Write(ctx, put)
	}
	return t.Transact(ctx, append(along, put)...)
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

// Unchanged is the condition that an attribute, which is absent if it is 0 or
// empty, still has the value that was read.
func Unchanged[T comparable](name string, read T) table.Condition {
	var none T
	if read == none {
		return table.NotExists(table.Path{name})
	}
	return table.Equal(table.Path{name}, read)
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
	err := retry.Do(ctx, policy(maxBackoff), again, func() error {
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
	err := retry.Do(ctx, policy(maxBackoff), again, func() error {
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

// untilAnswered repeats a write whose answer is lost, up to tries times, even if
// little time is left. The last such error is table.ErrUndecided.
func untilAnswered(ctx context.Context, tries int, send func() error) error {
	return retry.Do(ctx, retry.Policy{First: backoffFirst, Max: maxBackoff, Tries: tries}, isUndecided, send)
}

func policy(most time.Duration) retry.Policy {
	return retry.Policy{First: backoffFirst, Max: most, Reserve: AnswerTime}
}

// Exhausted turns the error of a work whose attempts all failed into a fault.Busy.
// It includes the cause as text only, so that no outer loop retries it. A write
// whose outcome is unknown stays undecided.
func Exhausted(err error) error {
	if errors.Is(err, retry.ErrExhausted) && !isUndecided(err) {
		return fmt.Errorf("%w: %v", busy("too many requests meet here at once; try again"), err) //nolint:errorlint // see above
	}
	return err
}

// undecided is the error of a write whose answer was lost and whose retries were
// all refused for now, which does not decide the first attempt. It includes the
// cause as text only, so that no loop takes the write as not done.
func undecided(err error) error {
	return fmt.Errorf("%w: %v", table.ErrUndecided, err) //nolint:errorlint // see above
}

// late returns why a write is not even sent: the caller's time is over. A write that was
// sent when it ends is undecided.
func late(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return unread(err)
	}
	return nil
}

func isConflict(err error) bool { return errors.Is(err, table.ErrConflict) }

func isThrottle(err error) bool { return errors.Is(err, table.ErrThrottled) }

func isUndecided(err error) bool { return errors.Is(err, table.ErrUndecided) }

// landed reports whether an item is in the state that a write would leave it in. It
// is false for changes that depend on the earlier state, such as additions.
func landed(w table.Write, item table.Item) bool {
	switch w.Kind {
	case table.DeleteKind:
		return item == nil
	case table.PutKind:
		return item != nil && value.EqualItems(item, w.Item)
	case table.UpdateKind:
		return item != nil && !slices.ContainsFunc(w.Changes, func(c table.Change) bool { return !holds(c, item) })
	case table.CheckKind:
	}
	return false
}

// holds reports whether an item is in the state that a change would leave it in.
func holds(c table.Change, item table.Item) bool {
	switch c := c.(type) {
	case table.Setting:
		want, err := table.EncodeValue(c.Value)
		found := at(item, c.Path)
		return err == nil && found != nil && !c.IfAbsent && value.Equal(found, want)
	case table.Removing:
		return at(item, c.Path) == nil
	}
	return false
}

// at returns the value at a path of an item, or nil.
func at(item table.Item, p table.Path) types.AttributeValue {
	var found types.AttributeValue = &types.AttributeValueMemberM{Value: item}
	for _, name := range p {
		m, ok := found.(*types.AttributeValueMemberM)
		if !ok {
			return nil
		}
		found = m.Value[name]
	}
	return found
}

// repeatable reports whether a write may be sent again after its answer was lost: a
// second attempt either fails its condition or changes nothing.
func repeatable(w table.Write) bool {
	return w.If != nil || !slices.ContainsFunc(w.Changes, func(c table.Change) bool {
		switch c.(type) {
		case table.Adding, table.Appending:
			return true
		}
		return false
	})
}

// Fence is what some of a request's writes depend on until they are carried out, wherever
// in the request they are made. Such a write is one transaction with the check, so that
// none lands after what is checked has ended.
type Fence struct {
	Check  table.Write
	Covers func(table.Write) bool // whether a write depends on the check
	Broken error                  // what such a write returns if the check does not hold
}

type fenceKey struct{}

// Fencing returns the context of a request, to which a fence may be added later.
func Fencing(ctx context.Context) context.Context {
	return context.WithValue(ctx, fenceKey{}, &atomic.Pointer[Fence]{})
}

// AddFence makes the later writes of a request depend on a fence, instead of an earlier one.
func AddFence(ctx context.Context, f Fence) {
	if of, ok := ctx.Value(fenceKey{}).(*atomic.Pointer[Fence]); ok {
		of.Store(&f)
	}
}

// fenceFor returns the fence that one of the writes depends on; nil if there is none.
func fenceFor(ctx context.Context, writes ...table.Write) *Fence {
	of, ok := ctx.Value(fenceKey{}).(*atomic.Pointer[Fence])
	if !ok {
		return nil
	}
	f := of.Load()
	for _, w := range writes {
		if f != nil && f.Covers(w) {
			return f
		}
	}
	return nil
}

// writeFenced is Write for a write that depends on a fence.
func (t *Table) writeFenced(ctx context.Context, w table.Write) error {
	return Exhausted(retry.Do(ctx, policy(maxBackoff), isConflict, func() error { return t.Transact(ctx, w) }))
}

// broken returns the fence's error if a transaction failed at the check, its last write.
func (f *Fence) broken(in table.Transaction, err error) error {
	var failed *table.ConditionError
	if f != nil && errors.As(err, &failed) && failed.Failures[len(failed.Failures)-1].Write == len(in.Writes)-1 {
		return f.Broken
	}
	return err
}

// Contended repeats work that races with other callers: it calls try again, from
// its first read and after a back-off, while try returns table.ErrConditionFailed
// or an error that wraps retry.ErrAgain. It returns a fault.Busy when time runs
// out.
func Contended(ctx context.Context, try func() error) error {
	return counted(ctx, maxBackoff, try)
}

// ContendedBriefly is Contended for work whose conflicts are short: a caller that has lost
// often tries as often as others.
func ContendedBriefly(ctx context.Context, try func() error) error {
	return counted(ctx, briefBackoff, try)
}

// ContendedValue is Contended for work that returns a result.
func ContendedValue[T any](ctx context.Context, try func() (T, error)) (T, error) {
	var out T
	err := Contended(ctx, func() (err error) {
		out, err = try()
		return err
	})
	return out, err
}

func counted(ctx context.Context, most time.Duration, try func() error) error {
	return Exhausted(retry.Do(ctx, policy(most), func(err error) bool {
		again := contended(err)
		if again {
			metrics.Count(ctx, metrics.Conflicts, 1)
		}
		return again
	}, try))
}

func contended(err error) bool {
	return errors.Is(err, table.ErrConditionFailed) || errors.Is(err, retry.ErrAgain)
}

// Settled repeats an inconsistent read: it calls try again, after a back-off, while
// try returns an error that Contended would retry. These retries are not counted as
// conflicts.
func Settled(ctx context.Context, try func() error) error {
	return Exhausted(retry.Do(ctx, policy(maxBackoff), contended, try))
}

// SettledBriefly is to Settled what ContendedBriefly is to Contended.
func SettledBriefly(ctx context.Context, try func() error) error {
	return Exhausted(retry.Do(ctx, policy(briefBackoff), contended, try))
}

// SettledValue is Settled for a read that returns a result.
func SettledValue[T any](ctx context.Context, try func() (T, error)) (T, error) {
	var out T
	err := Settled(ctx, func() (err error) {
		out, err = try()
		return err
	})
	return out, err
}

// BatchWrite carries out unconditional puts and deletes, not atomically and in no
// particular order. It is safe to repeat.
func (t *Table) BatchWrite(ctx context.Context, writes []table.Write) error {
	if len(writes) == 0 {
		return nil
	}
	if err := late(ctx); err != nil {
		return fmt.Errorf("write a batch: %w", err)
	}
	if _, err := t.engine.BatchWrite(ctx, writes); err != nil {
		return fmt.Errorf("write a batch: %w", asBusy(err))
	}
	return nil
}

// DeleteItems deletes items; only their keys are used.
func (t *Table) DeleteItems(ctx context.Context, items []table.Item) error {
	writes := make([]table.Write, 0, len(items))
	for _, item := range items {
		k, err := table.KeyOf(item)
		if err != nil {
			return err
		}
		writes = append(writes, table.Delete(k))
	}
	return t.BatchWrite(ctx, writes)
}

// DeleteFound deletes every item that a query finds; the query must read the keys.
func (t *Table) DeleteFound(ctx context.Context, q table.Query) error {
	return t.Pages(ctx, q, func(items []table.Item) (bool, error) {
		return true, t.DeleteItems(ctx, items)
	})
}
