package dynamostore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/idempotency"
)

// keyItem is one use of an idempotency key. DynamoDB may take days to remove
// what has expired, so readers look at the time themselves.
type keyItem struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Digest  string `dynamodbav:"d"`
	Done    bool   `dynamodbav:"done"`
	Lease   int64  `dynamodbav:"until"` // epoch milliseconds
	Expires int64  `dynamodbav:"expires"`
	body
}

func idempotencyKey(c idempotency.Claim) key {
	sum := sha256.Sum256([]byte(c.Route + "\x00" + c.Key))
	return key{"K#" + c.UserID, hex.EncodeToString(sum[:])}
}

func (s *Store) keyItem(c idempotency.Claim) keyItem {
	k, now := idempotencyKey(c), s.now()
	return keyItem{
		PK: k.pk, SK: k.sk, Digest: c.Digest,
		Lease:   now.Add(idempotency.Lease).UnixMilli(),
		Expires: now.Add(idempotency.Lifetime).Unix(),
	}
}

// Begin implements idempotency.Store.
func (s *Store) Begin(ctx context.Context, c idempotency.Claim) (*idempotency.Answer, error) {
	var old keyItem
	err := s.put(ctx, s.keyItem(c), condition{expression: ifAbsent}, &old)
	if err == nil {
		return nil, nil
	}
	if !errors.Is(err, errTaken) {
		return nil, fmt.Errorf("take idempotency key: %w", err)
	}
	now := s.now()
	switch {
	case old.Expires <= now.Unix():
		return nil, s.takeOver(ctx, c, old)
	case old.Digest != c.Digest:
		return nil, fault.Field(fault.Invalid, "Idempotency-Key", "was used for another request body")
	case old.Done:
		var answer idempotency.Answer
		if err := s.unpack(ctx, old.PK, old.body, &answer); err != nil {
			return nil, fmt.Errorf("read the answer of an idempotency key: %w", err)
		}
		return &answer, nil
	case old.Lease <= now.UnixMilli():
		return nil, s.takeOver(ctx, c, old)
	}
	return nil, keyInUse(time.UnixMilli(old.Lease).Sub(now))
}

// takeOver takes a key from a request that died, or that is a day old.
func (s *Store) takeOver(ctx context.Context, c idempotency.Claim, old keyItem) error {
	err := s.put(ctx, s.keyItem(c), condition{
		expression: "#until = :until AND #done = :done",
		names:      map[string]string{"#until": "until", "#done": "done"},
		values:     attributes{":until": num(old.Lease), ":done": boolean(old.Done)},
	}, nil)
	if errors.Is(err, errTaken) {
		return keyInUse(time.Second)
	}
	return err
}

func keyInUse(retry time.Duration) error {
	return &fault.Error{
		Kind: fault.Busy, Detail: "a request with this Idempotency-Key is under way", RetryAfter: min(retry, time.Second),
	}
}

// Finish implements idempotency.Store.
func (s *Store) Finish(ctx context.Context, c idempotency.Claim, a idempotency.Answer) error {
	item := s.keyItem(c)
	item.Done = true
	var err error
	if item.body, err = s.pack(ctx, item.PK, a, item.Expires); err != nil {
		return err
	}
	if err := s.put(ctx, item, condition{}, nil); err != nil {
		return fmt.Errorf("keep the answer of an idempotency key: %w", err)
	}
	return nil
}

// Release implements idempotency.Store.
func (s *Store) Release(ctx context.Context, c idempotency.Claim) error {
	if err := s.deleteItems(ctx, []attributes{idempotencyKey(c).attributes()}); err != nil {
		return fmt.Errorf("give back idempotency key: %w", err)
	}
	return nil
}
