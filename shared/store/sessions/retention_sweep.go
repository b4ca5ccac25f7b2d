package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
)

// stub holds a position of a log that takes no entries any more.
type stub struct {
	PK   string `dynamodbav:"PK"`
	SK   string `dynamodbav:"SK"`
	Stub bool   `dynamodbav:"g"`
}

// lookTries bounds how often one sweep looks at a session that is not at rest.
const lookTries = 5

// SweepRetention deletes the sessions whose retention is over, as their users
// would, and returns how many. It may be stopped and repeated at any point; a
// session that cannot be looked at keeps no other waiting.
func (s *Store) SweepRetention(ctx context.Context) (int, error) {
	return eachShard(ctx, expireShards, expireShard, func(ctx context.Context, shard string) (int, error) {
		return s.sweep(ctx, shard, s.millis(), s.lookAt)
	})
}

// lookAt deletes the session of a timer if it is due. One in which something
// happens meanwhile, or whose user has others deleted, is looked at again; what
// does not come to rest waits for the next sweep.
func (s *Store) lookAt(ctx context.Context, k key) (deleted bool, err error) {
	for try := range lookTries {
		if deleted, err = s.lookOnce(ctx, k); !errors.Is(err, errTaken) {
			return deleted, err
		}
		if err := afterConflict(ctx, try); err != nil {
			return false, err
		}
	}
	return false, nil
}

// lookOnce deletes the session of a timer if it is due, and else moves the
// timer to when it will be. The index may lag, so the timer itself is read.
// errTaken means that the session is not as it was read.
func (s *Store) lookOnce(ctx context.Context, k key) (deleted bool, err error) {
	var t timer
	if found, err := s.get(ctx, k, &t); err != nil || !found || t.GSK >= activitySK(s.millis(), "") {
		return false, err
	}
	h, at, a, err := s.settled(ctx, t.User, t.Session)
	gone := errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden))
	switch {
	case gone, err == nil && (logPK(h.Log) != t.PK || h.Kept == 0):
		return false, s.stopTimer(ctx, &t)
	case err != nil:
		return false, fmt.Errorf("look at session %s: %w", t.Session, err)
	case a != nil: // its end will be an activity
		return false, s.moveTimer(ctx, &t, h.expires(s.millis()))
	}
	active := max(h.Created, h.touched(), at.time)
	if due := h.expires(active); due > s.millis() {
		return false, s.moveTimer(ctx, &t, due)
	}
	if err := s.removeIdle(ctx, h, at); err != nil {
		return false, fmt.Errorf("delete session %s, which is due: %w", t.Session, err)
	}
	return true, s.purgeInTime(ctx, h.Log)
}

// removeIdle deletes a session unless something has happened in it since it was
// read. The position that the next entry of its log would take is held, so that
// an append either comes before, and the session stays, or finds it gone.
func (s *Store) removeIdle(ctx context.Context, h *header, at head) error {
	c := h.sameLog()
	c.names["#v"], c.names["#ut"], c.names["#rn"] = "v", "ut", "rn"
	c.values[":v"], c.values[":ut"] = num(h.Version), num(h.Touched)
	c.expression += " AND #v = :v AND #ut = :ut AND attribute_not_exists(#rn)"
	if err := h.sameSaving(&c); err != nil {
		return err
	}
	hold, err := s.transactPut(stub{PK: logPK(h.Log), SK: entrySK(at.next), Stub: true}, condition{expression: ifAbsent})
	if err != nil {
		return err
	}
	return s.remove(ctx, h, c, hold)
}

// moveTimer sets a timer to another time, unless that was done meanwhile.
func (s *Store) moveTimer(ctx context.Context, t *timer, due int64) error {
	c := t.unmoved()
	c.values[":due"] = str(activitySK(due, t.PK[len(prefixLog):]))
	err := s.update(ctx, key{t.PK, t.SK}, "SET GSK = :due", c)
	if errors.Is(err, errTaken) {
		return nil
	}
	return err
}

// stopTimer removes a timer whose session is gone, or is kept for ever.
func (s *Store) stopTimer(ctx context.Context, t *timer) error {
	return ignoring(s.deleteIf(ctx, key{t.PK, t.SK}, t.unmoved()), errTaken)
}

func (t *timer) unmoved() condition {
	return condition{expression: "GSK = :was", values: attributes{":was": str(t.GSK)}}
}
