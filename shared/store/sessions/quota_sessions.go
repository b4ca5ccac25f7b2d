package sessions

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/domain/quota"
)

const (
	// recountEvery is how often at most a user's sessions are counted who has
	// reached the limit.
	recountEvery = time.Minute
	// indexLag is how long after a session was made the index surely has it.
	indexLag = 5 * time.Second
)

// admitSession says whether the user may have one more session, of sessions and of
// bytes: fault.Busy where not. The creation itself counts, by what arriving adds to it, so that
// racing ones do not exceed the limit.
func (s *Store) admitSession(ctx context.Context, user string) error {
	if s.quotas.Sessions == 0 {
		return s.admitBytes(ctx, user)
	}
	for try := 0; ; try++ {
		q, err := s.quotaItem(ctx, user)
		if err != nil {
			return err
		}
		if err := s.bytesLeft(q); err != nil {
			return err
		}
		n := derefOr(q.Sessions)
		if q.Sessions != nil && n < s.quotas.Sessions {
			return nil
		}
		if now := s.now(); q.Sessions != nil &&
			(now.Sub(time.UnixMilli(q.Counted)) < recountEvery || now.Sub(time.UnixMilli(q.Moved)) < indexLag) {
			return quota.Exceeded(quota.Sessions, s.quotas.Sessions, n, recountEvery)
		}
		n, err = s.recountSessions(ctx, user, q)
		switch {
		case err == nil && n < s.quotas.Sessions:
			return nil
		case err == nil:
			return quota.Exceeded(quota.Sessions, s.quotas.Sessions, n, recountEvery)
		case !errors.Is(err, errTaken):
			return err
		}
		if err := backoff(ctx, try); err != nil {
			return err
		}
	}
}

// countArriving counts a session that is made, in the transaction that makes it.
// One that was made uncounted never counts: its deletion must not either.
func (s *Store) countArriving(h *header) (_ types.TransactWriteItem, counts bool) {
	c := condition{names: map[string]string{}, values: attributes{}}
	set, add := "", []string{}
	if s.quotas.Sessions > 0 {
		h.Counted = true
		set, add = "SET #nt = :now ", []string{"#n :one"}
		c.expression = "#n < :limit"
		c.names["#n"], c.names["#nt"] = "n", "nt"
		c.values[":now"], c.values[":one"], c.values[":limit"] = num(s.millis()), num(1), num(s.quotas.Sessions)
	}
	if h.Bytes > 0 { // it was imported
		add = append(add, "#b :bytes")
		c.names["#b"], c.values[":bytes"] = "b", num(h.Bytes)
	}
	if len(add) == 0 {
		return types.TransactWriteItem{}, false
	}
	w := s.transactUpdate(quotaKey(h.User), set+"ADD "+strings.Join(add, ", "), c)
	if c.expression == "" {
		w.Update.ConditionExpression = nil
	}
	return w, true
}

// countLeaving takes a session off what its user has, unless that was forgotten
// meanwhile.
func (s *Store) countLeaving(ctx context.Context, h *header) (_ types.TransactWriteItem, counts bool, err error) {
	if !h.Counted && h.Bytes == 0 {
		return types.TransactWriteItem{}, false, nil
	}
	q, err := s.quotaItem(ctx, h.User)
	if err != nil {
		return types.TransactWriteItem{}, false, err
	}
	c := condition{names: map[string]string{}, values: attributes{}}
	var add, there []string
	for _, part := range []struct {
		name string
		less int64
		had  *int64
	}{{"n", one(h.Counted), q.Sessions}, {"b", h.Bytes, q.Bytes}} {
		if part.less == 0 || part.had == nil {
			continue
		}
		c.names["#"+part.name], c.values[":"+part.name] = part.name, num(-part.less)
		add = append(add, "#"+part.name+" :"+part.name)
		there = append(there, "attribute_exists(#"+part.name+")")
	}
	if len(add) == 0 {
		return types.TransactWriteItem{}, false, nil
	}
	c.expression = strings.Join(there, " AND ")
	return s.transactUpdate(quotaKey(h.User), "ADD "+strings.Join(add, ", "), c), true, nil
}

func one(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// sameBytes adds that what the session takes has not changed.
func (h *header) sameBytes(c *condition) {
	c.names["#by"], c.values[":by"] = "by", num(h.Bytes)
	c.expression += " AND #by = :by"
	if h.Bytes == 0 {
		c.expression = strings.TrimSuffix(c.expression, "#by = :by") + "(attribute_not_exists(#by) OR #by = :by)"
	}
}
