// Package stream feeds functions with the changes of tables, as Lambda's event
// source mappings do: records are filtered, batched, handed over in the order of
// their items, tried again when the function fails, split, and in the end given
// up into a failure destination. Each mapping keeps its own place in the stream,
// over restarts too.
package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rethread/rethread/infra/local/destination"
	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/stream/reader"
)

// ErrMapping says that a mapping of the template cannot work.
var ErrMapping = errors.New("bad event source mapping")

// What a mapping waits between two tries unless Options say otherwise.
const (
	defaultFirstPause = 50 * time.Millisecond
	defaultMostPause  = 5 * time.Second
)

// Log is a table's stream.
type Log interface {
	// ARN names the stream; a table that is made anew has another one.
	ARN() string
	Shards(ctx context.Context) ([]reader.Shard, error)
	// End is the sequence number of an open shard's newest record, or empty.
	End(ctx context.Context, shard string) (string, error)
	// Read waits for the records after a sequence number; empty is the start.
	Read(ctx context.Context, shard, after string) (reader.Page, error)
}

// Invoker runs a function, named by its logical id, and waits for its answer.
type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) (*lambda.Result, error)
}

// Options are what the mappings need.
type Options struct {
	Functions []samtemplate.Function
	Tables    []samtemplate.Table
	// Open finds the stream of a table, given by its name.
	Open         func(ctx context.Context, table string) (Log, error)
	Invoker      Invoker
	Destinations destination.Destinations
	// Region and Account stand in the ARNs of what is given up.
	Region, Account string
	// Checkpoints is the file in which places are kept; empty means in memory.
	Checkpoints string
	// FirstPause is waited before the first repetition, doubling up to MostPause;
	// zero means 50 ms and 5 s.
	FirstPause, MostPause time.Duration
	Log                   *slog.Logger
}

// Source feeds functions from streams.
type Source struct {
	opts        Options
	checkpoints *checkpoints
	mappings    []*mapping
}

// New opens the streams that the functions read and settles where each mapping
// starts: what is written from now on reaches those that start at LATEST.
func New(ctx context.Context, opts Options) (*Source, error) {
	if opts.FirstPause == 0 {
		opts.FirstPause, opts.MostPause = defaultFirstPause, defaultMostPause
	}
	kept, err := loadCheckpoints(opts.Checkpoints)
	if err != nil {
		return nil, err
	}
	s := &Source{opts: opts, checkpoints: kept}
	logs := map[string]Log{}
	for _, function := range opts.Functions {
		for _, settings := range function.Streams {
			if !settings.Enabled {
				continue
			}
			if err := s.add(ctx, function, settings, logs); err != nil {
				return nil, fmt.Errorf("event %s of function %s: %w", settings.Name, function.LogicalID, err)
			}
		}
	}
	return s, kept.save()
}

func (s *Source) add(ctx context.Context, f samtemplate.Function, settings samtemplate.Stream, logs map[string]Log) error {
	log, ok := logs[settings.Table]
	if !ok {
		name, err := s.tableName(settings.Table)
		if err != nil {
			return err
		}
		if log, err = s.opts.Open(ctx, name); err != nil {
			return err
		}
		logs[settings.Table] = log
	}
	m, err := newMapping(s.opts, f, settings, log)
	if err != nil {
		return err
	}
	m.ledger = s.checkpoints.ledger(f.LogicalID+"."+settings.Name, log.ARN())
	s.mappings = append(s.mappings, m)
	return m.settle(ctx)
}

func (s *Source) tableName(logicalID string) (string, error) {
	for _, table := range s.opts.Tables {
		if table.LogicalID == logicalID {
			return table.Name, nil
		}
	}
	return "", fmt.Errorf("%w: no table %s", ErrMapping, logicalID)
}

// Run feeds the functions until ctx ends or the places cannot be saved.
func (s *Source) Run(ctx context.Context) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	for _, m := range s.mappings {
		group.Go(func() { m.run(running) })
	}
	err := s.checkpoints.keep(ctx)
	cancel()
	group.Wait()
	return errors.Join(err, s.checkpoints.save())
}
