package session_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
)

func TestPositionalID(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		seq := rapid.Int64Range(1, 1<<48-2).Draw(t, "seq")
		random := uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "random"))
		id := session.PositionalID(seq, random)
		if got, ok := session.PositionOf(id); !ok || got != seq {
			t.Fatalf("position of %s: %d %v, want %d", id, got, ok, seq)
		}
		if u := uuid.MustParse(id); u.Version() != 8 || u.Variant() != uuid.RFC4122 {
			t.Fatalf("%s is no UUID of version 8", id)
		}
		if err := ids.Check("/id", id); err != nil {
			t.Fatal(err)
		}
		if later := session.PositionalID(seq+1, random); later <= id {
			t.Fatalf("ids are not in the order of positions: %s, %s", id, later)
		}
	})
}

func TestPositionOfForeignIDs(t *testing.T) {
	id := session.PositionalID(7, uuid.MustParse("00000000-0000-4000-8000-0123456789ab"))
	for name, foreign := range map[string]string{
		"version 4":   "6ba7b810-9dad-41d1-80b4-00c04fd430c8",
		"no UUID":     "event-1",
		"empty":       "",
		"upper case":  strings.ToUpper(id),
		"in braces":   "{" + id + "}",
		"as URN":      "urn:uuid:" + id,
		"position 0":  "00000000-0000-8000-8000-0123456789ab",
		"no position": "ffffffff-ffff-8000-8000-0123456789ab",
	} {
		if seq, ok := session.PositionOf(foreign); ok {
			t.Errorf("%s: %q has position %d", name, foreign, seq)
		}
	}
}
