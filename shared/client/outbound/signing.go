package outbound

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

// KeyStore stores the keys as one opaque value.
type KeyStore interface {
	// SigningKeys returns the latest value and its version; 0 before the first.
	SigningKeys(ctx context.Context) (keys []byte, version int64, err error)
	// PutSigningKeys replaces that version; it returns fault.Conflict if it is no
	// longer the latest.
	PutSigningKeys(ctx context.Context, keys []byte, version int64) error
}

// KeyCacheTime is how long the keys are used before they are read again, and how long
// receivers may cache the public keys. It is far shorter than the time between a
// key's publication and its first use.
const KeyCacheTime = 5 * time.Minute

// SigningKeys sign messages with ES256 (RFC 7518) and publish the public keys that verify
// them (RFC 7517). The keys are generated when they are first used and replaced by age, by
// whichever instance uses them first; all instances share them through a KeyStore (ADR 10).
// They are safe for concurrent use.
type SigningKeys struct {
	store KeyStore
	now   func() time.Time
	rand  io.Reader

	mu    sync.Mutex
	ring  ring
	until time.Time // when the ring is read again
}

// NewSigningKeys returns the keys of a store.
func NewSigningKeys(store KeyStore, now func() time.Time) *SigningKeys {
	return &SigningKeys{store: store, now: now, rand: rand.Reader}
}

// Sign returns a JSON web token with these claims, in its compact form.
func (k *SigningKeys) Sign(ctx context.Context, claims any) (string, error) {
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

// Public returns the keys that verify messages that are signed now, were signed
// recently, or will be signed soon.
func (k *SigningKeys) Public(ctx context.Context) (jose.JSONWebKeySet, error) {
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

// read returns the ring, with the keys that are due now.
func (k *SigningKeys) read(ctx context.Context) (ring, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now().Round(0) // of day: a monotonic clock may stand still while frozen
	if now.Before(k.until) {
		return k.ring, nil
	}
	for {
		r, err := k.renew(ctx, now)
		if errors.Is(err, fault.Of(fault.Conflict)) {
			continue // another instance was faster: its keys are no longer due
		}
		if err != nil {
			return ring{}, err
		}
		k.ring, k.until = r, now.Add(KeyCacheTime)
		return r, nil
	}
}

// renew reads the ring and updates it if a key is due.
func (k *SigningKeys) renew(ctx context.Context, now time.Time) (ring, error) {
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
