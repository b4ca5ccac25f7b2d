package agent

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/tmaxmax/go-sse"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/run"
)

// Limits of answers, in bytes. JSON that escapes all it can takes about twice
// the room of the text it holds.
const (
	maxLine   = 2*run.MaxItem + 64<<10 // of one server-sent event
	maxAnswer = 8 << 20                // of one JSON document
)

var (
	// errStop ends the reading of a stream whose last event has come.
	errStop = errors.New("the stream is done")
	// errEndedEarly is behind the *Error of a stream that ended in good order,
	// but without having said that it was done.
	errEndedEarly = errors.New("the stream ended without its last event")
)

// readStream calls visit for each server-sent event until it answers errStop.
// A stream that ends before has ended too early.
func readStream(body io.Reader, visit func(kind, data string) error) error {
	for event, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: maxLine}) {
		if err != nil {
			return readError(err)
		}
		if err := visit(strings.ToValidUTF8(event.Type, "\uFFFD"), string(jsonx.Mend([]byte(event.Data)))); errors.Is(err, errStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return newError(CodeEndedEarly, "the agent's answer ended early").because(errEndedEarly)
}

// readError says why the rest of an answer cannot be read.
func readError(err error) error {
	var failed *Error
	switch {
	case errors.As(err, &failed):
		return failed
	case errors.Is(err, bufio.ErrTooLong):
		return newError(run.CodeLimit, "the agent sent an event of more than %d bytes", maxLine)
	}
	return newError(CodeEndedEarly, "the agent's answer ended early").because(err)
}

// readDocument reads an answer that is one JSON document.
func readDocument(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, readError(err)
	case len(text) > maxAnswer:
		return nil, newError(run.CodeLimit, "the agent answered with more than %d bytes", maxAnswer)
	}
	return jsonx.Mend(text), nil
}
