package gateway

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/samtemplate"
)

const (
	streamMode       = "RESPONSE_STREAM"
	preludeSeparator = 8 // zero bytes between a streamed answer's head and its body
	streamChunk      = 32 << 10
)

// functionURL serves a function's own address, streaming where it is told to.
type functionURL struct {
	function samtemplate.Function
	invoker  Invoker
	cors     *cors
	log      func(Access)
}

// NewFunctionURL returns the handler of a function's own address.
func NewFunctionURL(function samtemplate.Function, invoker Invoker, log func(Access)) (http.Handler, error) {
	if function.URL == nil || function.URL.AuthType != "NONE" {
		return nil, fmt.Errorf("function %s: only a URL with AuthType NONE can be served here", function.LogicalID)
	}
	return &functionURL{function: function, invoker: invoker, cors: newCORS(function.URL.CORS), log: log}, nil
}

// ServeHTTP implements http.Handler.
func (f *functionURL) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if f.cors.preflight(rw, r) {
		return
	}
	f.cors.allow(rw.Header(), r)
	began := time.Now()
	status, cold := f.serve(rw, r)
	f.log(Access{
		Time: began, Method: r.Method, Path: r.URL.Path, Status: status,
		Function: f.function.LogicalID, Duration: time.Since(began), Cold: cold,
	})
}

func (f *functionURL) serve(rw http.ResponseWriter, r *http.Request) (status int, cold bool) {
	body, status := readBody(rw, r)
	if status != 0 {
		return status, false
	}
	ctx := newRequestContext(r, uuid.NewString())
	ctx.RouteKey, ctx.Stage, ctx.APIID = defaultKey, defaultKey, ctx.DomainPrefix
	payload, err := buildEvent(r, body, ctx, nil)
	if err != nil {
		return refuse(rw, http.StatusInternalServerError, "Internal Server Error"), false
	}
	result, err := f.invoker.Invoke(r.Context(), f.function.LogicalID, payload)
	switch {
	case err == nil:
	case r.Context().Err() != nil:
		return statusClientGone, false
	case errors.Is(err, lambda.ErrRequestTooLarge):
		return refuse(rw, http.StatusRequestEntityTooLarge, "Request Entity Too Large"), false
	case errors.Is(err, lambda.ErrThrottled):
		return refuse(rw, http.StatusTooManyRequests, "Rate Exceeded."), false
	default:
		return refuse(rw, http.StatusBadGateway, "Internal Server Error"), false
	}
	if f.function.URL.InvokeMode == streamMode && result.Stream != nil {
		return f.stream(rw, result.Stream), result.Cold
	}
	result.Collect()
	buffered, err := readAnswer(result)
	if err != nil {
		return refuse(rw, http.StatusBadGateway, "Internal Server Error"), result.Cold
	}
	buffered.write(rw, f.cors != nil)
	return buffered.StatusCode, result.Cold
}

// stream passes the answer on as it comes. When it breaks off, so does the
// connection: a caller must not take a part for the whole.
func (f *functionURL) stream(rw http.ResponseWriter, stream *lambda.Stream) int {
	defer func() { _ = stream.Body.Close() }()
	body := bufio.NewReader(stream.Body)
	head := &answer{StatusCode: http.StatusOK, Headers: map[string]string{"content-type": stream.ContentType}}
	if stream.ContentType == lambda.TypeHTTPStream {
		var err error
		if head, err = readPrelude(body); err != nil {
			return refuse(rw, http.StatusBadGateway, "Internal Server Error")
		}
	}
	head.head(rw.Header(), f.cors != nil)
	rw.WriteHeader(head.StatusCode)
	if err := copyFlushing(rw, body); err != nil {
		panic(http.ErrAbortHandler) // the documented way to cut the connection
	}
	return head.StatusCode
}

func copyFlushing(rw http.ResponseWriter, body io.Reader) error {
	controller := http.NewResponseController(rw)
	if err := controller.Flush(); err != nil {
		return err
	}
	chunk := make([]byte, streamChunk)
	for {
		n, err := body.Read(chunk)
		if n > 0 {
			if _, err := rw.Write(chunk[:n]); err != nil {
				return err
			}
			if err := controller.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readPrelude reads a streamed answer's status and headers, and the zero bytes
// after them.
func readPrelude(body *bufio.Reader) (*answer, error) {
	prelude, err := body.ReadBytes(0)
	if err != nil {
		return nil, fmt.Errorf("read prelude: %w", err)
	}
	if _, err := body.Discard(preludeSeparator - 1); err != nil {
		return nil, fmt.Errorf("read prelude: %w", err)
	}
	var wire wireAnswer
	decoder := json.NewDecoder(strings.NewReader(string(prelude[:len(prelude)-1])))
	decoder.UseNumber()
	if err := decoder.Decode(&wire); err != nil {
		return nil, fmt.Errorf("read prelude: %w", err)
	}
	if wire.StatusCode == nil {
		ok := json.Number("200")
		wire.StatusCode = &ok
	}
	return wire.read()
}
