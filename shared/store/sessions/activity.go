package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// A user's list is ordered by last activity. Within a chat the order does not
// change from turn to turn: only when another session was active in between
// must this one move up, which costs three write units. Whether it must is one
// cheap read of the index, made while the rest of the append is under way.

// watchNewest starts reading which session of the user's is on top of the
// list; the function it returns waits for the answer, and has it for each try of
// a write.
func (s *Store) watchNewest(ctx context.Context, h *header) func() (bool, error) {
	type answer struct {
		newest bool
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		out, err := s.db.Query(ctx, &dynamodb.QueryInput{
			TableName:                 &s.table,
			IndexName:                 aws.String(activityIndex),
			KeyConditionExpression:    aws.String("GPK = :g"),
			ExpressionAttributeValues: attributes{":g": str(h.GPK)},
			ScanIndexForward:          ptr(false),
			Limit:                     ptr(int32(1)),
		})
		if err != nil {
			done <- answer{err: fmt.Errorf("read the newest session: %w", err)}
			return
		}
		var top header
		if len(out.Items) > 0 {
			top.PK = stringOf(out.Items[0][attrPK])
		}
		done <- answer{newest: top.PK == h.PK}
	}()
	return sync.OnceValues(func() (bool, error) { a := <-done; return a.newest, a.err })
}

// andMoveUp adds to a change of the header that the session stands on top of its
// user's list.
func (h *header) andMoveUp(set string, c *condition, newest func() (bool, error), now int64) (string, error) {
	onTop, err := newest()
	if err != nil || onTop {
		return set, err
	}
	c.values[":g"] = str(activitySK(now, h.id()))
	return set + ", GSK = :g", nil
}

// moveUp puts the session on top of its user's list. Where it is there already
// it costs nothing, or one write unit with touch, which records an activity
// that left no trace in the log. What was stored stays stored if this fails:
// the next activity puts the list right.
func (s *Store) moveUp(ctx context.Context, h *header, newest func() (bool, error), now int64, touch bool) {
	onTop, err := newest()
	if err == nil && onTop && !touch {
		return
	}
	c := h.sameLog()
	c.names["#ut"] = "ut"
	c.values[":ut"] = num(now)
	c.expression += " AND #ut < :ut"
	set := "SET #ut = :ut"
	if !onTop {
		set += ", GSK = :g"
		c.values[":g"] = str(activitySK(now, h.id()))
	}
	if err == nil {
		err = s.update(ctx, sessionKey(h.id()), set, c)
	}
	if err != nil && !errors.Is(err, errTaken) {
		s.log.WarnContext(ctx, "session list not updated", "session_id", h.id(), "error", err)
	}
}
