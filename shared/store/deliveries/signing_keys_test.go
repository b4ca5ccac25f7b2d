package deliveries_test

import (
	"testing"

	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
)

func TestSigningKeys(t *testing.T) {
	t.Parallel()
	s := fixture.Store(t)
	if keys, version, err := s.Keys.SigningKeys(t.Context()); keys != nil || version != 0 || err != nil {
		t.Errorf("before the first: %s %d %v", keys, version, err)
	}
	for i, text := range []string{"one", "two"} {
		if err := s.Keys.PutSigningKeys(t.Context(), []byte(text), int64(i)); err != nil {
			t.Fatal(err)
		}
		fixture.WantKind(t, s.Keys.PutSigningKeys(t.Context(), []byte("late"), int64(i)), fault.Conflict)
		keys, version, err := s.Keys.SigningKeys(t.Context())
		if string(keys) != text || version != int64(i)+1 || err != nil {
			t.Errorf("got %s %d %v", keys, version, err)
		}
	}
}
