// Package idempotency stores the answers to requests with idempotency keys until
// the keys expire.
package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/idempotency"
	"github.com/rethread/rethread/shared/store/lifecycle"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

const prefixClaim = "K#"

func claimPK(user string) string           { return prefixClaim + user }
func claimKey(user, name string) table.Key { return table.NewKey(claimPK(user), name) }
func answersPK(log string) string          { return "KA#" + log }

// Store stores idempotency keys. It is safe for concurrent use.
type Store struct {
	lifecycle.Nothing
	records.Base
	content records.Bodies
}

var (
	_ idempotency.Store   = (*Store)(nil)
	_ lifecycle.Dependent = (*Store)(nil)
)

// New returns the store of a table.
func New(base records.Base, codec *records.Codec) *Store {
	return &Store{Base: base, content: records.NewBodies(base, codec)}
}

// keyItem is one use of an idempotency key, in its user's partition. The answer to
// a request about a session is stored with the session (answerItem), any other
// here. The table may take days to remove expired items, so readers check the time
// themselves.
type keyItem struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Digest  string `dynamodbav:"d,omitempty"`
	Nonce   string `dynamodbav:"n,omitempty"` // of the attempt that holds the key
	Log     string `dynamodbav:"l,omitempty"` // of the session that the request is about
	Done    bool   `dynamodbav:"done"`        // whether the answer is here
	Gone    bool   `dynamodbav:"gone,omitempty"`
	Lease   int64  `dynamodbav:"until"`        // epoch milliseconds
	Created int64  `dynamodbav:"ct,omitempty"` // epoch milliseconds
	Expires int64  `dynamodbav:"expires"`      // epoch seconds
	records.Body
}

const (
	keyDigest  = "d"
	keyNonce   = "n"
	keyLog     = "l"
	keyDone    = "done"
	keyErased  = "gone"
	keyLease   = "until"
	keyExpires = "expires"
	keyInline  = "b" // these three belong to the body
	keyBlob    = "x"
	keyLarge   = "xs"
)

func (i *keyItem) user() string   { return i.PK[len(prefixClaim):] }
func (i *keyItem) key() table.Key { return table.NewKey(i.PK, i.SK) }

func (s *Store) keyItem(ctx context.Context, c idempotency.Claim) keyItem {
	k, now := claimKey(c.UserID, c.Name()), s.Now()
	return keyItem{
		PK: k.PK, SK: k.SK, Digest: c.Digest, Nonce: c.Nonce, Log: c.Log,
		Lease: now.Add(leaseOf(ctx)).UnixMilli(), Created: now.UnixMilli(),
		Expires: now.Add(idempotency.Lifetime).Unix(),
	}
}

// leaseOf returns how long work within a context can continue: until its function
// is stopped.
func leaseOf(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return max(0, time.Until(end)) + idempotency.LeaseMargin
	}
	return idempotency.Lease
}

// Begin implements idempotency.Store.
func (s *Store) Begin(ctx context.Context, c idempotency.Claim) (*idempotency.Answer, error) {
	err := s.DB.Put(ctx, s.keyItem(ctx, c), table.ItemNotExists())
	if err == nil {
		return nil, nil
	}
	var old keyItem
	if errors.Is(err, table.ErrConditionFailed) {
		_, err = records.Found(err, &old)
	}
	if err != nil {
		return nil, fmt.Errorf("take idempotency key: %w", err)
	}
	return s.beginAfter(ctx, c, old)
}

// beginAfter begins a request whose key was used before. It returns the stored
// answer, or nil if the request takes the key over.
func (s *Store) beginAfter(ctx context.Context, c idempotency.Claim, old keyItem) (*idempotency.Answer, error) {
	now := s.Now()
	switch {
	case old.Expires <= now.Unix():
		return nil, s.takeOver(ctx, c, old)
	case old.Gone:
		return nil, keyGone()
	case old.Digest != c.Digest:
		return nil, fault.Field(fault.IdempotencyKeyReused, "Idempotency-Key", "was used for another request body")
	case old.Log != "" && old.Log != c.Log:
		return nil, keyGone()
	}
	answer, err := s.keptAnswer(ctx, &old)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer of an idempotency key: %w", err)
	case answer != nil:
		return answer, nil
	case c.Rebuilds:
		return &idempotency.Answer{Unkept: true, Lease: max(0, time.UnixMilli(old.Lease).Sub(now))}, nil
	case old.Lease <= now.UnixMilli():
		return nil, s.takeOver(ctx, c, old)
	}
	return nil, idempotency.InUse(time.UnixMilli(old.Lease).Sub(now))
}

// takeOver takes over a key from a request that died or is a day old.
func (s *Store) takeOver(ctx context.Context, c idempotency.Claim, old keyItem) error {
	asRead := []table.Condition{
		table.Equal(table.Path{keyLease}, old.Lease),
		table.Equal(table.Path{keyDone}, old.Done),
		table.Equal(table.Path{keyExpires}, old.Expires),
	}
	if !old.Gone {
		asRead = append(asRead, table.NotExists(table.Path{keyErased}))
	}
	err := s.DB.Put(ctx, s.keyItem(ctx, c), asRead...)
	if errors.Is(err, table.ErrConditionFailed) {
		return idempotency.InUse(time.Second)
	}
	return err
}

func keyGone() error {
	return fault.New(fault.OutcomeGone, "what the request with this Idempotency-Key made or was about is gone")
}

// Finish implements idempotency.Store. If the key was taken over, or was deleted
// with the session that the request created, the answer is not stored.
func (s *Store) Finish(ctx context.Context, c idempotency.Claim, a idempotency.Answer) error {
	var err error
	if c.Log != "" {
		err = s.keepWithSession(ctx, c, a)
	} else {
		err = s.keepWithClaim(ctx, c, a)
	}
	if err != nil {
		return fmt.Errorf("keep the answer of an idempotency key: %w", err)
	}
	return nil
}

func (s *Store) keepWithClaim(ctx context.Context, c idempotency.Claim, a idempotency.Answer) error {
	item := s.keyItem(ctx, c)
	item.Done = true
	var err error
	if item.Body, err = s.content.Pack(ctx, item.PK, a, item.Expires); err != nil {
		return err
	}
	return records.Ignoring(s.DB.Put(ctx, item, held(c)), table.ErrConditionFailed)
}

// held is the condition that an attempt still holds its key.
func held(c idempotency.Claim) table.Condition {
	return table.And(table.Equal(table.Path{keyNonce}, c.Nonce), table.NotExists(table.Path{keyErased}))
}

// Release implements idempotency.Store.
func (s *Store) Release(ctx context.Context, c idempotency.Claim) error {
	err := s.DB.Delete(ctx, claimKey(c.UserID, c.Name()), held(c))
	if err != nil && !errors.Is(err, table.ErrConditionFailed) {
		return fmt.Errorf("give back idempotency key: %w", err)
	}
	return nil
}
