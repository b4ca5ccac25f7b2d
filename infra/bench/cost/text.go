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

func (m *measurement) question(n int) string { return m.prose(n, 300) }

func (m *measurement) answer(n int) string { return m.prose(-n-1, 2000) }

// prose is text of a length, made of sentences in an order that the seed
// decides; no sentence comes twice.
func prose(seed, length int) string {
	lines := strings.Split(strings.TrimSpace(sentences), "\n")
	random := rand.New(rand.NewPCG(uint64(seed), 7)) //nolint:gosec // repeatable on purpose
	random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return strings.Join(lines, " ")[:length]
}

// varied is text without a sentence that comes twice in any seed: words in a
// random order, four in ten of them made up. Many such texts compress together
// to 0.68 of what they take one by one; paragraphs of documentation to 0.75.
func varied(seed, length int) string {
	words := strings.Fields(sentences)
	random := rand.New(rand.NewPCG(uint64(seed), 11)) //nolint:gosec // repeatable on purpose
	var b strings.Builder
	for b.Len() < length {
		if random.IntN(10) < 4 {
			for range 6 {
				b.WriteByte("etaoinshrdlu"[random.IntN(12)])
			}
		} else {
			b.WriteString(words[random.IntN(len(words))])
		}
		b.WriteByte(' ')
	}
	return b.String()[:length]
}
