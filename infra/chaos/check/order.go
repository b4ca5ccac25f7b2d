package check

import (
	"slices"
	"time"

	"github.com/rethread/rethread/infra/chaos/ledger"
)

// told is when something was asked and acknowledged, and where it stands.
type told struct {
	op       ledger.Op
	from, to time.Time
	place    int
}

// ordered: what was acknowledged before another was asked stands before it, and an
// expected position is kept.
func (c *Checker) ordered(s *subject) {
	view := s.log.Now().View
	var all []told
	for _, op := range s.ops {
		if op.Outcome != ledger.Acked || op.Kind != "append" && op.Kind != "ask" && op.Kind != "merge" {
			continue
		}
		for _, e := range s.with(op.Tokens[0]) {
			if at := slices.Index(view, int(e.Seq)-1); at >= 0 && e.Author == "user" {
				all = append(all, told{op, op.At, op.At.Add(op.Took), at})
			}
			if op.Expected != nil {
				c.hold(e.Seq == *op.Expected+1, "order", s.talk.ID, "it stands at %d, behind %d was asked for: %v", e.Seq, *op.Expected, &op)
			}
		}
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.to.Before(b.from) {
				c.hold(a.place < b.place, "order", s.talk.ID, "in the thread %d stands behind %d, though it was first: %v; %v", a.place, b.place, &a.op, &b.op)
			}
		}
	}
}

// guests: whose shares were all taken back is kept out.
func (c *Checker) guests(s *subject) {
	for _, op := range s.ops {
		if op.User == s.talk.Owner.ID || op.Kind != "append" {
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
		c.hold(shares > revoked || op.Outcome != ledger.Acked, "guests", s.talk.ID, "after %d of %d shares were taken back: %v", revoked, shares, &op)
	}
}
