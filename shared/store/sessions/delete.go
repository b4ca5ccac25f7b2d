package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	// purgeTime is how long a deletion removes items before it leaves the rest
	// to Sweep, well within a request's 29 s.
	purgeTime = 15 * time.Second
	// SweepGrace is how long after its deletion a log is swept once more: no
	// request that read the session before can still write by then.
	SweepGrace = 15 * time.Minute
)

// gone is the duty to remove what is left of a deleted session's log. It is in
// the index while it is due, and not while forks still read the log.
type gone struct {
	PK      string  `dynamodbav:"PK"`
	SK      string  `dynamodbav:"SK"`
	Created int64   `dynamodbav:"ct"`
	Origin  *origin `dynamodbav:"fo,omitempty"`
	GPK     string  `dynamodbav:"GPK,omitempty"`
	GSK     string  `dynamodbav:"GSK,omitempty"`
	Deleted int64   `dynamodbav:"dt,omitempty"` // when its session was
	told            // of a session, and not of an import that was abandoned
}

// fence tells who reads the tasks of a log that it was deleted.
type fence struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
}

// Delete implements session.Store. One transaction takes the header away, so
// nobody finds the session any more, and leaves the duty to clear its log where
// those who found it before will see it. The log goes at once where time
// allows; Sweep finishes it, and takes what a racing append left behind.
func (s *Store) Delete(ctx context.Context, userID, id string) error {
	for try := 0; ; try++ {
		h, err := s.header(ctx, userID, id)
		if err != nil {
			return err
		}
		err = s.remove(ctx, h, h.sameLog())
		if err == nil {
			return s.purgeInTime(ctx, h.Log)
		}
		if !errors.Is(err, errTaken) {
			return fmt.Errorf("delete session %s: %w", id, err)
		}
		if err := afterConflict(ctx, try); err != nil {
			return err
		}
	}
}

// remove is the transaction that deletes a session, if the condition on its
// header holds; more is written along with it.
func (s *Store) remove(ctx context.Context, h *header, c condition, more ...types.TransactWriteItem) error {
	h.sameBytes(&c)
	k, now := goneKey(h.Log), s.millis()
	duty, err := s.transactPut(gone{
		PK: k.pk, SK: k.sk, Created: h.Created, Origin: h.Origin,
		GPK: gpkGone, GSK: activitySK(now, h.Log), Deleted: now, told: h.tells().by(nil),
	}, condition{})
	if err != nil {
		return err
	}
	k = tasksGoneKey(h.Log)
	closed, err := s.transactPut(fence{PK: k.pk, SK: k.sk}, condition{})
	if err != nil {
		return err
	}
	along, err := s.leaving(ctx, h)
	if err != nil {
		return err
	}
	writes := append(more, s.transactDelete(sessionKey(h.id()), c), duty, closed)
	return s.transact(ctx, append(writes, along...)...)
}

func (s *Store) purgeInTime(ctx context.Context, log string) error {
	limited, cancel := context.WithTimeout(ctx, purgeTime)
	defer cancel()
	if err := s.purge(limited, log, s.clearFirst); err != nil {
		if limited.Err() == nil {
			s.log.WarnContext(ctx, "a deleted log waits to be swept", "log", log, "error", err)
		}
	}
	return ctx.Err()
}

// purge removes everything in a log's partition but the duty to do so, and
// lets go of the log that it was forked from. While forks read the log it
// stays, and purge only sees to it that nobody is told of it any more, or let in.
func (s *Store) purge(ctx context.Context, log string, clearing func(context.Context, string) error) error {
	if err := s.forgetPushed(ctx, log); err != nil {
		return err
	}
	if err := s.forgetShares(ctx, log); err != nil {
		return err
	}
	if err := s.forgetAnswers(ctx, log); err != nil {
		return err
	}
	held, err := s.hold(ctx, log)
	if err != nil || held {
		return err
	}
	if err := clearing(ctx, log); err != nil {
		return err
	}
	var duty gone
	found, err := s.get(ctx, goneKey(log), &duty)
	if err != nil || !found || duty.Origin == nil {
		return err
	}
	return s.release(ctx, duty.Origin.Log, log)
}

// hold takes the duty to clear a log off the index while forks read it. It is
// taken off first and the forks are counted after, so that a fork which goes
// meanwhile either is not counted or finds the duty and puts it back.
func (s *Store) hold(ctx context.Context, log string) (held bool, err error) {
	children, err := s.children(ctx, log)
	if err != nil || len(children) == 0 {
		return false, err
	}
	err = s.update(ctx, goneKey(log), "REMOVE GPK, GSK", condition{expression: "attribute_exists(PK)"})
	if err != nil && !errors.Is(err, errTaken) {
		return false, err
	}
	if children, err = s.children(ctx, log); err != nil || len(children) > 0 {
		return true, err
	}
	return false, s.makeDue(ctx, log)
}

// makeDue puts the duty to clear a log, where there is one, into the index.
func (s *Store) makeDue(ctx context.Context, log string) error {
	err := s.update(ctx, goneKey(log), "SET GPK = :g, GSK = :at", condition{
		expression: "attribute_exists(PK)",
		values:     attributes{":g": str(gpkGone), ":at": str(activitySK(s.millis(), log))},
	})
	if errors.Is(err, errTaken) {
		return nil // its session lives
	}
	return err
}

// release ends a fork's reading of the log it came from, and clears that log
// where its session is gone and this was the last of its forks.
func (s *Store) release(ctx context.Context, parent, log string) error {
	if err := s.deleteItems(ctx, []attributes{key{logPK(parent), prefixChild + log}.attributes()}); err != nil {
		return err
	}
	var duty gone
	found, err := s.get(ctx, goneKey(parent), &duty)
	if err != nil || !found {
		return err
	}
	if duty.GPK == "" {
		if err := s.makeDue(ctx, parent); err != nil {
			return err
		}
	}
	return s.purge(ctx, parent, s.clearFirst)
}

// Sweep clears the logs of sessions that were deleted SweepGrace ago, and
// returns how many. It may be stopped and repeated at any point.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	due := s.now().Add(-SweepGrace).UnixMilli()
	return s.sweep(ctx, gpkGone, due, func(ctx context.Context, k key) (bool, error) {
		log := strings.TrimPrefix(k.pk, prefixLog)
		if err := s.purge(ctx, log, s.clear); err != nil {
			return false, fmt.Errorf("sweep a log: %w", err)
		}
		if err := s.deleteItems(ctx, []attributes{watchersKey(log).attributes()}); err != nil {
			return false, fmt.Errorf("sweep the watchers of a log: %w", err)
		}
		return s.discharge(ctx, log)
	})
}

// discharge ends the duty to clear a log, unless forks still read it.
func (s *Store) discharge(ctx context.Context, log string) (bool, error) {
	err := s.deleteIf(ctx, goneKey(log), condition{expression: "attribute_exists(GPK)"})
	if errors.Is(err, errTaken) {
		return false, nil
	}
	return err == nil, err
}
