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
	"github.com/rethread/rethread/shared/base/sleep"
)

// savePause is how long a place may be newer than the file. A host that is killed
// in between delivers some records again, as Lambda may.
const savePause = 200 * time.Millisecond

// checkpoints are the places of all mappings, and the file that keeps them.
type checkpoints struct {
	path string

	mu      sync.Mutex
	changed bool
	ledgers map[string]*ledger
}

// ledger is a mapping's places. Its mutex is that of all.
type ledger struct {
	all *checkpoints

	// Stream is the ARN of the stream that the places belong to.
	Stream string `json:"stream"`
	// Shards maps shards to places; those that are not there start at their start.
	Shards map[string]position `json:"shards"`
	// Settled says that it was decided where the mapping starts.
	Settled bool `json:"settled"`
}

// position is a mapping's place in a shard.
type position struct {
	// After is the sequence number up to which all is done with.
	After string `json:"after,omitempty"`
	// Done says that the whole shard is.
	Done bool `json:"done,omitempty"`
}

func loadCheckpoints(path string) (*checkpoints, error) {
	c := &checkpoints{path: path, ledgers: map[string]*ledger{}}
	if path == "" {
		return c, nil
	}
	data, err := os.ReadFile(path) //nolint:gosec // the caller chooses the file
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return nil, fmt.Errorf("read places in streams: %w", err)
	}
	if err := json.Unmarshal(data, &c.ledgers); err != nil {
		return nil, fmt.Errorf("read places in streams from %s: %w", path, err)
	}
	return c, nil
}

// ledger finds a mapping's places in that stream. Those in another stream are
// worth nothing.
func (c *checkpoints) ledger(mapping, stream string) *ledger {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.ledgers[mapping]
	if !ok || l.Stream != stream || l.Shards == nil {
		l = &ledger{Stream: stream, Shards: map[string]position{}}
		c.ledgers[mapping], c.changed = l, true
	}
	l.all = c
	return l
}

// keep saves what has changed, now and then, until ctx ends.
func (c *checkpoints) keep(ctx context.Context) error {
	for sleep.For(ctx, savePause) == nil {
		if err := c.save(); err != nil {
			return err
		}
	}
	return nil
}

// save replaces the file as a whole, so that it is never half written.
func (c *checkpoints) save() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.changed || c.path == "" {
		return nil
	}
	data, err := json.MarshalIndent(c.ledgers, "", "  ")
	if err != nil {
		return fmt.Errorf("encode places in streams: %w", err)
	}
	next := c.path + ".new"
	if err := os.MkdirAll(filepath.Dir(c.path), 0o750); err != nil {
		return fmt.Errorf("save places in streams: %w", err)
	}
	if err := os.WriteFile(next, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("save places in streams: %w", err)
	}
	if err := os.Rename(next, c.path); err != nil {
		return fmt.Errorf("save places in streams: %w", err)
	}
	c.changed = false
	return nil
}

func (l *ledger) position(shard string) position {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	return l.Shards[shard]
}

func (l *ledger) set(shard string, p position) {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	l.Shards[shard], l.all.changed = p, true
}

// settled says whether the mapping has started before.
func (l *ledger) settled() bool {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	return l.Settled
}

func (l *ledger) settle() {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	l.Settled, l.all.changed = true, true
}

// prune forgets shards that the stream has trimmed.
func (l *ledger) prune(kept []reader.Shard) {
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
