package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/domain/idempotency"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// answerItem is the answer to a request about a session. It is stored beside the
// session's log, not in it: it does not reach watchers, and is deleted with the
// session even if forks still read the log. The nonce links it to its claim; the
// claim is not updated, which saves a write.
type answerItem struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Nonce   string `dynamodbav:"n"`
	Expires int64  `dynamodbav:"expires"`
	records.Body
}

// answerKey is the key of the answer to a user's claim about a session.
func answerKey(log, user, claim string) table.Key {
	sum := sha256.Sum256([]byte(user + "\x00" + claim))
	return table.NewKey(answersPK(log), hex.EncodeToString(sum[:]))
}

func (s *Store) keepWithSession(ctx context.Context, c idempotency.Claim, a idempotency.Answer) error {
	k := answerKey(c.Log, c.UserID, c.Name())
	item := answerItem{
		PK: k.PK, SK: k.SK, Nonce: c.Nonce, Expires: s.Now().Add(idempotency.Lifetime).Unix(),
	}
	var err error
	if item.Body, err = s.content.Pack(ctx, item.PK, a, item.Expires); err != nil {
		return err
	}
	return s.DB.Put(ctx, item)
}

// keptAnswer reads the answer to the request of a claim; nil if it has not answered
// yet, or died.
func (s *Store) keptAnswer(ctx context.Context, of *keyItem) (*idempotency.Answer, error) {
	pk, content := of.PK, of.Body
	if of.Log != "" {
		var item answerItem
		k := answerKey(of.Log, of.user(), of.SK)
		found, err := s.DB.Get(ctx, k, &item)
		if err != nil || !found || item.Nonce != of.Nonce || item.Expires <= s.Now().Unix() {
			return nil, err
		}
		pk, content = item.PK, item.Body
	} else if !of.Done {
		return nil, nil
	}
	var answer idempotency.Answer
	if err := s.content.Unpack(ctx, pk, content, &answer); err != nil {
		return nil, err
	}
	return &answer, nil
}

// ForgetLog implements lifecycle.Dependent: it removes the answers to requests about
// a session.
func (s *Store) ForgetLog(ctx context.Context, log string) error {
	if err := s.DB.DeleteFound(ctx, records.KeysOnly(records.Partition(answersPK(log)))); err != nil {
		return fmt.Errorf("remove the answers of log %s: %w", log, err)
	}
	return nil
}

// EraseUser implements lifecycle.Dependent: it removes the answers to a user's
// idempotent requests from before the erasure began. The claims stay until they
// expire and only record that they were made, so that a repeated request still
// creates nothing. A claim whose request is under way is checked again at the end.
func (s *Store) EraseUser(ctx context.Context, user string, before int64, removed *erasure.Removed) error {
	return s.DB.Pages(ctx, records.Partition(claimPK(user)), func(page []table.Item) (bool, error) {
		all := make([]keyItem, len(page))
		for i, item := range page {
			if err := table.Decode(item, &all[i]); err != nil {
				return false, fmt.Errorf("read an idempotency key: %w", err)
			}
		}
		erased := make([]int, len(all))
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(records.Parallel)
		for i := range all {
			group.Go(func() (err error) {
				erased[i], err = s.eraseKey(ctx, &all[i], before)
				return err
			})
		}
		err := group.Wait()
		for _, n := range erased {
			removed.Records += n
		}
		return true, err
	})
}

// eraseKey removes the answer to one claim and returns how many it removed.
func (s *Store) eraseKey(ctx context.Context, of *keyItem, before int64) (int, error) {
	if records.IsChunk(of.SK) || of.Gone || of.Created > before {
		return 0, nil
	}
	answered, err := s.eraseAnswer(ctx, of)
	if err != nil || (!answered && !of.Done && of.Lease > s.Millis()) {
		return 0, err
	}
	err = s.DB.Update(ctx, of.key(), spent(), table.Equal(table.Path{keyLease}, of.Lease))
	if err != nil { // the key may have been taken over
		return 0, records.Ignoring(err, table.ErrConditionFailed)
	}
	return 1, s.content.Discard(ctx, of.PK, of.Body)
}

// eraseAnswer removes the answer that is stored with a session.
func (s *Store) eraseAnswer(ctx context.Context, of *keyItem) (found bool, err error) {
	if of.Log == "" {
		return false, nil
	}
	var item answerItem
	k := answerKey(of.Log, of.user(), of.SK)
	if found, err = s.DB.Get(ctx, k, &item); err != nil || !found {
		return false, err
	}
	if err := s.content.Discard(ctx, item.PK, item.Body); err != nil {
		return false, err
	}
	return true, s.DB.DeleteItems(ctx, []table.Item{k.Item()})
}
