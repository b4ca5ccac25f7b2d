package check

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/infra/chaos/users"
	"github.com/rethread/rethread/shared/base/retry"
)

// waiting is how many queued inputs contain a token.
func (s *subject) waiting(token string) int {
	n := 0
	for _, q := range s.thread.Queued {
		if strings.Contains(users.TextOf(q), token) {
			n++
		}
	}
	return n
}

// dequeued reports whether a user asked to cancel the run of a queued input.
func (s *subject) dequeued(op *ledger.Op) bool {
	run := s.session.QueuedAs(op.Tokens[0])
	return slices.ContainsFunc(s.ops, func(o ledger.Op) bool {
		named := run != "" && strings.HasPrefix(o.Detail, run) || strings.Contains(o.Detail, op.Tokens[0])
		return op.Kind == "enqueue" && o.Kind == "cancel" && o.Outcome != ledger.Refused && named
	})
}

// queued checks that the inputs that still wait do so in the order in which they were
// accepted.
func (c *Checker) queued(s *subject) {
	var last time.Time // when those before were requested, at the latest
	for _, q := range s.thread.Queued {
		for _, op := range s.ops {
			if !op.Starts() || !strings.Contains(users.TextOf(q), op.Tokens[0]) || op.Outcome != ledger.Acked {
				continue
			}
			c.expect(!op.At.Add(op.Took).Before(last), "queued", s.session.ID, "it waits behind a later one: %v", &op)
			if op.At.After(last) {
				last = op.At
			}
		}
	}
}

// progress is what changes when the runs of a session proceed.
type progress struct {
	run     string
	version int64
}

// settle waits until a session has no active run and no queued input that can start.
// Each run has the same time.
func (c *Checker) settle(ctx context.Context, t *users.Session) error {
	wait := c.Lease + Stuck
	deadline := time.Now().Add(wait)
	for before := (progress{}); ; {
		now, waits, err := c.unsettled(ctx, t)
		if now != before {
			before, deadline = now, time.Now().Add(wait)
		}
		switch late := time.Now().After(deadline); {
		case err != nil && late:
			return err
		case err == nil && waits == "":
			c.expect(true, "stuck", t.ID, "")
			return nil
		case late:
			c.expect(false, "stuck", t.ID, "%s %s after the faults ended", waits, wait)
			return nil
		}
		if err := retry.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// unsettled returns what a session still waits for; "" if nothing.
func (c *Checker) unsettled(ctx context.Context, t *users.Session) (progress, string, error) {
	thread, status, err := c.World.Thread(ctx, t)
	if status == http.StatusNotFound {
		return progress{}, "", nil
	}
	if err != nil {
		return progress{}, "", err
	}
	now := progress{thread.RunID, thread.QueueVersion}
	switch {
	case thread.Status == view.InProgress:
		return now, fmt.Sprintf("its run %s is still in progress", thread.RunID), nil
	case len(thread.Queued) > 0 && !c.blocked(t, thread):
		return now, fmt.Sprintf("%d inputs are still queued in a session that is %s", len(thread.Queued), thread.Status), nil
	}
	return now, "", nil
}

// blocked reports whether a queue waits after a failure, as the first start in it asks.
func (c *Checker) blocked(t *users.Session, thread view.Thread) bool {
	return thread.Status == view.Failed && slices.ContainsFunc(c.World.Ledger.Of(t.ID), func(op ledger.Op) bool {
		return op.Starts() && strings.HasSuffix(op.Detail, ledger.Blocks) &&
			strings.Contains(users.TextOf(thread.Queued[0]), op.Tokens[0])
	})
}
