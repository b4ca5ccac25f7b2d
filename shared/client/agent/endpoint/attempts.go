package endpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.opentelemetry.io/otel/propagation"

	"github.com/rethread/rethread/shared/domain/run"
)

// post sends a request until it is answered or must not be repeated. cancel must be
// the function that cancels ctx.
func (e *Endpoint) post(ctx context.Context, cancel context.CancelCauseFunc, body Body) (*answer, error) {
	if body.Size() > 0 {
		run.Send(ctx, run.Sending{Method: cmp.Or(e.Method, http.MethodPost), Path: e.path(), Size: body.Size(), Body: body.Reader})
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.Multiplier, wait.RandomizationFactor = e.timeouts.Backoff, 2, 0.5
	resp, err := backoff.Retry(ctx, //nolint:bodyclose // the reader of the answer closes it
		func() (*http.Response, error) { return e.try(ctx, cancel, body) },
		backoff.WithBackOff(wait), backoff.WithMaxTries(maxTries), backoff.WithMaxElapsedTime(0))
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var failed *Error // the agent's error, without the marks for the retries
		if errors.As(err, &failed) {
			return nil, failed
		}
		return nil, err
	}
	mediaType, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		mediaType = "" // treated like a missing one: the reader of the body reports it
	}
	return &answer{mediaType, resp.Body}, nil
}

// try sends the request, and once more if the agent refuses a secret that has been
// replaced since it was read.
func (e *Endpoint) try(ctx context.Context, cancel context.CancelCauseFunc, body Body) (*http.Response, error) {
	header, err := e.secretHeader(ctx)
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	resp, err := e.send(ctx, cancel, body, header)
	if resp != nil && resp.StatusCode == http.StatusUnauthorized && e.renew(ctx, header) {
		_ = resp.Body.Close()
		if header, err = e.secretHeader(ctx); err != nil {
			return nil, backoff.Permanent(err)
		}
		resp, err = e.send(ctx, cancel, body, header)
	}
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, e.refused(resp)
	}
	return resp, nil
}

// send sends the request once.
func (e *Endpoint) send(ctx context.Context, cancel context.CancelCauseFunc, body Body, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, cmp.Or(e.Method, http.MethodPost), e.URL, http.NoBody)
	if err != nil {
		return nil, backoff.Permanent(fmt.Errorf("make the request: %w", e.Redacted(err)))
	}
	if req.ContentLength = body.Size(); req.ContentLength > 0 {
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(body.Reader()), nil }
		req.Body = io.NopCloser(body.Reader())
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range e.header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	maps.Copy(req.Header, header)
	for name, values := range e.Extra {
		req.Header[name] = values
	}
	req.Header.Set("Accept", cmp.Or(e.Accept, accepted))
	req.Header.Set("User-Agent", "rethread")
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header)) // the trace of the run
	if !e.Once {
		// An empty key is not sent, but lets the client repeat a request on a kept
		// connection that the other side had closed.
		req.Header["Idempotency-Key"] = []string{}
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, e.unanswered(err)
	}
	resp.Body = newIdleReader(ctx, cancel, resp.Body, e.timeouts.Idle)
	return resp, nil
}

// unanswered returns why there was no answer, and whether to retry.
func (e *Endpoint) unanswered(err error) error {
	cause := e.Redacted(err)
	var timeout interface{ Timeout() bool }
	var netErr *net.OpError
	broken := errors.As(err, &netErr) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	unsent := netErr != nil && netErr.Op == "dial"
	switch {
	case errors.Is(err, errRedirect):
		return backoff.Permanent(NewError(CodeRefused, "the agent redirects to another address").Because(cause))
	case broken && (unsent || !e.Once):
		return NewError(CodeUnreachable, "the agent cannot be reached").Because(cause)
	case errors.As(err, &timeout) && timeout.Timeout():
		return backoff.Permanent(NewError(CodeTimeout, "the agent did not answer in time").Because(cause))
	}
	return backoff.Permanent(NewError(CodeUnreachable, "the agent cannot be reached").Because(cause))
}

// refused returns the error of a status other than success, and whether to retry.
func (e *Endpoint) refused(resp *http.Response) error {
	defer resp.Body.Close()                                        //nolint:errcheck // the rest is not needed
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what was read is enough
	err := NewError(CodeRefused, "the agent answered with status %d", resp.StatusCode)
	if e.Explain != nil {
		if known := e.Explain(resp.StatusCode, string(text)); known != nil {
			err = known
		}
	}
	err.Detail = Excerpt(e.Redact(string(text)))
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		if e.Once {
			return backoff.Permanent(err)
		}
	default:
		return backoff.Permanent(err)
	}
	after, ok := retryAfter(resp.Header.Get("Retry-After"), time.Now())
	switch {
	case !ok:
		return err
	case after > maxRetryAfter:
		return backoff.Permanent(err)
	}
	return &laterError{err, &backoff.RetryAfterError{Duration: after}}
}

// laterError is a refusal with the time after which to retry.
type laterError struct {
	refusal error
	after   *backoff.RetryAfterError
}

func (e *laterError) Error() string { return e.refusal.Error() }

func (e *laterError) Unwrap() []error { return []error{e.refusal, e.after} }

// retryAfter parses the Retry-After header: seconds or a date (RFC 9110).
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(value)
	return max(at.Sub(now), 0), err == nil
}
