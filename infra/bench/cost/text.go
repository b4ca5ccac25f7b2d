package cost

import (
	_ "embed"
	"math/rand/v2"
	"strings"
)

// sentences is English prose about many things, a sentence a line: the texts
// that are stored must be no easier to compress than what people write.
//
//go:embed sentences.txt
var sentences string

func question(n int) string { return prose(n, 300) }

func answer(n int) string { return prose(-n-1, 2000) }

// prose is text of a length, made of sentences in an order that the seed
// decides; no sentence comes twice.
func prose(seed, length int) string {
	lines := strings.Split(strings.TrimSpace(sentences), "\n")
	random := rand.New(rand.NewPCG(uint64(seed), 7)) //nolint:gosec // repeatable on purpose
	random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return strings.Join(lines, " ")[:length]
}
