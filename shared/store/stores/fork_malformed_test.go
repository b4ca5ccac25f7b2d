package stores_test

import (
	"errors"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// TestFork_of_a_malformed_header checks that a header that no condition can match is
// reported to forks and to saves of tasks, which would otherwise retry without end.
func TestFork_of_a_malformed_header(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attribute string
		value     any
	}{
		"an empty map of announced saves":          {"sv", map[string]any{}},
		"an announced save with an unknown member": {"sv", map[string]any{"t9": map[string]any{"t": 1, "v": 1, "other": 1}}},
		"an explicit count of 0 forks":             {"fk", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := storetest.Engine(t)
			s := stores.New(engine)
			mustCreate(t, s, alice, "s", nil)
			mustSave(t, s, "s", "t1", "[]", "i1")
			storetest.Spoil(t, engine, table.NewKey("S#s", "HEAD"), table.Set(table.Path{c.attribute}, c.value))
			_, err := s.History.Fork(t.Context(), session.ForkOf{UserID: alice, SessionID: "s", ID: "fork", Nonce: "1"})
			if !errors.Is(err, table.ErrUnreadable) {
				t.Errorf("the fork ended with %v, want %v", err, table.ErrUnreadable)
			}
			if _, _, err = s.Tasks.Save(t.Context(), save("s", "t1", "[]", "i1", "i2")); !errors.Is(err, table.ErrUnreadable) {
				t.Errorf("the save ended with %v, want %v", err, table.ErrUnreadable)
			}
		})
	}
}
