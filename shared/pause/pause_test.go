package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rethread/rethread/shared/pause"
)

func TestFor(t *testing.T) {
	t.Parallel()
	t.Run("waits as long as it is told", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if err := pause.For(t.Context(), time.Minute); err != nil || time.Since(began) != time.Minute {
				t.Errorf("%v after %s", err, time.Since(began))
			}
		})
	})
	t.Run("ends with the context, and says why that ended", func(t *testing.T) {
		t.Parallel()
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if err := pause.For(ctx, time.Hour); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	})
}
