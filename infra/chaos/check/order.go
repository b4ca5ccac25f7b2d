package check

import (
	"slices"
	"time"

	"github.com/rethread/rethread/infra/chaos/ledger"
)

// acknowledged is when an operation was requested and acknowledged, and its place in the
// thread.
type acknowledged struct {
	op       ledger.Op
	from, to time.Time
	place    int
}

// ordered checks that operations acknowledged before another was requested precede
// it, and that an expected position is kept.
func (c *Checker) ordered(s *subject) {
	view := s.log.Now().View
	var all []acknowledged
	for _, op := range s.ops {
		if op.Outcome != ledger.Acked || op.Kind != "append" && !op.Starts() {
			continue
		}
		for _, e := range s.entriesWith(op.Tokens[0]) {
			if at := slices.Index(view, int(e.Seq)-1); at >= 0 && e.Author == "user" {
				all = append(all, acknowledged{op, op.At, op.At.Add(op.Took), at})
			}
			if op.Expected != nil {
				c.expect(e.Seq == *op.Expected+1, "order", s.session.ID, "it is at %d, expected after %d: %v", e.Seq, *op.Expected, &op)
			}
		}
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			queued := a.op.Kind == "enqueue"
			if queued && b.op.Kind != "enqueue" {
				continue // the input of a takes its place when its run begins
			}
			if a.to.Before(b.from) {
				if queued {
					c.Count("queued", 1)
				}
				c.expect(a.place < b.place, "order", s.session.ID, "place %d in the thread is after place %d, although it was acknowledged first: %v; %v", a.place, b.place, &a.op, &b.op)
			}
		}
	}
}

// guests checks that a guest has no access once all of their shares are revoked.
func (c *Checker) guests(s *subject) {
	for _, op := range s.ops {
		if op.User == s.session.Owner.ID || op.Kind != "append" {
			continue
		}
		began, ended := op.At, op.At.Add(op.Took)
		shares, revoked := 0, 0
		for _, other := range s.ops {
			switch {
			case other.Detail != op.User || other.Outcome == ledger.Refused:
			case other.Kind == "share" && other.At.Before(ended):
				shares++
			case other.Kind == "revoke" && other.Outcome == ledger.Acked && other.At.Add(other.Took).Before(began):
				revoked++
			}
		}
		c.expect(shares > revoked || op.Outcome != ledger.Acked, "guests", s.session.ID, "succeeded after %d of %d shares were revoked: %v", revoked, shares, &op)
	}
}
