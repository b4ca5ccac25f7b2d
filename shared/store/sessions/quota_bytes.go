package sessions

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
)

// Counting bytes must not cost an append anything. So each entry of a log says
// how many bytes before it nobody has counted yet, and who appends the entry that
// makes them countBytes counts them all, itself included: two write units more for
// what took sixty-four. What a session's log has less than that never counts.
// Artifacts and tasks count when they are written, in whole kilobytes.

const (
	// countAtOnce is how many bytes of a log are counted at once.
	countAtOnce = 64 << 10
	// countTries bounds how often counting is tried: it meets other changes of
	// the session and other sessions of the user.
	countTries = 10
	// bytesRetry is when a user who stores too much may ask again.
	bytesRetry = time.Minute
)

// stored is about how many bytes a body takes.
func (b body) stored() int64 { return int64(len(b.Inline)) + b.Large }

// kilobytes is n rounded down, so that what was counted can be taken off again.
func kilobytes(n int64) int64 { return n &^ 1023 }

// admitBytes says whether the user may store more: fault.Busy where not.
func (s *Store) admitBytes(ctx context.Context, user string) error {
	if s.quotas.Bytes == 0 {
		return nil
	}
	q, err := s.quotaItem(ctx, user)
	if err != nil {
		return err
	}
	return s.bytesLeft(q)
}

func (s *Store) bytesLeft(q *quotaItem) error {
	if used := derefOr(q.Bytes); s.quotas.Bytes > 0 && used >= s.quotas.Bytes {
		return quota.Exceeded(quota.Bytes, s.quotas.Bytes, used, bytesRetry)
	}
	return nil
}

// owing notes in an entry that is about to be put what is uncounted before it,
// and whether putting it makes that enough to be counted. An item that is yet to
// grow leaves the counting to those after it.
func (s *Store) owing(e *entry, at head, size int64) {
	if s.quotas.Bytes == 0 {
		return
	}
	e.Uncounted = at.uncounted
	e.Counts = !e.Streamed && at.uncounted+size >= countAtOnce
}

// countEntry counts what an entry that is in the log has promised to.
func (s *Store) countEntry(ctx context.Context, h *header, r *record) {
	if r != nil && r.Counts {
		s.countBytes(ctx, h, r.Uncounted+r.size())
	}
}

// countBytes adds to what a session takes, and to what its user does, as one:
// its deletion takes off what the session took. What is stored stays stored if
// this fails, uncounted.
func (s *Store) countBytes(ctx context.Context, h *header, n int64) {
	if s.quotas.Bytes == 0 || n == 0 {
		return
	}
	c := h.sameLog()
	c.names["#by"], c.values[":n"] = "by", num(n)
	user := types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: quotaKey(h.User).attributes(), UpdateExpression: ptr("ADD #b :n"),
		ExpressionAttributeNames: map[string]string{"#b": "b"}, ExpressionAttributeValues: attributes{":n": num(n)},
	}}
	err := errTaken
	for try := 0; errors.Is(err, errTaken) && try < countTries; try++ {
		err = s.transact(ctx, s.transactUpdate(sessionKey(h.id()), "ADD #by :n", c), user)
		if errors.Is(err, errTaken) {
			err = cmp.Or(s.stillThere(ctx, h), backoff(ctx, try), errTaken)
		}
	}
	if err != nil && !errors.Is(err, fault.Of(fault.NotFound)) { // a deleted session takes nothing
		s.log.WarnContext(ctx, "bytes are not counted", "session_id", h.id(), "bytes", n, "error", err)
	}
}

// countShared adds to what a user takes outside of sessions; it stays until all
// of the user's data is erased.
func (s *Store) countShared(ctx context.Context, user string, n int64) {
	if s.quotas.Bytes == 0 || n == 0 {
		return
	}
	err := s.update(ctx, quotaKey(user), "ADD #b :n SET #bo = :once", condition{
		expression: "attribute_not_exists(#bo) OR #bo <> :once", // else it was added, and the answer lost
		names:      map[string]string{"#b": "b", "#bo": "bo"}, values: attributes{":n": num(n), ":once": str(s.newLog())},
	})
	if err != nil && !errors.Is(err, errTaken) {
		s.log.WarnContext(ctx, "bytes are not counted", "bytes", n, "error", err)
	}
}
