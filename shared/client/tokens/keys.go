package tokens

import (
	"context"
	"crypto/rsa"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/sync/singleflight"
)

const (
	// freshFor is how long keys are used without a question, and goodFor how
	// long while the issuer does not answer one. The HTTP API keeps keys as long.
	freshFor = time.Hour
	goodFor  = 2 * time.Hour
	// restAfterRead bounds what tokens with made-up keys cost the issuer: after a
	// reading, a key that was not there is taken for unknown this long.
	restAfterRead = 30 * time.Second
	// restAfterFailure is the same for an issuer that did not answer.
	restAfterFailure = 5 * time.Second
	fetchTimeout     = 3 * time.Second
)

// keys are an issuer's keys, kept between invocations. They are read when the
// first token comes, when they are old, and when a token names another: one
// reading at a time, with a rest after each.
type keys struct {
	source source
	now    func() time.Time
	log    *slog.Logger
	flight singleflight.Group

	mu      sync.Mutex // guards the rest
	set     jose.JSONWebKeySet
	read    time.Time // when the issuer last gave its keys
	tried   time.Time // when it was last asked
	failure error     // of that time
}

// find returns the keys with an id that an algorithm may be checked with. The
// error is ErrUnavailable where only the issuer could say more.
func (k *keys) find(ctx context.Context, id, algorithm string) (jwt.VerificationKeySet, error) {
	found, age := k.known(id, algorithm)
	if len(found.Keys) > 0 && age < freshFor {
		return found, nil
	}
	err := k.refresh(ctx)
	found, age = k.known(id, algorithm)
	switch {
	case len(found.Keys) > 0 && age < goodFor:
		return found, nil
	case err != nil:
		return jwt.VerificationKeySet{}, err
	default:
		return jwt.VerificationKeySet{}, fmt.Errorf("the issuer has no key %.64q for %s", id, algorithm)
	}
}

// known looks among the keys at hand and says how old they are.
func (k *keys) known(id, algorithm string) (found jwt.VerificationKeySet, age time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range k.set.Key(id) {
		public, ok := key.Key.(*rsa.PublicKey)
		if ok && (key.Use == "" || key.Use == "sig") && (key.Algorithm == "" || key.Algorithm == algorithm) {
			found.Keys = append(found.Keys, public)
		}
	}
	return found, k.now().Sub(k.read)
}

// refresh reads the keys, unless that was done just now. Who comes while another
// reads waits for that reading.
func (k *keys) refresh(ctx context.Context) error {
	// A caller that gives up must not spoil the reading for the others.
	reading := context.WithoutCancel(ctx)
	done := k.flight.DoChan("", func() (any, error) { return nil, k.fetch(reading) })
	select {
	case result := <-done:
		return result.Err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
}

func (k *keys) fetch(ctx context.Context) error {
	if rests, failure := k.resting(); rests {
		return failure
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	set, err := k.source.fetch(ctx)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		k.log.WarnContext(ctx, "the issuer's keys were not read", "error", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tried, k.failure = k.now(), err
	if err == nil {
		k.set, k.read = set, k.tried
	}
	return err
}

// resting says whether the issuer was asked so lately that it is left alone,
// and what came of it then.
func (k *keys) resting() (rests bool, failure error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rest := restAfterRead
	if k.failure != nil {
		rest = restAfterFailure
	}
	return k.now().Sub(k.tried) < rest, k.failure
}
