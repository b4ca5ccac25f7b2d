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
	// freshFor is how long keys are used without a request to the issuer, and goodFor
	// how long while the issuer does not answer. The HTTP API caches keys as long.
	freshFor = time.Hour
	goodFor  = 2 * time.Hour
	// restAfterRead limits what tokens with invented key ids cost the issuer: for
	// this long after the keys were read, other ids count as unknown.
	restAfterRead = 30 * time.Second
	// restAfterFailure is the same after the issuer did not answer.
	restAfterFailure = 5 * time.Second
	fetchTimeout     = 3 * time.Second
)

// keys caches an issuer's keys between invocations. They are read for the first
// token, when they are old, and when a token names another key: one request at a
// time, with a pause after each.
type keys struct {
	source source
	now    func() time.Time
	log    *slog.Logger
	flight singleflight.Group

	mu      sync.Mutex // guards the rest
	set     jose.JSONWebKeySet
	read    time.Time // when the issuer last returned its keys
	tried   time.Time // when the last request began
	failure error     // result of that request
}

// find returns the keys with an id that may verify an algorithm. The error is
// ErrUnavailable if only the issuer could decide.
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

// known returns the cached keys and their age.
func (k *keys) known(id, algorithm string) (found jwt.VerificationKeySet, age time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range k.set.Key(id) {
		public, ok := key.Key.(*rsa.PublicKey)
		if ok && (key.Use == "" || key.Use == "sig") && (key.Algorithm == "" || key.Algorithm == algorithm) {
			found.Keys = append(found.Keys, public)
		}
	}
	return found, k.wall().Sub(k.read)
}

// refresh reads the keys, unless they were read just now. Concurrent callers wait for
// the same request.
func (k *keys) refresh(ctx context.Context) error {
	// One caller's cancellation must not fail the request for the others.
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
	k.tried, k.failure = k.wall(), err
	if err == nil {
		k.set, k.read = set, k.tried
	}
	return err
}

// resting reports whether the last request to the issuer is too recent for another,
// and returns its result.
func (k *keys) resting() (rests bool, failure error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rest := restAfterRead
	if k.failure != nil {
		rest = restAfterFailure
	}
	return k.wall().Sub(k.tried) < rest, k.failure
}

// wall returns the time of day alone: a monotonic clock may stand still while an instance
// is frozen.
func (k *keys) wall() time.Time { return k.now().Round(0) }
