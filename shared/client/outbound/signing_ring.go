package outbound

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// use is how long a key signs.
	use = 30 * 24 * time.Hour
	// lead is how long a key is public before its first use, so that receivers that
	// cache the public keys know it by then.
	lead = 24 * time.Hour
	// after is how long a key is public after its last use: signed messages may be on
	// their way, or wait to be read.
	after = 48 * time.Hour
)

// ring is all keys, the oldest first. Only the very first key may be used at once.
type ring struct {
	Keys []entry `json:"keys"`
}

// entry is a key with the time of its first use, in epoch milliseconds.
type entry struct {
	Key  jose.JSONWebKey `json:"key"` // private
	From int64           `json:"from"`
}

func (e entry) from() time.Time { return time.UnixMilli(e.From) }

// current returns the key to sign with.
func (r ring) current(now time.Time) jose.JSONWebKey {
	i := len(r.Keys) - 1
	for i > 0 && r.Keys[i].from().After(now) {
		i--
	}
	return r.Keys[i].Key
}

// turn adds and removes keys that are due, and reports whether it changed the ring.
func (r *ring) turn(now time.Time, random io.Reader) (changed bool, err error) {
	from := now
	if n := len(r.Keys); n > 0 {
		if from = r.Keys[n-1].from().Add(use); from.Before(now.Add(lead)) {
			from = now.Add(lead)
		}
	}
	if !from.After(now.Add(lead)) {
		key, err := newKey(random)
		if err != nil {
			return false, err
		}
		r.Keys, changed = append(r.Keys, entry{Key: key, From: from.UnixMilli()}), true
	}
	for len(r.Keys) > 1 && r.Keys[1].from().Add(after).Before(now) {
		r.Keys, changed = slices.Delete(r.Keys, 0, 1), true
	}
	return changed, nil
}

// newKey generates a key whose id is its thumbprint (RFC 7638).
func newKey(random io.Reader) (jose.JSONWebKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return jose.JSONWebKey{}, fmt.Errorf("make a signing key: %w", err)
	}
	key := jose.JSONWebKey{Key: private, Algorithm: string(jose.ES256), Use: "sig"}
	print, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		return jose.JSONWebKey{}, fmt.Errorf("name a signing key: %w", err)
	}
	key.KeyID = base64.RawURLEncoding.EncodeToString(print)
	return key, nil
}
