package agent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.opentelemetry.io/otel/propagation"

	"github.com/rethread/rethread/shared/domain/run"
)

// Limits of what is read of an answer.
const (
	maxHeader    = 64 << 10 // bytes of an answer's header
	maxErrorBody = 4 << 10  // bytes read of an error response
	maxExcerpt   = 300      // bytes of it in an error
)

// Retries of one request: only after connection errors and the statuses 429, 502, 503
// and 504, when no byte of an answer has arrived.
const (
	maxTries      = 3
	maxRedirects  = 3
	maxRetryAfter = 10 * time.Second // an agent that asks for a longer wait fails
)

// Timeouts of a call; its total duration is limited by the caller's context. Zero
// values select the defaults.
type Timeouts struct {
	Connect   time.Duration // to connect, and again for TLS; default 5 s
	FirstByte time.Duration // from the request to the answer's header; default 60 s
	Idle      time.Duration // between two reads of the answer; default 60 s
	Backoff   time.Duration // limit of the wait before the second attempt, doubled for the third; default 250 ms
}

func (t Timeouts) withDefaults() Timeouts {
	return Timeouts{
		Connect:   cmp.Or(t.Connect, 5*time.Second),
		FirstByte: cmp.Or(t.FirstByte, time.Minute),
		Idle:      cmp.Or(t.Idle, time.Minute),
		Backoff:   cmp.Or(t.Backoff, 250*time.Millisecond),
	}
}

// Endpoint is the address of an agent, which the deployer sets, never a caller.
type Endpoint struct {
	URL      string
	Header   http.Header // sent with every request; may hold secrets
	Timeouts Timeouts
	// Retention is how many seconds the agent's sessions are retained after their
	// last activity if they have no retention of their own; 0 for the deployment's.
	Retention int64
	// History bounds the history in each request.
	History run.HistoryLimit
	// Continuations is how often a run may be continued after its worker was lost.
	Continuations int
}

// configured is what all agents have of their configuration.
type configured struct{ endpoint *endpoint }

// Close closes the idle connections.
func (c configured) Close() { c.endpoint.client.CloseIdleConnections() }

// Retention returns the retention of the agent's sessions in seconds; 0 if it has
// none.
func (c configured) Retention() int64 { return c.endpoint.retention }

// HistoryLimit implements run.LimitedAgent.
func (c configured) HistoryLimit() run.HistoryLimit { return c.endpoint.history }

// Continuations implements run.ContinuedAgent.
func (c configured) Continuations() int { return c.endpoint.continuations }

// endpoint sends requests to an address over persistent connections.
type endpoint struct {
	url    string
	method string      // of requests; "" is POST
	accept string      // content types of an answer; "" is a stream or a document
	header http.Header // configured; may hold secrets
	extra  http.Header // of the protocol
	// once is set for requests that must not be repeated if the agent may have got
	// them.
	once     bool
	timeouts Timeouts
	client   *http.Client

	retention int64
	history   run.HistoryLimit

	continuations int
	// explain returns the error for an unsuccessful status and the beginning of its
	// body, nil if it knows none; nil if the status alone decides.
	explain func(status int, body string) *Error
}

func newEndpoint(e Endpoint) *endpoint {
	timeouts := e.Timeouts.withDefaults()
	return &endpoint{
		url: e.URL, header: e.Header.Clone(), timeouts: timeouts, retention: e.Retention, history: e.History, continuations: e.Continuations,
		client: &http.Client{CheckRedirect: sameHost, Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: timeouts.Connect}).DialContext,
			TLSHandshakeTimeout:    timeouts.Connect,
			ResponseHeaderTimeout:  timeouts.FirstByte,
			MaxResponseHeaderBytes: maxHeader,
			IdleConnTimeout:        time.Minute,
			MaxIdleConnsPerHost:    4,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true,
		}},
	}
}

var errRedirect = errors.New("redirected to another address, which is not followed")

// sameHost lets a POST be repeated at another path of the same host.
func sameHost(next *http.Request, via []*http.Request) error {
	from := via[0]
	if next.URL.Host != from.URL.Host || next.URL.Scheme != from.URL.Scheme || next.Method != from.Method || len(via) > maxRedirects {
		return errRedirect
	}
	return nil
}

// accepted is the content types of an answer: a stream, or one whole document.
const accepted = "text/event-stream, application/json;q=0.5"

// ask sends a request and reads the answer according to its content type.
func (e *endpoint) ask(ctx context.Context, body []byte, stream, whole func(io.Reader) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answer, err := e.post(ctx, cancel, body)
	if err != nil {
		return err
	}
	defer answer.body.Close() //nolint:errcheck // read, or abandoned
	switch answer.mediaType {
	case "text/event-stream":
		err = stream(answer.body)
	case "application/json":
		err = whole(answer.body)
	default:
		err = newError(CodeProtocol, "the agent answered with content type %q", clean(answer.mediaType, maxExcerpt))
	}
	return cancelled(ctx, err)
}

// answer is a successful answer whose body has not been read. Reading fails with an
// *Error if nothing arrives for too long.
type answer struct {
	mediaType string
	body      io.ReadCloser
}

// post sends a request until it is answered or must not be repeated. cancel must be
// the function that cancels ctx.
func (e *endpoint) post(ctx context.Context, cancel context.CancelCauseFunc, body []byte) (*answer, error) {
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

func (e *endpoint) try(ctx context.Context, cancel context.CancelCauseFunc, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, cmp.Or(e.method, http.MethodPost), e.url, bytes.NewReader(body))
	if err != nil {
		return nil, backoff.Permanent(fmt.Errorf("make the request: %w", e.redacted(err)))
	}
	for name, values := range e.header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	for name, values := range e.extra {
		req.Header[name] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", cmp.Or(e.accept, accepted))
	req.Header.Set("User-Agent", "rethread")
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header)) // the trace of the run
	if !e.once {
		// An empty key is not sent, but lets the client repeat a request on a kept
		// connection that the other side had closed.
		req.Header["Idempotency-Key"] = []string{}
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, e.unanswered(err)
	}
	resp.Body = newIdleReader(ctx, cancel, resp.Body, e.timeouts.Idle)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, e.refused(resp)
	}
	return resp, nil
}

// unanswered returns why there was no answer, and whether to retry.
func (e *endpoint) unanswered(err error) error {
	cause := e.redacted(err)
	var timeout interface{ Timeout() bool }
	var netErr *net.OpError
	broken := errors.As(err, &netErr) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	unsent := netErr != nil && netErr.Op == "dial"
	switch {
	case errors.Is(err, errRedirect):
		return backoff.Permanent(newError(CodeRefused, "the agent redirects to another address").because(cause))
	case broken && (unsent || !e.once):
		return newError(CodeUnreachable, "the agent cannot be reached").because(cause)
	case errors.As(err, &timeout) && timeout.Timeout():
		return backoff.Permanent(newError(CodeTimeout, "the agent did not answer in time").because(cause))
	}
	return backoff.Permanent(newError(CodeUnreachable, "the agent cannot be reached").because(cause))
}

// refused returns the error of a status other than success, and whether to retry.
func (e *endpoint) refused(resp *http.Response) error {
	defer resp.Body.Close()                                        //nolint:errcheck // the rest is not needed
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what was read is enough
	err := newError(CodeRefused, "the agent answered with status %d", resp.StatusCode)
	if e.explain != nil {
		if known := e.explain(resp.StatusCode, string(text)); known != nil {
			err = known
		}
	}
	err.Detail = clean(e.redact(string(text)), maxExcerpt)
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		if e.once {
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

func (e *laterError) Error() string   { return e.refusal.Error() }
func (e *laterError) Unwrap() []error { return []error{e.refusal, e.after} }

// retryAfter parses the Retry-After header: seconds or a date (RFC 9110).
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(value)
	return max(at.Sub(now), 0), err == nil
}

// redacted returns an error of the client without the address and the secret headers,
// since both may contain secrets.
func (e *endpoint) redacted(err error) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	if text := err.Error(); e.redact(text) != text {
		return errors.New(e.redact(text))
	}
	return err
}

// minSecret is the minimum length of a header's value to be redacted, in bytes.
const minSecret = 6

// redact removes the values of headers, because an agent may repeat them.
func (e *endpoint) redact(text string) string {
	for _, values := range e.header {
		for _, v := range values {
			for _, secret := range []string{v, strings.TrimPrefix(v, "Bearer ")} {
				if len(secret) >= minSecret {
					text = strings.ReplaceAll(text, secret, "[redacted]")
				}
			}
		}
	}
	return text
}
