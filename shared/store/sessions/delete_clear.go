package sessions

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// attrStub marks a stub: the attribute of entry.Stub.
const attrStub = "g"

// stubLook is how many entries are looked at at once for recent ones.
const stubLook = 20

// clear removes everything in a log's partition but the duty to do so.
func (s *Store) clear(ctx context.Context, log string) error {
	return s.clearBut(ctx, log, func(attributes) bool { return false })
}

// clearFirst is clear while requests may be under way that read the session
// before it was deleted. No position that one of them may aim at becomes free:
// recent ones are held by stubs, and what stands behind the head is left
// alone, since the first to be stored there must be the only one.
func (s *Store) clearFirst(ctx context.Context, log string) error {
	next, err := s.stubRecent(ctx, log)
	if err != nil {
		return fmt.Errorf("hold the positions of log %s: %w", log, err)
	}
	return s.clearBut(ctx, log, func(item attributes) bool {
		sk := stringOf(item[attrSK])
		return sk == skTasksGone ||
			(strings.HasPrefix(sk, prefixEntry) && (sk >= entrySK(next) || item[attrStub] != nil))
	})
}

// stubRecent puts stubs in the place of the entries that came within
// SweepGrace: a writer that is still under way may have read the log before
// they came. It returns the position behind the head.
func (s *Store) stubRecent(ctx context.Context, log string) (next int64, err error) {
	since := s.millis() - SweepGrace.Milliseconds()
	q := s.entryQuery(log, 0, maxPosition, true)
	q.ScanIndexForward = ptr(false)
	q.Limit = ptr(int32(stubLook))
	err = s.queryPages(ctx, q, func(page []attributes) (bool, error) {
		var stubs []types.WriteRequest
		for _, item := range page {
			var e entry
			if err := attributevalue.UnmarshalMap(item, &e); err != nil {
				return false, fmt.Errorf("unmarshal a log entry: %w", err)
			}
			first, err := e.first()
			if err != nil {
				return false, err
			}
			next = max(next, first+e.count())
			if e.Stub {
				continue
			}
			recent, err := s.cameAfter(&e, since)
			if err != nil {
				return false, err
			}
			if !recent {
				return false, s.writeBatch(ctx, stubs)
			}
			stubs = append(stubs, types.WriteRequest{PutRequest: &types.PutRequest{Item: attributes{
				attrPK: item[attrPK], attrSK: item[attrSK], attrStub: boolean(true),
			}}})
		}
		return true, s.writeBatch(ctx, stubs)
	})
	return next, err
}

// cameAfter reports whether an entry was appended after a time. One whose body
// continues in chunks is taken for one that was.
func (s *Store) cameAfter(e *entry, millis int64) (bool, error) {
	if e.Blob != "" {
		return true, nil
	}
	var content entryBody
	if err := s.codec.decode(e.Inline, &content); err != nil {
		return false, fmt.Errorf("log entry %s %s: %w", e.PK, e.SK, err)
	}
	return content.Time > millis, nil
}

// clearBut removes everything in a log's partition but the duty to do so and
// what keep says.
func (s *Store) clearBut(ctx context.Context, log string, keep func(attributes) bool) error {
	q := s.keysOnly(s.partition(logPK(log)))
	return s.queryPages(ctx, q, func(page []attributes) (bool, error) {
		var doomed []attributes
		for _, item := range page {
			sk := stringOf(item[attrSK])
			if sk == skGone || keep(item) {
				continue
			}
			if feedback, ok := strings.CutPrefix(sk, prefixFeedback); ok {
				owner := stringOf(item["u"])
				_, id, _ := strings.Cut(feedback, "#")
				doomed = append(doomed,
					key{feedbackPK(owner), feedback}.attributes(), feedbackTimeKey(owner, id).attributes())
			}
			if task, ok := strings.CutPrefix(sk, prefixLink); ok {
				doomed = append(doomed, linkKey(stringOf(item["u"]), task).attributes())
				if guest := stringOf(item[attrGuest]); guest != "" {
					doomed = append(doomed, linkKey(guest, task).attributes())
				}
			}
			doomed = append(doomed, item)
		}
		return true, s.deleteItems(ctx, doomed)
	})
}
