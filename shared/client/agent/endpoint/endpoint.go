// Package endpoint sends requests to agents and reads their answers: connections,
// timeouts, retries, server-sent events, and the faults of all of these.
package endpoint

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/rethread/rethread/shared/client/agent/agentconfig"
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

func withDefaults(t agentconfig.Timeouts) agentconfig.Timeouts {
	return agentconfig.Timeouts{
		Connect:   cmp.Or(t.Connect, 5*time.Second),
		FirstByte: cmp.Or(t.FirstByte, time.Minute),
		Idle:      cmp.Or(t.Idle, time.Minute),
		Backoff:   cmp.Or(t.Backoff, 250*time.Millisecond),
	}
}

// Endpoint sends requests to an address over persistent connections.
type Endpoint struct {
	URL    string
	Method string      // of requests; "" is POST
	Accept string      // content types of an answer; "" is a stream or a document
	Extra  http.Header // of the protocol
	// Once is set for requests that must not be repeated if the agent may have got
	// them.
	Once bool
	// Explain returns the error for an unsuccessful status, or an answer of another
	// content type, and the beginning of its body; nil if it knows none. Without it
	// the status and the content type decide.
	Explain func(status int, body string) *Error

	header   http.Header // configured; may hold secrets
	kept     map[string]agentconfig.Kept
	secrets  agentconfig.Secrets
	sent     *sent
	timeouts agentconfig.Timeouts
	client   *http.Client
}

// Close closes the idle connections.
func (e *Endpoint) Close() { e.client.CloseIdleConnections() }

// Backoff returns the limit of the wait before a second attempt.
func (e *Endpoint) Backoff() time.Duration { return e.timeouts.Backoff }

// New returns the endpoint of a configuration.
func New(e agentconfig.Endpoint) *Endpoint {
	timeouts := withDefaults(e.Timeouts)
	return &Endpoint{
		URL: e.URL, header: e.Header.Clone(), timeouts: timeouts, kept: e.Kept, secrets: e.Secrets, sent: &sent{},
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

// Body is the body of a request, which may be sent several times.
type Body interface {
	Size() int64 // in bytes
	Reader() io.Reader
}

// encoded is a Body that is in memory as a whole; nil is none.
type encoded []byte

// Size implements Body.
func (b encoded) Size() int64 { return int64(len(b)) }

// Reader implements Body.
func (b encoded) Reader() io.Reader { return bytes.NewReader(b) }

// Ask sends a request and reads the answer according to its content type.
func (e *Endpoint) Ask(ctx context.Context, body []byte, stream, whole func(io.Reader) error) error {
	return e.AskWith(ctx, encoded(body), stream, whole)
}

// AskWith is Ask with a body that need not be in memory.
func (e *Endpoint) AskWith(ctx context.Context, body Body, stream, whole func(io.Reader) error) error {
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
		err = e.unexpected(answer)
	}
	return cancelled(ctx, err)
}

// unexpected returns the error of an answer that is neither a stream nor a document.
// Servers exist that send their errors without a content type.
func (e *Endpoint) unexpected(a *answer) error {
	if e.Explain != nil {
		text, _ := io.ReadAll(io.LimitReader(a.body, maxErrorBody)) // what was read is enough
		if known := e.Explain(http.StatusOK, string(text)); known != nil {
			return known
		}
	}
	return NewError(CodeProtocol, "the agent answered with content type %q", Excerpt(a.mediaType))
}

// answer is a successful answer whose body has not been read. Reading fails with an
// *Error if nothing arrives for too long.
type answer struct {
	mediaType string
	body      io.ReadCloser
}

// cancelled returns the cause of a cancelled context if that ended the call: then the
// agent is not at fault for an incomplete answer.
func cancelled(ctx context.Context, err error) error {
	var failed *Error
	if ctx.Err() != nil && errors.As(err, &failed) && failed.Code == CodeEndedEarly {
		return context.Cause(ctx)
	}
	return err
}

// Document sends a request and returns the answer, which must be JSON.
func (e *Endpoint) Document(ctx context.Context, method string, body []byte) ([]byte, error) {
	at := *e // others use the endpoint at the same time
	at.Method = method
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answer, err := at.post(ctx, cancel, encoded(body))
	if err != nil {
		return nil, err
	}
	defer answer.body.Close() //nolint:errcheck // read, or abandoned
	if answer.mediaType != "application/json" {
		return nil, NewError(CodeProtocol, "the agent answered with content type %q", Excerpt(answer.mediaType))
	}
	text, err := ReadDocument(answer.body)
	return text, cancelled(ctx, err)
}
