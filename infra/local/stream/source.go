// Package stream delivers the changes of tables to functions, like Lambda's event
// source mappings: records are filtered, batched, delivered in the order of their
// items, retried when the function fails, split, and finally abandoned with a
// record to a failure destination. Each mapping keeps its own position in the
// stream, also across restarts.
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

// ErrMapping means that a mapping of the template is invalid.
var ErrMapping = errors.New("invalid event source mapping")

// Default pauses between two attempts.
const (
	defaultFirstPause = 50 * time.Millisecond
	defaultMostPause  = 5 * time.Second
)

// Log is a table's stream.
type Log interface {
	// ARN identifies the stream; a recreated table has another stream.
	ARN() string
	Shards(ctx context.Context) ([]reader.Shard, error)
	// End returns the sequence number of an open shard's newest record, or "".
	End(ctx context.Context, shard string) (string, error)
	// Read waits for the records after a sequence number; "" means the start.
	Read(ctx context.Context, shard, after string) (reader.Page, error)
}

// Invoker runs a function, named by its logical id, and waits for its answer.
type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) (*lambda.Result, error)
}

// Options configure the mappings.
type Options struct {
	Functions []samtemplate.Function
	Tables    []samtemplate.Table
	// Open returns the stream of a table, given the table's name.
	Open         func(ctx context.Context, table string) (Log, error)
	Invoker      Invoker
	Destinations destination.Destinations
	// Region and Account appear in the ARNs of failure records.
	Region, Account string
	// Checkpoints is the file for the positions; empty means in memory.
	Checkpoints string
	// FirstPause is the pause before the first retry; it doubles up to MaxPause. 0
	// means 50 ms and 5 s.
	FirstPause, MaxPause time.Duration
	Log                  *slog.Logger
}

// Source delivers records from streams to functions.
type Source struct {
	opts        Options
	checkpoints *checkpoints
	mappings    []*mapping
}

// New opens the streams that the functions read and determines where each mapping
// starts: mappings that start at LATEST get everything written from now on.
func New(ctx context.Context, opts Options) (*Source, error) {
	if opts.FirstPause == 0 {
		opts.FirstPause, opts.MaxPause = defaultFirstPause, defaultMostPause
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
	m.positions = s.checkpoints.positions(f.LogicalID+"."+settings.Name, log.ARN())
	s.mappings = append(s.mappings, m)
	return m.determineStart(ctx)
}

func (s *Source) tableName(logicalID string) (string, error) {
	for _, table := range s.opts.Tables {
		if table.LogicalID == logicalID {
			return table.Name, nil
		}
	}
	return "", fmt.Errorf("%w: no table %s", ErrMapping, logicalID)
}

// Run delivers records until ctx ends or the positions cannot be saved.
func (s *Source) Run(ctx context.Context) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	for _, m := range s.mappings {
		group.Go(func() { m.run(running) })
	}
	err := s.checkpoints.savePeriodically(ctx)
	cancel()
	group.Wait()
	return errors.Join(err, s.checkpoints.save())
}
