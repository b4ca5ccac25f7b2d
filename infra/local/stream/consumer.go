package stream

import (
	"context"
	"hash/fnv"
	"slices"

	"golang.org/x/sync/semaphore"

	"github.com/rethread/rethread/infra/local/stream/reader"
	"github.com/rethread/rethread/shared/base/retry"
)

// consumer processes one shard for a mapping.
type consumer struct {
	*mapping
	shard    string
	progress progress
	lanes    []*lane
	room     *semaphore.Weighted // for the records that wait in lanes
}

// feed passes the shard's records to the lanes, and reports whether it reached the
// end of the shard; if not, ctx has ended.
func (c *consumer) feed(ctx context.Context) (closed bool) {
	at, rest := c.positions.position(c.shard).After, c.opts.FirstPause
	for {
		page, err := c.log.Read(ctx, c.shard, at)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			c.opts.Log.WarnContext(ctx, "failed to read a table's stream; retrying", "function", c.function.LogicalID, "error", err)
			if retry.Sleep(ctx, rest) != nil {
				return false
			}
			rest = min(2*rest, c.opts.MaxPause)
			continue
		}
		rest = c.opts.FirstPause
		for records := range slices.Chunk(page.Records, pageSize) {
			if !c.distribute(ctx, records) {
				return false
			}
			at = records[len(records)-1].Sequence
		}
		if page.Closed {
			return true
		}
	}
}

// distribute gives each lane its share of the records in one piece, so that records
// read together can be delivered together.
func (c *consumer) distribute(ctx context.Context, records []*reader.Record) bool {
	shares := make([][]*entry, len(c.lanes))
	wanted := int64(0)
	for _, record := range records {
		e := c.progress.add(record)
		if !c.matches(record) {
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
			c.lanes[i].in <- share // never blocks: the channel has room for every record
		}
	}
	return true
}

// pick chooses a lane, always the same one for an item.
func pick(item string, lanes int) uint32 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(item))     // writing to a hash never fails
	return hash.Sum32() % uint32(lanes) //nolint:gosec // at most ten
}
