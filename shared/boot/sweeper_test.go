package boot_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rethread/rethread/shared/boot"
)

func TestSweeper(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testSweeper)
}

func testSweeper(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	left := map[string]time.Duration{}
	done := func(name string) boot.Chore {
		return boot.Chore{Name: name, Do: func(ctx context.Context) (int, error) {
			deadline, _ := ctx.Deadline()
			left[name] = time.Until(deadline)
			return 1, ctx.Err()
		}}
	}
	var text strings.Builder
	err := boot.Sweeper([]boot.Chore{
		done("first"),
		{Name: "broken", Do: func(context.Context) (int, error) { return 2, errors.New("out of order") }},
		{Name: "panics", Do: func(context.Context) (int, error) { panic("oops") }},
		{Name: "endless", Do: func(ctx context.Context) (int, error) { <-ctx.Done(); return 3, nil }},
		done("last"),
	}, slog.New(slog.NewTextHandler(&text, nil)))(ctx)
	if err == nil || !strings.Contains(err.Error(), "sweep broken: out of order") || !strings.Contains(err.Error(), "sweep panics: panic: oops") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(text.String(), "msg=swept first=1 broken=2 panics=0 endless=3 last=1") {
		t.Errorf("the log: %s", text.String())
	}
	// Of the four seconds the chores get one: the first gets a fifth of it, the fourth
	// takes half of what is left then, and the last gets the rest.
	if left["first"] != 200*time.Millisecond || left["last"] != 500*time.Millisecond {
		t.Errorf("shares: %v", left)
	}
}

func TestIdleSweeperLogsNothing(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	nothing := boot.Chore{Name: "nothing", Do: func(context.Context) (int, error) { return 0, nil }}
	if err := boot.Sweeper([]boot.Chore{nothing}, slog.New(slog.NewTextHandler(&text, nil)))(t.Context()); err != nil || text.Len() > 0 {
		t.Errorf("%v: %s", err, text.String())
	}
}
