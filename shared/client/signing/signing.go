// Package signing signs what is sent to others with ES256 (RFC 7518), and says
// which public keys verify it (RFC 7517). The keys are made when they are first
// needed and replaced by age, whoever needs one first; all instances share them
// through a Store (ADR 10).
package signing

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/rethread/rethread/shared/base/fault"
)

// Store keeps the keys, opaque and as one.
type Store interface {
	// SigningKeys reads what was put last, and its version; 0 before the first.
	SigningKeys(ctx context.Context) (keys []byte, version int64, err error)
	// PutSigningKeys replaces that version; fault.Conflict where it is no more
	// the last.
	PutSigningKeys(ctx context.Context, keys []byte, version int64) error
}

// CacheTime is how long keys that were read are used before they are read again,
// and how long readers of the public ones may keep them. It is far less than the
// time between a key's publication and its first use.
const CacheTime = 5 * time.Minute

// Keys are the keys to sign with. They are safe for concurrent use.
type Keys struct {
	store Store
	now   func() time.Time
	rand  io.Reader

	mu    sync.Mutex
	ring  ring
	until time.Time // the ring is read again
}

// New are the keys of a store.
func New(store Store, now func() time.Time) *Keys {
	return &Keys{store: store, now: now, rand: rand.Reader}
}

// Sign is a JSON web token with these claims, in its compact form.
func (k *Keys) Sign(ctx context.Context, claims any) (string, error) {
	r, err := k.read(ctx)
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: r.current(k.now())}, (&jose.SignerOptions{}).WithType("JWT"),
	)
	if err != nil {
		return "", fmt.Errorf("prepare to sign: %w", err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return token, nil
}

// Public are the keys that verify what is signed now, was signed lately, or will
// be soon.
func (k *Keys) Public(ctx context.Context) (jose.JSONWebKeySet, error) {
	r, err := k.read(ctx)
	if err != nil {
		return jose.JSONWebKeySet{}, err
	}
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, one := range r.Keys {
		set.Keys = append(set.Keys, one.Key.Public())
	}
	return set, nil
}

// read is the ring as it should be now.
func (k *Keys) read(ctx context.Context) (ring, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if now.Before(k.until) {
		return k.ring, nil
	}
	for {
		r, err := k.renew(ctx, now)
		if errors.Is(err, fault.Of(fault.Conflict)) {
			continue // another instance was faster: its keys are due no more
		}
		if err != nil {
			return ring{}, err
		}
		k.ring, k.until = r, now.Add(CacheTime)
		return r, nil
	}
}

// renew reads the ring and puts it as it should be, where it is not.
func (k *Keys) renew(ctx context.Context, now time.Time) (ring, error) {
	raw, version, err := k.store.SigningKeys(ctx)
	if err != nil {
		return ring{}, err
	}
	var r ring
	if version > 0 {
		if err := json.Unmarshal(raw, &r); err != nil {
			return ring{}, fmt.Errorf("decode the signing keys: %w", err)
		}
	}
	changed, err := r.turn(now, k.rand)
	if err != nil || !changed {
		return r, err
	}
	if raw, err = json.Marshal(r); err != nil {
		return ring{}, fmt.Errorf("encode the signing keys: %w", err)
	}
	return r, k.store.PutSigningKeys(ctx, raw, version)
}
