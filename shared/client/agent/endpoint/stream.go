package endpoint

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/tmaxmax/go-sse"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// Limits of answers, in bytes. JSON with as many escapes as possible takes about
// twice the size of its text.
const (
	maxLine   = 2*run.MaxItem + 64<<10 // of one server-sent event
	MaxAnswer = 8 << 20                // of one JSON document
)

var (
	// ErrStop ends the reading of a stream after its last event.
	ErrStop = errors.New("the stream is done")
	// ErrEndedEarly is the cause of the *Error of a stream that was closed properly,
	// but without its last event.
	ErrEndedEarly = errors.New("the stream ended without its last event")
)

// ReadStream calls visit for each server-sent event until visit returns ErrStop. A
// stream that ends before that has ended early.
func ReadStream(body io.Reader, visit func(kind, data string) error) error {
	return ReadEvents(body, maxLine, visit)
}

// ReadEvents is ReadStream for events of at most limit bytes.
func ReadEvents(body io.Reader, limit int, visit func(kind, data string) error) error {
	for event, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: limit}) {
		if errors.Is(err, bufio.ErrTooLong) {
			return NewError(run.CodeLimit, "the agent sent an event of more than %d bytes", limit)
		}
		if err != nil {
			return readError(err)
		}
		if err := visit(strings.ToValidUTF8(event.Type, "\uFFFD"), string(jsonx.Mend([]byte(event.Data)))); errors.Is(err, ErrStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return NewError(CodeEndedEarly, "the agent's answer ended early").Because(ErrEndedEarly)
}

// readError returns why the rest of an answer cannot be read.
func readError(err error) error {
	var failed *Error
	if errors.As(err, &failed) {
		return failed
	}
	return NewError(CodeEndedEarly, "the agent's answer ended early").Because(err)
}

// ReadDocument reads an answer that is one JSON document.
func ReadDocument(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, MaxAnswer+1))
	switch {
	case err != nil:
		return nil, readError(err)
	case len(text) > MaxAnswer:
		return nil, NewError(run.CodeLimit, "the agent answered with more than %d bytes", MaxAnswer)
	}
	return jsonx.Mend(text), nil
}
