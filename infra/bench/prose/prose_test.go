package prose_test

import (
	"os"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/bench/prose"
	"github.com/rethread/rethread/infra/test/property"
)

func TestText(t *testing.T) {
	t.Parallel()
	const cases, shortest = 200, 20
	dictionary, err := os.ReadFile("../../../shared/store/records/dictionary1.txt")
	if err != nil {
		t.Fatal(err)
	}
	random, seen, compared := property.Rand(t, 1), map[string]bool{}, 0
	for range cases {
		seed, length := random.Int(), 100+random.IntN(3000)
		text := prose.Text(seed, length)
		if len(text) != length || text != prose.Text(seed, length) {
			t.Fatalf("seed %d: %d bytes, not the same %d", seed, len(text), length)
		}
		if seen[text] {
			t.Fatalf("two seeds give %q", text)
		}
		seen[text] = true
		once := map[string]bool{}
		for sentence := range strings.SplitSeq(text, ". ") {
			if len(sentence) < shortest {
				continue // the text ends in it
			}
			if once[sentence] {
				t.Errorf("seed %d repeats %q", seed, sentence)
			}
			if strings.Contains(string(dictionary), sentence) {
				t.Errorf("the dictionary has %q", sentence)
			}
			once[sentence] = true
			compared++
		}
	}
	t.Logf("%d sentences of %d texts, %s=%d", compared, cases, property.Variable, property.Seed(t))
	if compared < cases {
		t.Errorf("only %d sentences", compared)
	}
}
