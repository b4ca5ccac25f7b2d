package memory

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/value"
)

// Write carries out one write.
func (e *Engine) Write(ctx context.Context, w table.Write) (table.Units, error) {
	if err := firstError(ctx, e.schema.ValidateWrite(w)); err != nil {
		return table.Units{}, err
	}
	if w.Kind == table.CheckKind {
		return table.Units{}, fmt.Errorf("%w: a check stands in a transaction", table.ErrInvalid)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	after, err := e.outcome(w)
	if errors.Is(err, table.ErrConditionFailed) {
		found := value.Clone(e.current.items[w.Key])
		return table.Units{Write: table.RefusedUnits(w, found)},
			&table.ConditionError{Failures: []table.Failure{{Found: found}}}
	}
	if err != nil {
		return table.Units{}, err
	}
	units := e.cost(w.Key, after)
	e.store(written{w.Key, after})
	return table.Units{Write: units}, nil
}

// BatchWrite carries out puts and deletes.
func (e *Engine) BatchWrite(ctx context.Context, writes []table.Write) (table.Units, error) {
	if err := firstError(ctx, e.schema.ValidateBatch(writes)); err != nil {
		return table.Units{}, err
	}
	var units table.Units
	for _, w := range writes {
		u, err := e.Write(ctx, w)
		units = units.Plus(u)
		if err != nil {
			return units, err
		}
	}
	return units, nil
}

// tokenTime is how long a transaction's token is remembered.
const tokenTime = 10 * time.Minute

// used is the transaction that a token was used for.
type used struct{ writes []table.Write }

// expiry is the time when a token is forgotten.
type expiry struct {
	token string
	at    time.Time
}

// forget drops expired tokens.
func (e *Engine) forget() {
	now := e.now()
	for len(e.expiry) > 0 && !now.Before(e.expiry[0].at) {
		delete(e.tokens, e.expiry[0].token)
		e.expiry = e.expiry[1:]
	}
}

// Transact carries out writes, all or none.
func (e *Engine) Transact(ctx context.Context, t table.Transaction) (table.Units, error) {
	if err := firstError(ctx, e.schema.ValidateTransaction(t)); err != nil {
		return table.Units{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.forget()
	if before, ok := e.tokens[t.Token]; ok {
		return e.repeated(before, t)
	}
	after, err := e.outcomes(t.Writes)
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return table.Units{Write: table.RefusedTransactionUnits(t.Writes, failed.Failures)}, err
	}
	if err != nil {
		return table.Units{}, err
	}
	var units table.Units
	for i, w := range t.Writes {
		units.Write += table.TransactionFactor * e.cost(w.Key, after[i])
		if w.Kind != table.CheckKind {
			e.store(written{w.Key, after[i]})
		}
	}
	if t.Token != "" {
		e.tokens[t.Token] = used{t.Writes}
		e.expiry = append(e.expiry, expiry{t.Token, e.now().Add(tokenTime)})
	}
	return units, nil
}

// repeated answers a transaction that was carried out before; it costs reading the
// items.
func (e *Engine) repeated(before used, t table.Transaction) (table.Units, error) {
	if !reflect.DeepEqual(before.writes, t.Writes) {
		return table.Units{}, fmt.Errorf("%w: the token was used for other writes", table.ErrInvalid)
	}
	var units table.Units
	for _, w := range t.Writes {
		units.Read += table.TransactionFactor * table.ReadUnits(value.Size(e.current.items[w.Key]), true)
	}
	return units, nil
}

// outcomes returns the items that a transaction leaves. Invalid writes take
// precedence over conditions that do not hold: they would not succeed if the
// conditions held.
func (e *Engine) outcomes(writes []table.Write) ([]table.Item, error) {
	after := make([]table.Item, len(writes))
	var failures []table.Failure
	for i, w := range writes {
		item, err := e.outcome(w)
		switch {
		case errors.Is(err, table.ErrConditionFailed):
			failures = append(failures, table.Failure{Write: i, Found: value.Clone(e.current.items[w.Key])})
		case err != nil:
			return nil, fmt.Errorf("write %d: %w", i, err)
		}
		after[i] = item
	}
	if failures != nil {
		return nil, &table.ConditionError{Failures: failures}
	}
	return after, nil
}

// outcome returns the item that a write leaves.
func (e *Engine) outcome(w table.Write) (table.Item, error) {
	before := e.current.items[w.Key]
	if w.If != nil {
		ok, err := holds(w.If, before)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, table.ErrConditionFailed
		}
	}
	switch w.Kind {
	case table.PutKind:
		item, err := value.Normal(w.Item)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", table.ErrInvalid, err)
		}
		return item, nil
	case table.UpdateKind:
		return e.updated(w, before)
	case table.DeleteKind:
		return nil, nil
	case table.CheckKind:
	}
	return before, nil
}

// cost returns the units of a write that leaves an item: those of the larger of the
// new and the old item, in the table and in the indexes that change.
func (e *Engine) cost(k table.Key, after table.Item) float64 {
	before := e.current.items[k]
	units := table.WriteUnits(max(value.Size(before), value.Size(after)))
	for _, index := range e.schema.Indexes {
		was, is := entry(index, before), entry(index, after)
		switch {
		case was == nil && is == nil || value.EqualItems(was, is):
		case was == nil || is == nil || sameKeys(index, was, is):
			units += table.WriteUnits(max(value.Size(was), value.Size(is)))
		default: // it moves from one place to another
			units += table.WriteUnits(value.Size(was)) + table.WriteUnits(value.Size(is))
		}
	}
	return units
}

func sameKeys(index table.IndexSchema, a, b table.Item) bool {
	return table.Text(a, index.Partition) == table.Text(b, index.Partition) &&
		table.Text(a, index.Sort) == table.Text(b, index.Sort)
}
