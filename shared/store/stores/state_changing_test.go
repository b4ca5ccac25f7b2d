package stores_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// changing returns a store with a session whose state changes during each of the
// first n reads of the state, and the number of these reads.
func changing(t *testing.T, n int64) (*stores.Store, *atomic.Int64) {
	t.Helper()
	engine := storetest.Engine(t)
	others := stores.New(engine)
	mustCreate(t, others, alice, "s", nil)
	var reads atomic.Int64
	s := before(engine, func(_ context.Context, c hooks.Call) error {
		if c.Op != hooks.Get || !strings.HasPrefix(c.Keys[0].PK, "U#") {
			return nil
		}
		if i := reads.Add(1); i <= n {
			mustAppend(t, others, alice, "s", stateEvent(t, fmt.Sprint("i", i), map[string]any{"k": i, "user:k": i}))
		}
		return nil
	})
	return s, &reads
}

func TestState_while_it_changes(t *testing.T) {
	t.Parallel()
	const attempts = 10
	read := func(s *stores.Store) error {
		_, err := s.Sessions.State(t.Context(), alice, "s")
		return err
	}
	export := func(s *stores.Store) error {
		return s.Archives.Export(t.Context(), alice, "s", archive.NewWriter(io.Discard))
	}
	for name, test := range map[string]struct {
		do   func(*stores.Store) error
		kind fault.Kind
	}{
		"a read reports that the store is busy after 10 attempts": {read, fault.Busy},
		"an export reports a conflict after 10 attempts":          {export, fault.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, reads := changing(t, 1000)
			if err := test.do(s); !errors.Is(err, fault.Of(test.kind)) || reads.Load() != attempts {
				t.Errorf("%v after %d attempts, want %d", err, reads.Load(), attempts)
			}
		})
	}
	t.Run("a read returns one version of all scopes", func(t *testing.T) {
		t.Parallel()
		s, reads := changing(t, attempts-1)
		want := fmt.Sprintf(`{"k":%d,"user:k":%[1]d}`, attempts-1)
		if got := merged(t, s, alice, "s"); got != want || reads.Load() != attempts {
			t.Errorf("%s after %d attempts, want %s", got, reads.Load(), want)
		}
	})
	t.Run("an export succeeds once the state no longer changes", func(t *testing.T) {
		t.Parallel()
		s, reads := changing(t, attempts-1)
		if err := export(s); err != nil || reads.Load() != attempts {
			t.Errorf("%v after %d attempts, want success after %d", err, reads.Load(), attempts)
		}
	})
}
