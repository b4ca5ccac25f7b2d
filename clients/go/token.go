package rethread

import (
	"context"
	"fmt"
	"sync"
)

// TokenSource returns a bearer token. It is called for each request, so it should
// cache. After a 401 it is called once more with the rejected token and should
// return another; rejected is "" otherwise. Requests at the same time share one
// call, whose context does not end with that of a single request. A token that no header
// can have fails with ErrInvalid, before any request.
type TokenSource func(ctx context.Context, rejected string) (string, error)

// StaticToken returns a source that always returns the same token.
func StaticToken(token string) TokenSource {
	return func(context.Context, string) (string, error) { return token, nil }
}

// tokens calls a TokenSource, once for requests at the same time.
type tokens struct {
	source TokenSource

	mu      sync.Mutex
	pending map[string]*pendingToken // by the rejected token
}

// pendingToken is a call of the source. token and err are set before done is closed.
type pendingToken struct {
	done  chan struct{}
	token string
	err   error
}

func newTokens(source TokenSource) *tokens {
	return &tokens{source: source, pending: map[string]*pendingToken{}}
}

// get returns a token, other than the rejected one if the source has another.
func (t *tokens) get(ctx context.Context, rejected string) (string, error) {
	p := t.ask(ctx, rejected)
	select {
	case <-p.done:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if p.err != nil {
		return "", fmt.Errorf("get a token: %w", p.err)
	}
	return p.token, checkToken(p.token)
}

// ask returns the pending call of the source, or begins one. The call is not bound to
// the request that began it, because others may wait for it.
func (t *tokens) ask(ctx context.Context, rejected string) *pendingToken {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.pending[rejected]; p != nil {
		return p
	}
	p := &pendingToken{done: make(chan struct{})}
	t.pending[rejected] = p
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
	go func() {
		defer cancel()
		p.token, p.err = t.source(asking, rejected)
		t.mu.Lock()
		delete(t.pending, rejected)
		t.mu.Unlock()
		close(p.done)
	}()
	return p
}
