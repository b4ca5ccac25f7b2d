package receiver

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
)

// Secrets have the format of Standard Webhooks (https://www.standardwebhooks.com):
// whsec_ and 24 to 64 bytes in base64.
const (
	secretPrefix   = "whsec_"
	leastSecret    = 24
	mostSecret     = 64
	newSecretBytes = 32
)

const (
	// KeepSecret is how long messages are also signed with a replaced secret.
	KeepSecret = 24 * time.Hour
	// maxPrevious is the maximum number of replaced secrets that are kept.
	maxPrevious = 4
)

// Secret is a key that signs messages to a webhook.
type Secret string

// NewSecret generates a secret from random bytes.
func NewSecret(random io.Reader) (Secret, error) {
	raw := make([]byte, newSecretBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("make a secret: %w", err)
	}
	return Secret(secretPrefix + base64.StdEncoding.EncodeToString(raw)), nil
}

// ParseSecret parses a secret that a user chose. The fault contains nothing of it.
func ParseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !ok || err != nil || len(raw) < leastSecret || len(raw) > mostSecret || strings.ContainsAny(encoded, "\r\n") {
		return "", fault.Field(fault.Invalid, "/secret",
			"must be %s and %d to %d bytes in base64", secretPrefix, leastSecret, mostSecret)
	}
	return Secret(text), nil
}

// String hides the secret, for logs that it is passed to by mistake.
func (s Secret) String() string { return secretPrefix + "…" }

// Secrets are the secrets of one webhook. Times are epoch milliseconds.
type Secrets struct {
	Current     Secret
	CreatedTime int64
	// Previous are the replaced ones, latest first.
	Previous []PreviousSecret
	// Version counts the rotations, from 1.
	Version int64
}

// PreviousSecret is a replaced secret.
type PreviousSecret struct {
	Secret      Secret
	ExpiresTime int64
}

// Rotation replaces a secret.
type Rotation struct {
	Next Secret
	// Revoke ends all earlier secrets at once, after one has leaked.
	Revoke bool
}

// Rotate replaces the current secret, which is kept for KeepSecret.
func (s Secrets) Rotate(r Rotation, now time.Time) Secrets {
	next := Secrets{Current: r.Next, CreatedTime: now.UnixMilli(), Version: s.Version + 1}
	if r.Revoke {
		return next
	}
	next.Previous = append(next.Previous, PreviousSecret{Secret: s.Current, ExpiresTime: now.Add(KeepSecret).UnixMilli()})
	for _, p := range s.valid(now) {
		if len(next.Previous) < maxPrevious {
			next.Previous = append(next.Previous, p)
		}
	}
	return next
}

// At returns the secrets to sign with at a time, the current one first.
func (s Secrets) At(now time.Time) []Secret {
	all := []Secret{s.Current}
	for _, p := range s.valid(now) {
		all = append(all, p.Secret)
	}
	return all
}

// valid returns the previous secrets that have not expired.
func (s Secrets) valid(now time.Time) []PreviousSecret {
	var out []PreviousSecret
	for _, p := range s.Previous {
		if p.ExpiresTime > now.UnixMilli() {
			out = append(out, p)
		}
	}
	return out
}
