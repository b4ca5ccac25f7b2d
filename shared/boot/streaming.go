package boot

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/client/tokens"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/transport/gateway"
	"github.com/rethread/rethread/shared/transport/rest"
	"github.com/rethread/rethread/shared/transport/ws"
)

// streamMargin is how long before Lambda's deadline, or before the caller's token
// expires, a response must end.
const streamMargin = 10 * time.Second

var errTimeUp = errors.New("the request's time is up")

// StreamHandler is the Lambda handler for a request to a streaming REST API.
type StreamHandler = func(context.Context, events.APIGatewayProxyRequest) (*events.APIGatewayProxyStreamingResponse, error)

// Streaming adapts a handler to the events of a streaming REST API: the response begins
// with the first byte that the handler writes.
func Streaming(h http.Handler, log *slog.Logger, now func() time.Time) StreamHandler {
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (*events.APIGatewayProxyStreamingResponse, error) {
		verified := ws.ReadVerified(event.RequestContext.Authorizer)
		ctx, cancel := timed(records.Fencing(ctx), verified, now())
		r, err := streamRequest(ctx, event, verified.Caller)
		next := h
		switch {
		case errors.Is(err, errPath):
			next = http.HandlerFunc(refusePath)
		case err != nil:
			cancel()
			return nil, err
		case verified.Refused != nil:
			next = refusing(h, verified.Refused)
		}
		reader, writer := io.Pipe()
		w := &streamWriter{header: http.Header{"X-Request-Id": {event.RequestContext.RequestID}}, body: writer, begun: make(chan struct{})}
		b := &streamBody{PipeReader: reader, cancel: cancel, done: make(chan struct{})}
		go func() {
			defer close(b.done)
			defer cancel()
			defer func() {
				if v := recover(); v != nil {
					log.ErrorContext(ctx, "panic", "panic", v)
					w.WriteHeader(http.StatusInternalServerError)
				}
				w.WriteHeader(http.StatusOK) // for a handler that wrote nothing
				_ = writer.Close()           // never fails
			}()
			next.ServeHTTP(w, r)
		}()
		<-w.begun
		return w.answer(b), nil
	}
}

// timed ends a request before Lambda's deadline and the expiry of the caller's token.
func timed(ctx context.Context, v ws.Verified, now time.Time) (context.Context, context.CancelFunc) {
	left := time.Duration(-1)
	if deadline, ok := ctx.Deadline(); ok {
		left = max(0, time.Until(deadline)-streamMargin)
	}
	if v.Caller.UserID != "" {
		if token := time.Unix(v.Expires, 0).Sub(now); left < 0 || token < left {
			left = max(0, token)
		}
	}
	if left < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, left, errTimeUp)
}

// headerOf returns the headers of a gateway's event.
func headerOf(values map[string]string) http.Header {
	header := http.Header{}
	for name, value := range values {
		header.Set(name, value)
	}
	return header
}

// streamRequest converts the event to a request. It returns errPath if the path cannot
// be determined.
func streamRequest(ctx context.Context, event events.APIGatewayProxyRequest, caller access.Caller) (*http.Request, error) {
	body := []byte(event.Body)
	if event.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(event.Body); err != nil {
			return nil, fmt.Errorf("decode the gateway's body: %w", err)
		}
	}
	header := headerOf(event.Headers)
	for name, values := range event.MultiValueHeaders {
		header[http.CanonicalHeaderKey(name)] = values
	}
	query := url.Values(event.MultiValueQueryStringParameters)
	if query == nil {
		query = url.Values{}
		for name, value := range event.QueryStringParameters {
			query.Set(name, value)
		}
	}
	if caller.UserID != "" {
		var err error
		if caller.Token, err = tokens.Carried(header, query); err != nil {
			return nil, fmt.Errorf("the gateway let a request through: %w", err)
		}
	}
	ctx = access.WithCaller(ctx, caller)
	ctx = rest.WithRequestID(ctx, event.RequestContext.RequestID)
	ctx = gateway.WithBase(ctx, base(event, header))
	target, err := normalPath(event.Path)
	if err != nil {
		return nil, err
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, event.HTTPMethod, target, strings.NewReader(string(body)))
	if err != nil {
		return nil, fmt.Errorf("convert the gateway's event: %w", err)
	}
	r.Header = header
	return r, nil
}

// base returns the API's public address. The stage is part of the requested path, but
// not of the path in the event.
func base(event events.APIGatewayProxyRequest, header http.Header) string {
	return gateway.Origin(header, event.RequestContext.DomainName) + publicPrefix(event.RequestContext.Path, event.Path)
}

// streamBody is a response body as read by Lambda. Close ends the handler that writes
// it.
type streamBody struct {
	*io.PipeReader

	cancel context.CancelFunc
	done   chan struct{}
}

// Close implements io.Closer. It returns when the handler has returned.
func (b *streamBody) Close() error {
	b.cancel()
	err := b.PipeReader.Close()
	<-b.done
	return err
}

// streamWriter is the http.ResponseWriter of a streamed response.
type streamWriter struct {
	header http.Header
	body   io.Writer
	once   sync.Once
	begun  chan struct{}

	status int         // once begun is closed
	sent   http.Header // as of the call of WriteHeader
}

// Header implements http.ResponseWriter.
func (w *streamWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *streamWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.begun)
	})
}

// Write implements http.ResponseWriter.
func (w *streamWriter) Write(text []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(text)
}

// Flush implements http.Flusher. It does nothing, since nothing is buffered.
func (w *streamWriter) Flush() { w.WriteHeader(http.StatusOK) }

func (w *streamWriter) answer(body io.ReadCloser) *events.APIGatewayProxyStreamingResponse {
	out := &events.APIGatewayProxyStreamingResponse{StatusCode: w.status, Headers: map[string]string{}, Body: body}
	for name, values := range w.sent {
		if name != "Connection" { // the gateway sets its own
			out.Headers[name] = strings.Join(values, ", ")
		}
	}
	return out
}
