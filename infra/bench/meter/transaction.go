package meter

import (
	"context"

	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/value"
)

// writes returns the actions of a transaction.
func (c *charge) writes() []write {
	out := make([]write, 0, len(c.in.TransactItems))
	for _, action := range c.in.TransactItems {
		for _, w := range action { // each has one kind
			out = append(out, w)
		}
	}
	return out
}

// items returns the stored items of a transaction's writes, nil for those that do not
// exist.
func (c *charge) items(ctx context.Context) ([]table.Item, error) {
	return c.proxy.stored.read(ctx, c.database, c.writes())
}

// transaction returns the units of a transaction that was carried out, which is charged
// for two writes of each item. A repeat under its token is charged for reading them.
func (c *charge) transaction(ctx context.Context) (reads, writes float64, err error) {
	after, err := c.items(ctx)
	if err != nil {
		return 0, 0, err
	}
	if c.isRepeat() {
		for _, item := range after {
			reads += table.TransactionFactor * table.ReadUnits(value.Size(item), true)
		}
		return reads, 0, nil
	}
	for i, w := range c.writes() {
		d, err := c.proxy.stored.describe(ctx, c.database, w.TableName)
		if err != nil {
			return 0, 0, err
		}
		writes += table.TransactionFactor * d.cost(c.found[i], after[i])
	}
	return 0, writes, nil
}

// isRepeat reports whether a transaction with the token was carried out before, and
// remembers the token.
func (c *charge) isRepeat() bool {
	if c.in.ClientRequestToken == "" {
		return false
	}
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	_, repeated := c.proxy.tokens[c.in.ClientRequestToken]
	c.proxy.tokens[c.in.ClientRequestToken] = struct{}{}
	return repeated
}

// cancelled returns the units of a transaction that was not carried out: those of its
// writes to the table alone. AWS does not document the price; this is the highest
// possible.
func (c *charge) cancelled(context.Context) (float64, error) {
	units := 0.0
	for i, w := range c.writes() {
		put, err := item(w.Item)
		if err != nil {
			return 0, err
		}
		units += table.TransactionFactor * table.WriteUnits(max(value.Size(put), value.Size(c.found[i])))
	}
	return units, nil
}
