package outbound_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/client/outbound"
)

// fakeKeys is a store of one value.
type fakeKeys struct {
	mu      sync.Mutex
	keys    []byte
	version int64
	fails   error
	race    func() // runs before the next put
}

func (s *fakeKeys) SigningKeys(context.Context) ([]byte, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys, s.version, s.fails
}

func (s *fakeKeys) PutSigningKeys(_ context.Context, keys []byte, version int64) error {
	if race := s.race; race != nil {
		s.race = nil
		race()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if version != s.version {
		return fault.New(fault.Conflict, "replaced")
	}
	s.keys, s.version = keys, version+1
	return nil
}

// mustSign signs, and returns the key's id.
func mustSign(t rapid.TB, k *outbound.SigningKeys) (token, key string) {
	t.Helper()
	token, err := k.Sign(context.Background(), map[string]any{"iss": "me"})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	return token, parsed.Headers[0].KeyID
}

func mustPublic(t rapid.TB, k *outbound.SigningKeys) []string {
	t.Helper()
	set, err := k.Public(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, key := range set.Keys {
		if !key.IsPublic() || !key.Valid() {
			t.Fatalf("not a public key: %+v", key)
		}
		ids = append(ids, key.KeyID)
	}
	return ids
}

func TestKeys(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	t.Run("the first caller generates a key for all", func(t *testing.T) {
		t.Parallel()
		s := &fakeKeys{}
		one, other := outbound.NewSigningKeys(s, func() time.Time { return start }), outbound.NewSigningKeys(s, func() time.Time { return start })
		public := mustPublic(t, one)
		token, key := mustSign(t, other)
		if len(public) != 1 || public[0] != key {
			t.Errorf("signed with %s, published %v", key, public)
		}
		set, err := one.Public(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
		if err != nil {
			t.Fatal(err)
		}
		var claims map[string]string
		if err := parsed.Claims(set, &claims); err != nil || claims["iss"] != "me" {
			t.Errorf("verified %v, %v", claims, err)
		}
	})
	t.Run("two concurrent callers use the key that was stored first", func(t *testing.T) {
		t.Parallel()
		s := &fakeKeys{}
		clock := func() time.Time { return start }
		one, other := outbound.NewSigningKeys(s, clock), outbound.NewSigningKeys(s, clock)
		var first string
		s.race = func() { _, first = mustSign(t, other) }
		if _, key := mustSign(t, one); key != first {
			t.Errorf("one uses %s, the other %s", key, first)
		}
	})
	t.Run("caches the keys", func(t *testing.T) {
		t.Parallel()
		s, now := &fakeKeys{}, start
		k := outbound.NewSigningKeys(s, func() time.Time { return now })
		_, before := mustSign(t, k)
		s.fails = errors.New("no table")
		now = now.Add(outbound.KeyCacheTime - time.Second)
		if _, key := mustSign(t, k); key != before {
			t.Error("another key")
		}
		now = now.Add(time.Second)
		if _, err := k.Sign(t.Context(), nil); !errors.Is(err, s.fails) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("does not publish the private key", func(t *testing.T) {
		t.Parallel()
		s := &fakeKeys{}
		k := outbound.NewSigningKeys(s, func() time.Time { return start })
		mustSign(t, k)
		set, err := k.Public(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, err := set.Keys[0].MarshalJSON()
		if err != nil || strings.Contains(string(text), `"d"`) || !strings.Contains(string(s.keys), `"d"`) {
			t.Errorf("published %s, %v", text, err)
		}
	})
}

// At any time, a receiver that read the public keys in the last hour can verify what
// is signed now, and everything that was signed in the last day can be verified.
func TestRotation(t *testing.T) {
	t.Parallel()
	property.Check(t, func(rt *rapid.T) {
		s, now := &fakeKeys{}, time.Unix(1_800_000_000, 0)
		clock := func() time.Time { return now }
		known := mustPublic(rt, outbound.NewSigningKeys(s, clock)) // by a receiver, at most an hour ago
		readAt := now
		signed := map[string]time.Time{} // last use, by key
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(10*24*time.Hour)).Draw(rt, "pass")))
			_, key := mustSign(rt, outbound.NewSigningKeys(s, clock))
			public := mustPublic(rt, outbound.NewSigningKeys(s, clock))
			if now.Sub(readAt) < time.Hour && !slices.Contains(known, key) {
				rt.Fatalf("%s is used, and was not known %s ago", key, now.Sub(readAt))
			}
			known, readAt = public, now
			signed[key] = now
			for id, at := range signed {
				if now.Sub(at) <= 24*time.Hour && !slices.Contains(public, id) {
					rt.Fatalf("%s was used %s ago and is not public", id, now.Sub(at))
				}
			}
			if len(public) > 3 {
				rt.Fatalf("%d keys are public", len(public))
			}
		}
	})
}

func TestRotationByAge(t *testing.T) {
	t.Parallel()
	s, now := &fakeKeys{}, time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	seen := map[string]int{}
	for range 365 {
		_, key := mustSign(t, outbound.NewSigningKeys(s, clock))
		seen[key]++
		now = now.Add(24 * time.Hour)
	}
	if len(seen) < 12 || len(seen) > 13 {
		t.Errorf("%d keys in a year", len(seen))
	}
}
