package endpoint

import (
	"context"
	"errors"
	"io"
	"time"
)

// idleReader is a body whose reads fail if nothing arrives within a time. The clock
// runs only while a read waits, because a slow receiver is not the agent's fault.
type idleReader struct {
	ctx   context.Context //nolint:containedctx // the request's, which ends every read
	body  io.ReadCloser
	limit time.Duration
	timer *time.Timer
}

func newIdleReader(ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser, limit time.Duration) *idleReader {
	silent := NewError(CodeTimeout, "the agent was silent for %s", limit)
	timer := time.AfterFunc(limit, func() { cancel(silent) })
	timer.Stop()
	return &idleReader{ctx, body, limit, timer}
}

// Read reads the body; if the context ended the read, the error is the context's
// cause.
func (r *idleReader) Read(p []byte) (int, error) {
	r.timer.Reset(r.limit)
	n, err := r.body.Read(p)
	r.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) && r.ctx.Err() != nil {
		err = context.Cause(r.ctx)
	}
	return n, err
}

func (r *idleReader) Close() error {
	r.timer.Stop()
	return r.body.Close()
}
