package stream

import (
	"context"
	"hash/fnv"
	"slices"

	"golang.org/x/sync/semaphore"

	"github.com/rethread/rethread/infra/local/stream/reader"
	"github.com/rethread/rethread/shared/base/sleep"
)

// consumer is a mapping's work on one shard.
type consumer struct {
	*mapping
	shard    string
	progress progress
	lanes    []*lane
	room     *semaphore.Weighted // for the records that wait in lanes
}

// feed hands the shard's records to the lanes, and says whether it came to the
// end; if not, ctx has ended.
func (c *consumer) feed(ctx context.Context) (closed bool) {
	at, rest := c.ledger.position(c.shard).After, c.opts.FirstPause
	for {
		page, err := c.log.Read(ctx, c.shard, at)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			c.opts.Log.WarnContext(ctx, "cannot read a stream", "function", c.function.LogicalID, "error", err)
			if sleep.For(ctx, rest) != nil {
				return false
			}
			rest = min(2*rest, c.opts.MostPause)
			continue
		}
		rest = c.opts.FirstPause
		for records := range slices.Chunk(page.Records, pageSize) {
			if !c.spread(ctx, records) {
				return false
			}
			at = records[len(records)-1].Sequence
		}
		if page.Closed {
			return true
		}
	}
}

// spread gives each lane its share of the records at once, so that what was read
// together can be delivered together.
func (c *consumer) spread(ctx context.Context, records []*reader.Record) bool {
	shares := make([][]*entry, len(c.lanes))
	wanted := int64(0)
	for _, record := range records {
		e := c.progress.add(record)
		if !c.wants(record) {
			c.progress.finish(e)
			continue
		}
		lane := pick(record.Item, len(c.lanes))
		shares[lane] = append(shares[lane], e)
		wanted++
	}
	if err := c.room.Acquire(ctx, wanted); err != nil {
		return false // ctx has ended
	}
	for i, share := range shares {
		if len(share) > 0 {
			c.lanes[i].in <- share // never blocks: there is a place for each record
		}
	}
	return true
}

// pick chooses a lane, the same one for every change of an item.
func pick(item string, lanes int) uint32 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(item))     // a hash takes everything
	return hash.Sum32() % uint32(lanes) //nolint:gosec // ten at most
}
