package webhook

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rethread/rethread/shared/base/fault"
)

// Secrets are written as Standard Webhooks has them
// (https://www.standardwebhooks.com): whsec_ and 24 to 64 bytes in base64.
const (
	secretPrefix   = "whsec_"
	leastSecret    = 24
	mostSecret     = 64
	newSecretBytes = 32
)

const (
	// KeepSecret is how long messages are signed with a secret, too, after it was
	// replaced.
	KeepSecret = 24 * time.Hour
	// maxPrevious is how many replaced secrets are kept at most.
	maxPrevious = 4
)

// Secret is what messages to a webhook are signed with.
type Secret string

// NewSecret makes one of random bytes.
func NewSecret(random io.Reader) (Secret, error) {
	raw := make([]byte, newSecretBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("make a secret: %w", err)
	}
	return Secret(secretPrefix + base64.StdEncoding.EncodeToString(raw)), nil
}

// ParseSecret reads one that a user gave. The fault repeats nothing of it.
func ParseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !ok || err != nil || len(raw) < leastSecret || len(raw) > mostSecret || strings.ContainsAny(encoded, "\r\n") {
		return "", fault.Field(fault.Invalid, "/secret",
			"must be %s and %d to %d bytes in base64", secretPrefix, leastSecret, mostSecret)
	}
	return Secret(text), nil
}

// String keeps secrets out of logs that they are given to by mistake.
func (s Secret) String() string { return secretPrefix + "…" }

// Secrets are those of one webhook. Times are epoch milliseconds.
type Secrets struct {
	Current     Secret
	CreatedTime int64
	// Previous are those that were replaced, the latest first.
	Previous []Previous
	// Version counts the rotations, from 1.
	Version int64
}

// Previous is a secret that was replaced.
type Previous struct {
	Secret      Secret
	ExpiresTime int64
}

// Rotation replaces a secret.
type Rotation struct {
	Next Secret
	// Revoke ends all earlier ones at once: for one that has leaked.
	Revoke bool
}

// Rotate replaces the current secret, which is kept for KeepSecret.
func (s Secrets) Rotate(r Rotation, now time.Time) Secrets {
	next := Secrets{Current: r.Next, CreatedTime: now.UnixMilli(), Version: s.Version + 1}
	if r.Revoke {
		return next
	}
	next.Previous = append(next.Previous, Previous{Secret: s.Current, ExpiresTime: now.Add(KeepSecret).UnixMilli()})
	for _, p := range s.valid(now) {
		if len(next.Previous) < maxPrevious {
			next.Previous = append(next.Previous, p)
		}
	}
	return next
}

// At are the secrets to sign with at a time, the current one first.
func (s Secrets) At(now time.Time) []Secret {
	all := []Secret{s.Current}
	for _, p := range s.valid(now) {
		all = append(all, p.Secret)
	}
	return all
}

// valid are the previous secrets that have not expired.
func (s Secrets) valid(now time.Time) []Previous {
	var out []Previous
	for _, p := range s.Previous {
		if p.ExpiresTime > now.UnixMilli() {
			out = append(out, p)
		}
	}
	return out
}
