package lambda

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Content types of a streamed answer.
const (
	TypeHTTPStream = "application/vnd.awslambda.http-integration-response"
	typeByteStream = "application/octet-stream"
)

const (
	trailerErrorType = "Lambda-Runtime-Function-Error-Type"
	trailerErrorBody = "Lambda-Runtime-Function-Error-Body"
)

// Stream is a streamed answer. Reading its body ends with io.EOF, or with a
// *StreamError if the function failed midway.
type Stream struct {
	ContentType string
	Body        io.ReadCloser
}

// StreamError is a function's failure in the middle of a streamed answer.
type StreamError struct{ Type, Message string }

// Error implements error.
func (e *StreamError) Error() string { return fmt.Sprintf("%s: %s", e.Type, e.Message) }

func isStream(contentType string) bool {
	return contentType == TypeHTTPStream || contentType == typeByteStream
}

// Collect converts a streamed answer into a buffered one, which Lambda returns to
// callers that did not ask for streaming.
func (r *Result) Collect() {
	if r.Stream == nil {
		return
	}
	payload, err := io.ReadAll(io.LimitReader(r.Stream.Body, MaxResponseBytes+1))
	_ = r.Stream.Body.Close() // closing a pipe's reader never fails
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

// forward copies a streamed answer to the reader of the result. A reader that
// leaves does not slow the function down: the rest is read and discarded.
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
		err = &StreamError{Type: "Runtime.ExitError", Message: "the function exited in the middle of its answer"}
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
