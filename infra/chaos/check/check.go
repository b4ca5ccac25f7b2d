// Package check verifies, once the faults have ended, that a system has kept what
// it promised its users during the faults.
package check

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/chaos/agent"
	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/infra/chaos/users"
)

// Stuck is how long something may take, beyond the lease of a run, before it
// counts as stuck: the sweeper runs once a minute.
const Stuck = 75 * time.Second

// concurrency is how many sessions are checked concurrently.
const concurrency = 4

// Checker counts its checks by invariant.
type Checker struct {
	World *users.World
	Calls func(run string) []agent.Call // that the agent which continues runs received
	Lease time.Duration

	mu     sync.Mutex
	checks map[string]int
	logs   map[string]*subject // by session
}

// New returns a checker of a world. calls returns what the agent that continues runs
// was asked for a run.
func New(w *users.World, calls func(run string) []agent.Call, lease time.Duration) *Checker {
	return &Checker{World: w, Calls: calls, Lease: lease, checks: map[string]int{}, logs: map[string]*subject{}}
}

// Counts returns the number of checks by invariant.
func (c *Checker) Counts() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]int{}
	for name, n := range c.checks {
		out[name] = n
	}
	return out
}

// Count adds checks that were made elsewhere.
func (c *Checker) Count(invariant string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checks[invariant] += n
}

// expect counts a check, and records a violation if ok is false.
func (c *Checker) expect(ok bool, invariant, session, format string, args ...any) {
	c.mu.Lock()
	c.checks[invariant]++
	c.mu.Unlock()
	if !ok {
		c.World.Violate(invariant, session, fmt.Sprintf(format, args...))
	}
}

// Settle waits until no run is active, no queued input can start, and the data of every user who left is
// erased.
func (c *Checker) Settle(ctx context.Context) error {
	if err := c.erase(ctx, c.World.Leaver()); err != nil {
		return err
	}
	return c.forEachSession(ctx, c.settle)
}

func (c *Checker) forEachSession(ctx context.Context, look func(context.Context, *users.Session) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for _, t := range c.World.Sessions() {
		group.Go(func() error {
			if err := look(ctx, t); err != nil {
				return fmt.Errorf("session %s: %w", t.ID, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// header is the part of a session that is needed here.
type header struct {
	Status string `json:"status"`
	Run    string `json:"active_run_id"`
	Head   int64  `json:"head_seq"`
}

func (c *Checker) session(ctx context.Context, t *users.Session) (header, int, error) {
	status, body, err := c.World.Get(ctx, t.Owner, users.Path(t))
	var out struct{ Data header }
	if err == nil && status == http.StatusOK {
		err = json.Unmarshal(body, &out)
	}
	return out.Data, status, err
}

// Sessions checks every session.
func (c *Checker) Sessions(ctx context.Context) error {
	if err := c.forEachSession(ctx, c.checkSession); err != nil {
		return err
	}
	for _, t := range c.World.Sessions() {
		if t.Fork != nil {
			c.fork(t)
		}
	}
	if err := c.owners(ctx); err != nil {
		return err
	}
	return c.lists(ctx)
}

// checkSession checks one session.
func (c *Checker) checkSession(ctx context.Context, t *users.Session) error {
	s, there, err := c.load(ctx, t)
	if err != nil {
		return err
	}
	deletes := outcomes(s.ops, "delete")
	if !there {
		c.expect(len(deletes) > 0, "acknowledged", t.ID, "it is deleted, but no user asked for that")
		return nil
	}
	c.expect(!deletes[ledger.Acked], "acknowledged", t.ID, "it exists, although it was deleted")
	c.mu.Lock()
	c.logs[t.ID] = s
	c.mu.Unlock()
	c.dense(s)
	c.views(s)
	c.state(s)
	c.written(s)
	c.inputs(s)
	c.kept(s)
	c.streamed(s)
	c.answers(s)
	c.continued(s)
	c.ordered(s)
	c.queued(s)
	c.guests(s)
	c.watched(ctx, s)
	return nil
}

func outcomes(ops []ledger.Op, kind string) map[ledger.Outcome]bool {
	out := map[ledger.Outcome]bool{}
	for _, op := range ops {
		if op.Kind == kind && op.Outcome != ledger.Refused {
			out[op.Outcome] = true
		}
	}
	return out
}
