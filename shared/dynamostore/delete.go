package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

const (
	// purgeTime is how long a deletion removes items before it leaves the rest
	// to Sweep, well within a request's 29 s.
	purgeTime = 15 * time.Second
	// SweepGrace is how long after its deletion a log is swept once more: no
	// request that read the session before can still write by then.
	SweepGrace = 15 * time.Minute
)

// gone is the duty to remove what is left of a deleted session's log.
type gone struct {
	PK  string `dynamodbav:"PK"`
	SK  string `dynamodbav:"SK"`
	GPK string `dynamodbav:"GPK"`
	GSK string `dynamodbav:"GSK"`
}

// Delete implements session.Store. One transaction takes the header away, so
// nobody finds the session any more, and leaves the duty to clear its log. The
// log goes at once where time allows; Sweep finishes it, and takes what a
// racing append left behind.
func (s *Store) Delete(ctx context.Context, userID, id string) error {
	for try := 0; ; try++ {
		h, err := s.header(ctx, userID, id)
		if err != nil {
			return err
		}
		k := goneKey(h.Log)
		duty, err := s.transactPut(gone{
			PK: k.pk, SK: k.sk, GPK: gpkGone, GSK: activitySK(s.millis(), h.Log),
		}, condition{})
		if err != nil {
			return err
		}
		err = s.transact(ctx, s.transactDelete(sessionKey(id), h.sameLog()), duty)
		if err == nil {
			return s.purgeInTime(ctx, h.Log)
		}
		if !errors.Is(err, errTaken) {
			return fmt.Errorf("delete session %s: %w", id, err)
		}
		if err := backoff(ctx, try); err != nil {
			return err
		}
	}
}

func (s *Store) purgeInTime(ctx context.Context, log string) error {
	limited, cancel := context.WithTimeout(ctx, purgeTime)
	defer cancel()
	if err := s.purge(limited, log); err != nil {
		if limited.Err() == nil {
			s.log.WarnContext(ctx, "a deleted log waits to be swept", "log", log, "error", err)
		}
	}
	return ctx.Err()
}

// purge removes everything in a log's partition but the duty to do so.
func (s *Store) purge(ctx context.Context, log string) error {
	q := s.keysOnly(&dynamodb.QueryInput{
		TableName:                 &s.table,
		KeyConditionExpression:    aws.String("PK = :pk"),
		ExpressionAttributeValues: attributes{":pk": str(logPK(log))},
		ConsistentRead:            ptr(true),
	})
	return s.queryPages(ctx, q, func(page []attributes) (bool, error) {
		var doomed []attributes
		for _, item := range page {
			sk := stringOf(item[attrSK])
			if sk == skGone {
				continue
			}
			if feedback, ok := strings.CutPrefix(sk, prefixFeedback); ok {
				owner := stringOf(item["u"])
				_, id, _ := strings.Cut(feedback, "#")
				doomed = append(doomed,
					key{feedbackPK(owner), feedback}.attributes(), feedbackTimeKey(owner, id).attributes())
			}
			doomed = append(doomed, item)
		}
		return true, s.deleteItems(ctx, doomed)
	})
}

// Sweep clears the logs of sessions that were deleted SweepGrace ago, and
// returns how many. It may be stopped and repeated at any point.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	due := activitySK(s.now().Add(-SweepGrace).UnixMilli(), "")
	swept := 0
	err := s.queryPages(ctx, &dynamodb.QueryInput{
		TableName:                 &s.table,
		IndexName:                 aws.String(activityIndex),
		KeyConditionExpression:    aws.String("GPK = :g AND GSK < :due"),
		ExpressionAttributeValues: attributes{":g": str(gpkGone), ":due": str(due)},
	}, func(page []attributes) (bool, error) {
		for _, item := range page {
			log := strings.TrimPrefix(stringOf(item[attrPK]), prefixLog)
			if err := s.purge(ctx, log); err != nil {
				return false, fmt.Errorf("sweep log %s: %w", log, err)
			}
			if err := s.deleteItems(ctx, []attributes{goneKey(log).attributes()}); err != nil {
				return false, fmt.Errorf("sweep log %s: %w", log, err)
			}
			swept++
		}
		return true, nil
	})
	return swept, err
}
