package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/rethread/rethread/infra/local/lambda"
)

const (
	preludeSeparator = 8 // zero bytes between a streamed answer's head and its body
	streamChunk      = 32 << 10
)

// passOn passes an answer on as it comes, until ctx ends. When it breaks off, so
// does the connection: a caller must not take a part for the whole. An error
// says that nothing was written yet, for the function's answer makes no sense. idle
// is how long the stream may be silent.
func passOn(ctx context.Context, rw http.ResponseWriter, stream *lambda.Stream, idle time.Duration) (status int, err error) {
	defer func() { _ = stream.Body.Close() }()
	// A function that says nothing must not hold on to a caller who has gone:
	// its reader, once closed, lets go of what is being read.
	stop := context.AfterFunc(ctx, func() { _ = stream.Body.Close() })
	defer stop()
	watched := newPatient(stream.Body, idle)
	defer watched.stop()
	body := bufio.NewReader(watched)
	head, err := readPrelude(body)
	if err != nil {
		return 0, err
	}
	head.head(rw.Header(), false)
	rw.WriteHeader(head.StatusCode)
	if err := copyFlushing(rw, body); err != nil {
		panic(http.ErrAbortHandler) // the documented way to cut the connection
	}
	return head.StatusCode, nil
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
	wire, err := decodeAnswer(prelude[:len(prelude)-1])
	if err != nil {
		return nil, fmt.Errorf("read prelude: %w", err)
	}
	if wire.StatusCode == nil {
		ok := json.Number("200")
		wire.StatusCode = &ok
	}
	return wire.read("text/plain;charset=utf-8")
}

// patient closes a body that has been silent for too long.
type patient struct {
	io.ReadCloser
	limit time.Duration
	timer *time.Timer
}

func newPatient(body io.ReadCloser, limit time.Duration) *patient {
	return &patient{ReadCloser: body, limit: limit, timer: time.AfterFunc(limit, func() { _ = body.Close() })}
}

// Read implements io.Reader.
func (p *patient) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	p.timer.Reset(p.limit)
	return n, err
}

func (p *patient) stop() { p.timer.Stop() }
