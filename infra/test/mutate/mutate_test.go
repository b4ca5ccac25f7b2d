package mutate_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rethread/rethread/infra/test/mutate"
)

const sample = `{"id": "a", "list": [1, {"b": null}, []], "deep": {"c": true, "d": {}}}`

func TestJSON(t *testing.T) {
	t.Run("the same random source makes the same texts", func(t *testing.T) {
		first, second := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2)) //nolint:gosec // repeatable on purpose
		for range 100 {
			if a, b := mustMutate(t, first), mustMutate(t, second); a != b {
				t.Fatalf("got %.100q, then %.100q", a, b)
			}
		}
	})
	t.Run("makes all kinds of changes", func(t *testing.T) {
		random, kinds := rand.New(rand.NewPCG(3, 4)), map[string]int{} //nolint:gosec // repeatable on purpose
		for range 2000 {
			text := mustMutate(t, random)
			for kind, is := range map[string]bool{
				"JSON": json.Valid([]byte(text)), "no JSON": !json.Valid([]byte(text)), "no UTF-8": !utf8.ValidString(text),
				"half a character": strings.Contains(text, `\ud83d`), "without a member": !strings.Contains(text, `"id"`),
				"a member twice": strings.Count(text, `"id":`) == 2, "very long": len(text) > 100_000,
				"nested deeply": strings.Contains(text, strings.Repeat("[", 501)), "a huge number": strings.Contains(text, "1e400"),
				"another case": strings.Contains(text, `"DEEP"`), "null": strings.Contains(text, `"deep":null`),
			} {
				if is {
					kinds[kind]++
				}
			}
		}
		if len(kinds) < 11 {
			t.Errorf("kinds: %v", kinds)
		}
	})
	t.Run("refuses invalid JSON", func(t *testing.T) {
		if got, err := mutate.JSON(rand.New(rand.NewPCG(1, 2)), []byte(`{"a":`)); err == nil { //nolint:gosec // repeatable on purpose
			t.Errorf("got %q", got)
		}
	})
}

func mustMutate(t *testing.T, random *rand.Rand) string {
	t.Helper()
	out, err := mutate.JSON(random, []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
