package rethread

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	defaultTimeout = 60 * time.Second // for a call with all its attempts
	attemptTimeout = 30 * time.Second // the gateway answers within that time
	maxAttempts    = 5
	// maxAnswer is the limit of a decompressed body in bytes. An answer has at most 6
	// MB as sent.
	maxAnswer = 256 << 20
)

// transport sends requests: it adds the token, limits the time, and repeats what is
// safe to repeat.
type transport struct {
	http      *http.Client
	tokens    *tokens
	user      string // that a service acts for; "" is the token's
	timeout   time.Duration
	random    func() float64
	addresses *addresses
}

// answer is a successful response whose body has been read.
type answer struct {
	header http.Header
	body   []byte
}

// do makes a call and reads its answer.
func (t *transport) do(ctx context.Context, c call, opts []Option) (answer, error) {
	var got answer
	err := t.try(ctx, c, opts, func(res *http.Response) error {
		defer res.Body.Close() //nolint:errcheck // nothing depends on it
		body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
		switch {
		case err != nil:
			return noAnswer(err)
		case len(body) > maxAnswer:
			return fmt.Errorf("the answer has more than %d bytes", maxAnswer)
		}
		got = answer{res.Header, body}
		return nil
	})
	return got, err
}

// open makes a call and returns the response when its headers have arrived. Its body
// is read without a time limit until ctx ends.
func (t *transport) open(ctx context.Context, c call, opts []Option) (*http.Response, error) {
	var got *http.Response
	err := t.try(ctx, c, opts, func(res *http.Response) error {
		got = res
		return nil
	})
	return got, err
}

// try sends a call until an attempt succeeds or none may follow, and passes the
// successful response to read.
func (t *transport) try(ctx context.Context, c call, opts []Option, read func(*http.Response) error) error {
	o := options{timeout: t.timeout}
	for _, set := range opts {
		set(&o)
	}
	end := time.Now().Add(o.timeout)
	p, err := t.prepare(ctx, c, o)
	if err != nil {
		return fmt.Errorf("%s %s: %w", c.method, c.path, err)
	}
	for failures := 0; ; {
		err := t.attempt(ctx, p, o, failures > 0, min(max(time.Until(end), time.Millisecond), attemptTimeout), read)
		if err == nil {
			return nil
		}
		failures++
		delay, again := t.delay(err, p, o, failures)
		if !again || failures >= c.most() || !time.Now().Add(delay).Before(end) {
			return fmt.Errorf("%s %s: %w", c.method, c.path, err)
		}
		if err := sleep(ctx, delay); err != nil {
			return fmt.Errorf("%s %s: %w", c.method, c.path, err)
		}
	}
}

func (c call) most() int {
	if c.attempts > 0 {
		return c.attempts
	}
	return maxAttempts
}

func (t *transport) prepare(ctx context.Context, c call, o options) (*prepared, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, &Error{Detail: fmt.Sprintf("no answer within %v", o.timeout), cause: ErrTimeout})
	defer cancel()
	p, err := c.prepare(o)
	if err != nil {
		return nil, err
	}
	address, err := t.address(ctx, c.base)
	p.address = address + p.address
	return p, err
}

// attempt sends a call once, or twice if its token is renewed, and reads the answer
// within a time limit. A response that read keeps stays open until its body is closed or
// ctx ends.
func (t *transport) attempt(ctx context.Context, p *prepared, o options, again bool, limit time.Duration, read func(*http.Response) error) error {
	limited, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(&Error{Detail: fmt.Sprintf("no answer within %v", limit), cause: ErrTimeout}) })
	defer timer.Stop()
	res, err := t.authorized(limited, p, o.rejected)
	if err == nil {
		res.Body = releasing{res.Body, func() { cancel(nil) }}
	}
	if err == nil && !succeeded(res, p, again) {
		err = errorOf(res)
	}
	if err == nil {
		if o.response != nil {
			o.response(res)
		}
		err = read(res)
	}
	if err != nil {
		cancel(err)
	}
	return causeOf(ctx, limited, err)
}

// causeOf returns what ended a request that has failed without an answer: the caller's
// context, the time limit, or err itself.
func causeOf(ctx, limited context.Context, err error) error {
	var failed *Error
	if !errors.As(err, &failed) || failed.Status != 0 {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if ended := context.Cause(limited); errors.Is(ended, ErrTimeout) {
		return ended
	}
	return err
}

// releasing is the body of a response. It releases the request when it is closed.
type releasing struct {
	io.ReadCloser

	release func()
}

// Close implements io.Closer.
func (b releasing) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// succeeded reports whether a response is a success: also 404 of a repeated DELETE,
// whose first attempt has deleted the resource.
func succeeded(res *http.Response, p *prepared, again bool) bool {
	return res.StatusCode < 300 || again && p.repeat == repeatDelete && res.StatusCode == http.StatusNotFound
}

// authorized sends a request with a token, and once more with another if it is
// rejected. A token that is known to be rejected is not sent.
func (t *transport) authorized(ctx context.Context, p *prepared, rejected string) (*http.Response, error) {
	if p.public {
		return t.sendPublic(ctx, p)
	}
	token, err := t.tokens.get(ctx, rejected)
	if err != nil {
		return nil, err
	}
	res, err := t.send(ctx, p, token)
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		return res, err
	}
	renewed, err := t.tokens.get(ctx, token)
	if err != nil || renewed == token {
		if err != nil {
			_ = res.Body.Close() // its answer is of no interest
			return nil, err
		}
		return res, nil
	}
	_ = res.Body.Close() // its answer is of no interest
	return t.send(ctx, p, renewed)
}

// sendPublic sends a request without a token, whose answer must not come from elsewhere.
func (t *transport) sendPublic(ctx context.Context, p *prepared) (*http.Response, error) {
	req, err := p.request(ctx)
	if err != nil {
		return nil, err
	}
	client := *t.http
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		return nil, noAnswer(err)
	}
	return res, nil
}

func (t *transport) send(ctx context.Context, p *prepared, token string) (*http.Response, error) {
	req, err := p.request(ctx)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if t.user != "" {
		req.Header.Set("Rethread-User", url.PathEscape(t.user))
	}
	res, err := t.http.Do(req)
	if err != nil {
		return nil, noAnswer(err)
	}
	return res, nil
}
