package stream

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/stream/pattern"
	"github.com/rethread/rethread/infra/local/stream/reader"
)

const (
	// discoveryInterval is the interval of looking for new shards. They appear only when
	// others close, which the mapping notices at once.
	discoveryInterval = time.Second
	// maxWaiting limits the records of a shard that wait in lanes. A lane that is
	// that far behind blocks the reader, and so the other lanes.
	maxWaiting = 8192
	// pageSize is the most records that the stream returns at once.
	pageSize = 1000
)

// mapping is a running event source mapping.
type mapping struct {
	samtemplate.Stream
	opts      Options
	function  samtemplate.Function
	filters   []*pattern.Pattern
	log       Log
	positions *positions
}

func newMapping(opts Options, f samtemplate.Function, settings samtemplate.Stream, log Log) (*mapping, error) {
	m := &mapping{Stream: settings, opts: opts, function: f, log: log}
	if settings.BatchSize < 1 || settings.ParallelizationFactor < 1 {
		return nil, fmt.Errorf("%w: BatchSize and ParallelizationFactor must be at least 1", ErrMapping)
	}
	for _, text := range settings.Filters {
		filter, err := pattern.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrMapping, err)
		}
		m.filters = append(m.filters, filter)
	}
	return m, nil
}

// determineStart determines where a mapping that has not run before starts.
func (m *mapping) determineStart(ctx context.Context) error {
	if m.positions.started() {
		return nil
	}
	if m.StartingPosition == samtemplate.StartLatest {
		shards, err := m.log.Shards(ctx)
		if err != nil {
			return err
		}
		for _, shard := range shards {
			if err := m.skip(ctx, shard); err != nil {
				return err
			}
		}
	}
	m.positions.setStarted()
	return nil
}

// skip skips the existing records of a shard.
func (m *mapping) skip(ctx context.Context, shard reader.Shard) error {
	if shard.Closed {
		m.positions.set(shard.ID, position{Done: true})
		return nil
	}
	end, err := m.log.End(ctx, shard.ID)
	if err != nil {
		return err
	}
	m.positions.set(shard.ID, position{After: end})
	return nil
}

// run reads every shard until ctx ends, children after their parents are finished.
func (m *mapping) run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	running := map[string]bool{}
	ended := make(chan string)
	for {
		for _, shard := range m.ready(ctx) {
			if running[shard] {
				continue
			}
			running[shard] = true
			group.Go(func() {
				m.consume(ctx, shard)
				select {
				case ended <- shard:
				case <-ctx.Done():
				}
			})
		}
		select {
		case <-ctx.Done():
			return
		case shard := <-ended:
			delete(running, shard)
		case <-time.After(discoveryInterval):
		}
	}
}

// ready lists the shards that can be read.
func (m *mapping) ready(ctx context.Context) []string {
	shards, err := m.log.Shards(ctx)
	if err != nil {
		if ctx.Err() == nil {
			m.opts.Log.WarnContext(ctx, "failed to list the shards of a table's stream; retrying", "function", m.function.LogicalID, "error", err)
		}
		return nil
	}
	m.positions.prune(shards)
	unfinished := map[string]bool{}
	for _, shard := range shards {
		unfinished[shard.ID] = !m.positions.position(shard.ID).Done
	}
	var ready []string
	for _, shard := range shards {
		if unfinished[shard.ID] && !unfinished[shard.Parent] {
			ready = append(ready, shard.ID)
		}
	}
	return ready
}

// consume reads one shard to its end, or until ctx ends.
func (m *mapping) consume(ctx context.Context, shard string) {
	c := &consumer{mapping: m, shard: shard, room: semaphore.NewWeighted(maxWaiting)}
	c.progress.save = func(sequence string) { m.positions.set(shard, position{After: sequence}) }
	var group sync.WaitGroup
	for range m.ParallelizationFactor {
		l := &lane{consumer: c, in: make(chan []*entry, maxWaiting)}
		c.lanes = append(c.lanes, l)
		group.Go(func() { l.run(ctx) })
	}
	closed := c.feed(ctx)
	for _, l := range c.lanes {
		close(l.in)
	}
	group.Wait()
	if closed && ctx.Err() == nil {
		m.positions.set(shard, position{Done: true})
	}
}

// matches reports whether a filter matches the record, or there are no filters.
func (m *mapping) matches(record *reader.Record) bool {
	for _, filter := range m.filters {
		if filter.Match(record.Value()) {
			return true
		}
	}
	return len(m.filters) == 0
}
