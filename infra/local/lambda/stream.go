package lambda

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Content types by which a runtime says that its answer is a stream.
const (
	TypeHTTPStream = "application/vnd.awslambda.http-integration-response"
	typeByteStream = "application/octet-stream"
)

const (
	trailerErrorType = "Lambda-Runtime-Function-Error-Type"
	trailerErrorBody = "Lambda-Runtime-Function-Error-Body"
)

// Stream is an answer that comes bit by bit. Reading its body ends with io.EOF,
// or with a *StreamError when the function failed on the way.
type Stream struct {
	ContentType string
	Body        io.ReadCloser
}

// StreamError is a function's failure in the middle of its answer.
type StreamError struct{ Type, Message string }

// Error implements error.
func (e *StreamError) Error() string { return fmt.Sprintf("%s: %s", e.Type, e.Message) }

func isStream(contentType string) bool {
	return contentType == TypeHTTPStream || contentType == typeByteStream
}

// Collect turns a streamed answer into a buffered one, which is what Lambda
// gives a caller that did not ask for streaming.
func (r *Result) Collect() {
	if r.Stream == nil {
		return
	}
	payload, err := io.ReadAll(io.LimitReader(r.Stream.Body, MaxResponseBytes+1))
	_ = r.Stream.Body.Close() // a pipe's reader closes without fail
	r.Stream = nil
	var failed *StreamError
	switch {
	case errors.As(err, &failed):
		r.fail(failure{Type: failed.Type, Message: failed.Message})
	case err != nil:
		r.fail(failure{Type: "Runtime.StreamError", Message: err.Error()})
	case len(payload) > MaxResponseBytes:
		r.fail(responseTooLarge(MaxResponseBytes))
	default:
		r.Payload = payload
	}
}

func (r *Result) fail(f failure) {
	described := f.result()
	r.Payload, r.FunctionError = described.Payload, described.FunctionError
}

func (r *Result) discard() {
	if r.Stream != nil {
		_ = r.Stream.Body.Close()
	}
}

// forward copies a streamed answer to whoever reads the result. The function is
// not slowed down by a reader that went away: the rest is read and dropped.
func forward(r *http.Request, pipe *io.PipeWriter) error {
	limited := io.LimitReader(r.Body, MaxStreamBytes+1)
	n, err := io.Copy(pipe, limited)
	if errors.Is(err, io.ErrClosedPipe) {
		var rest int64
		rest, err = io.Copy(io.Discard, limited)
		n += rest
	}
	switch {
	case err != nil:
		err = &StreamError{Type: "Runtime.ExitError", Message: "the function ended in the middle of its answer"}
	case n > MaxStreamBytes:
		tooLarge := responseTooLarge(MaxStreamBytes)
		err = &StreamError{Type: tooLarge.Type, Message: tooLarge.Message}
	default:
		err = trailerError(r.Trailer)
	}
	return errors.Join(err, pipe.CloseWithError(err))
}

func trailerError(trailer http.Header) error {
	kind := trailer.Get(trailerErrorType)
	if kind == "" {
		return nil
	}
	failed := &StreamError{Type: kind}
	var described failure
	body, err := base64.StdEncoding.DecodeString(trailer.Get(trailerErrorBody))
	if err == nil && json.Unmarshal(body, &described) == nil {
		failed.Message = described.Message
	}
	return failed
}
