// Package play has several conversation stores do the same, and measures what it costs.
package play

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/infra/bench/meter"
	"github.com/rethread/rethread/infra/bench/peers/record"
)

// Peer is a conversation store whose requests to the table are counted. Threads are made
// by their first turn.
type Peer interface {
	// Turn stores a question and its answer.
	Turn(ctx context.Context, thread, question, answer string) error
	// Load returns the texts of a thread, oldest first, with nothing remembered.
	Load(ctx context.Context, thread string) ([]string, error)
	// Rewind takes back the newest turn.
	Rewind(ctx context.Context, thread string) error
	// Fork makes a thread of all turns before the newest one.
	Fork(ctx context.Context, thread, into string) error
	// Stream stores a question and an answer that comes in tokens, TokensPerSecond a
	// second, so that a crash loses at most what came in LossWindow.
	Stream(ctx context.Context, thread, question string, tokens []string) error
	// Usage returns what all requests have cost, once they have ended.
	Usage(ctx context.Context) (meter.Usage, error)
	// Close ends what the peer has started.
	Close() error
}

// Entry is a peer of the benchmark.
type Entry struct {
	// Key is the name by which a peer is chosen.
	Key         string
	Name, Short string
	How         record.How
	// Timed is set for a peer whose units for a streamed answer depend on how fast the
	// machine is.
	Timed bool
	// MaxWrites bounds the write units of a turn, on average over a thread; 0 means none.
	MaxWrites float64
	// Packages returns the pinned packages, as name==version.
	Packages func(root string) ([]string, error)
	Start    func(ctx context.Context, b Bench) (Peer, error)
}

var errBound = errors.New("more write units than its bound")

// Check fails if a peer's thread needed more write units than its bound.
func (e Entry) Check(measured record.Peer) error {
	for _, p := range measured.Curve {
		if most := e.MaxWrites * float64(p.Turns); most > 0 && p.Usage.Writes > most {
			return fmt.Errorf("%s: %v W for %d turns: %w (%v W)", e.Name, p.Usage.Writes, p.Turns, errBound, most)
		}
	}
	return nil
}

// Bench is what peers run on.
type Bench struct {
	Root string // of the repository
	// Engine is the endpoint of the database, which all peers share.
	Engine string
}
