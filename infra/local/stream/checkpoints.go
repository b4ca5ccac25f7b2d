package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rethread/rethread/infra/local/stream/reader"
	"github.com/rethread/rethread/shared/base/retry"
)

// savePause is how long a position may be unsaved. If the host is killed
// meanwhile, some records are delivered again, as Lambda may do.
const savePause = 200 * time.Millisecond

// checkpoints are the positions of all mappings, and the file that stores them.
type checkpoints struct {
	path string

	mu      sync.Mutex
	changed bool
	ledgers map[string]*positions
}

// positions is a mapping's positions. All mappings share a mutex.
type positions struct {
	all *checkpoints

	// Stream is the ARN of the stream that the positions belong to.
	Stream string `json:"stream"`
	// Shards maps shards to positions; missing shards are read from their start.
	Shards map[string]position `json:"shards"`
	// Settled means that the mapping's starting positions have been determined.
	Settled bool `json:"settled"`
}

// position is a mapping's position in a shard.
type position struct {
	// After is the sequence number up to which all records are finished.
	After string `json:"after,omitempty"`
	// Done means that the whole shard is finished.
	Done bool `json:"done,omitempty"`
}

func loadCheckpoints(path string) (*checkpoints, error) {
	c := &checkpoints{path: path, ledgers: map[string]*positions{}}
	if path == "" {
		return c, nil
	}
	data, err := os.ReadFile(path) //nolint:gosec // the caller chooses the file
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return nil, fmt.Errorf("read the positions in streams: %w", err)
	}
	if err := json.Unmarshal(data, &c.ledgers); err != nil {
		return nil, fmt.Errorf("read the positions in streams from %s: %w", path, err)
	}
	return c, nil
}

// positions returns a mapping's positions in that stream. Positions in another stream
// are discarded.
func (c *checkpoints) positions(mapping, stream string) *positions {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.ledgers[mapping]
	if !ok || l.Stream != stream || l.Shards == nil {
		l = &positions{Stream: stream, Shards: map[string]position{}}
		c.ledgers[mapping], c.changed = l, true
	}
	l.all = c
	return l
}

// savePeriodically saves changes periodically until ctx ends.
func (c *checkpoints) savePeriodically(ctx context.Context) error {
	for retry.Sleep(ctx, savePause) == nil {
		if err := c.save(); err != nil {
			return err
		}
	}
	return nil
}

// save replaces the file atomically, so that it is never incomplete.
func (c *checkpoints) save() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.changed || c.path == "" {
		return nil
	}
	data, err := json.MarshalIndent(c.ledgers, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the positions in streams: %w", err)
	}
	next := c.path + ".new"
	if err := os.MkdirAll(filepath.Dir(c.path), 0o750); err != nil {
		return fmt.Errorf("save the positions in streams: %w", err)
	}
	if err := os.WriteFile(next, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("save the positions in streams: %w", err)
	}
	if err := os.Rename(next, c.path); err != nil {
		return fmt.Errorf("save the positions in streams: %w", err)
	}
	c.changed = false
	return nil
}

func (l *positions) position(shard string) position {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	return l.Shards[shard]
}

func (l *positions) set(shard string, p position) {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	l.Shards[shard], l.all.changed = p, true
}

// started reports whether the mapping has started before.
func (l *positions) started() bool {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	return l.Settled
}

func (l *positions) setStarted() {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	l.Settled, l.all.changed = true, true
}

// prune removes shards that the stream has trimmed.
func (l *positions) prune(kept []reader.Shard) {
	there := map[string]bool{}
	for _, shard := range kept {
		there[shard.ID] = true
	}
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	for id := range l.Shards {
		if !there[id] {
			delete(l.Shards, id)
			l.all.changed = true
		}
	}
}
