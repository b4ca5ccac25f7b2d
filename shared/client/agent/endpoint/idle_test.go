package endpoint_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
)

// hanging is a body whose reads end only with its context.
type hanging struct{ ctx context.Context } //nolint:containedctx // like a response's body

func (h hanging) Read([]byte) (int, error) {
	<-h.ctx.Done()
	return 0, h.ctx.Err()
}

func (h hanging) Close() error { return nil }

func TestIdleReader(t *testing.T) {
	const limit = time.Minute
	t.Run("ends the call when a read waits for too long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			start := time.Now()
			_, err := endpoint.NewIdleReader(ctx, cancel, hanging{ctx}, limit).Read(nil)
			agenttest.WantError(t, err, endpoint.CodeTimeout, "silent for 1m0s")
			if d := time.Since(start); d != limit {
				t.Errorf("took %s", d)
			}
		})
	})
	t.Run("does not count the time of a slow receiver", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			r := endpoint.NewIdleReader(ctx, cancel, io.NopCloser(strings.NewReader("ab")), limit)
			for range 2 {
				if n, err := r.Read(make([]byte, 1)); n != 1 || err != nil {
					t.Fatalf("read %d, %v", n, err)
				}
				time.Sleep(2 * limit)
			}
			if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("read %d, %v", n, err)
			}
			if ctx.Err() != nil {
				t.Errorf("the call was ended: %v", context.Cause(ctx))
			}
		})
	})
}
