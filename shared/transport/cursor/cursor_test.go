package cursor_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/cursor"
)

func TestList(t *testing.T) {
	t.Parallel()
	t.Run("a cursor belongs to its list and to no other", func(t *testing.T) {
		t.Parallel()
		property.Check(t, func(t *rapid.T) {
			names := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b"}), 0, 3)
			list, other := cursor.List(names.Draw(t, "list")), cursor.List(names.Draw(t, "other"))
			at := session.Resume{
				Seq: rapid.Int64Range(1, jsonx.MaxInteger).Draw(t, "seq"), Epoch: rapid.Int64Range(0, jsonx.MaxInteger).Draw(t, "epoch"),
			}
			encoded, err := list.EncodeLog(at)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := list.DecodeLog(encoded); err != nil || got != at {
				t.Fatalf("%v, %v, want %v", got, err, at)
			}
			same := strings.Join(list, "/") == strings.Join(other, "/") && len(list) == len(other)
			if _, err := other.DecodeLog(encoded); (err == nil) != same {
				t.Fatalf("the list %q takes a cursor of %q: %v", other, list, err)
			}
		})
	})
	list := cursor.List{"alice", "things"}
	for name, position := range map[string]any{
		"a position before the first": map[string]int64{"s": 0, "e": 0},
		"a negative epoch":            map[string]int64{"s": 1, "e": -1},
		"another member":              map[string]int64{"s": 1, "e": 1, "x": 1},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			t.Parallel()
			encoded, err := list.Encode(position)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := list.DecodeLog(encoded); !errors.Is(err, fault.Of(fault.Malformed)) {
				t.Errorf("got %v", err)
			}
		})
	}
	for name, position := range map[string]string{
		"an empty text": "", "a text that is too long": strings.Repeat("x", 901),
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			t.Parallel()
			encoded, err := list.Encode(position)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := list.DecodeText(encoded); !errors.Is(err, fault.Of(fault.Malformed)) {
				t.Errorf("got %v", err)
			}
		})
	}
}
