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
	preludeSeparator = 8 // zero bytes between the head and the body of a streamed answer
	streamChunk      = 32 << 10
)

// forwardStream copies a streamed answer to the caller as it arrives, until ctx ends. If
// the answer breaks off, so does the connection: a caller must not take a part for
// the whole. An error means that nothing has been written, because the function's
// answer is invalid. idle is how long the stream may be silent.
func forwardStream(ctx context.Context, rw http.ResponseWriter, stream *lambda.Stream, idle time.Duration) (status int, err error) {
	defer func() { _ = stream.Body.Close() }()
	// A silent function must not keep the request open after the caller has
	// disconnected: closing the body ends a pending read.
	stop := context.AfterFunc(ctx, func() { _ = stream.Body.Close() })
	defer stop()
	watched := newIdleReader(stream.Body, idle)
	defer watched.stop()
	body := bufio.NewReader(watched)
	head, err := readPrelude(body)
	if err != nil {
		return 0, err
	}
	head.setHeaders(rw.Header(), false)
	rw.WriteHeader(head.StatusCode)
	if err := copyFlushing(rw, body); err != nil {
		panic(http.ErrAbortHandler) // the documented way to abort the connection
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

// readPrelude reads the status and the headers of a streamed answer, and the zero
// bytes after them.
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

// idleReader closes a body that has been silent for too long.
type idleReader struct {
	io.ReadCloser
	limit time.Duration
	timer *time.Timer
}

func newIdleReader(body io.ReadCloser, limit time.Duration) *idleReader {
	return &idleReader{ReadCloser: body, limit: limit, timer: time.AfterFunc(limit, func() { _ = body.Close() })}
}

// Read implements io.Reader.
func (p *idleReader) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	p.timer.Reset(p.limit)
	return n, err
}

func (p *idleReader) stop() { p.timer.Stop() }
