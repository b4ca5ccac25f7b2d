// Package prose makes the texts that benchmarks store: ordinary English of any length,
// each text about one subject, as questions and answers of conversations are. No
// sentence comes twice in a text, and none is in the dictionary of package records, so
// that texts are no easier to compress than what people write.
package prose

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
)

var (
	//go:embed subjects.json
	subjects []byte
	//go:embed asides.txt
	asides string // sentences about anything, one a line
)

// aside is how many of a hundred sentences are about something else than the subject.
// A question of 300 and an answer of 2,000 characters then compress to 1 KB with all that
// is stored around them, or to a little more, as transcripts of chats do: one turn in two
// takes another write unit.
const aside = 28

// subject has the words of a text.
type subject struct {
	Things, Actions, Qualities, Places, People []string
}

// source is the patterns of sentences, with the place of each word, the subjects, and
// sentences about anything.
type source struct {
	Patterns []string
	Subjects []subject
	asides   []string
}

// load reads the source once: benchmarks of speed make texts while they measure.
//
//nolint:gochecknoglobals // the embedded words never change
var load = sync.OnceValue(func() source {
	from := source{asides: strings.Split(strings.TrimSpace(asides), "\n")}
	if err := json.Unmarshal(subjects, &from); err != nil {
		panic(fmt.Sprintf("the embedded words: %v", err))
	}
	return from
})

// Text returns a text of a length in bytes. Each seed gives another one.
func Text(seed, length int) string {
	from := load()
	random := rand.New(rand.NewPCG(uint64(seed), 13)) //nolint:gosec // repeatable on purpose
	about := from.Subjects[random.IntN(len(from.Subjects))]
	var text strings.Builder
	said := map[string]bool{}
	for text.Len() < length {
		sentence := about.sentence(random, from.Patterns[random.IntN(len(from.Patterns))])
		if random.IntN(100) < aside {
			sentence = from.asides[random.IntN(len(from.asides))]
		}
		if !said[sentence] {
			said[sentence] = true
			text.WriteString(sentence + " ")
		}
	}
	return text.String()[:length]
}

// sentence fills a pattern with words.
func (s subject) sentence(random *rand.Rand, pattern string) string {
	one := func(of []string) string { return of[random.IntN(len(of))] }
	var out strings.Builder
	for word := range strings.SplitSeq(pattern, " ") {
		bare := strings.TrimRight(word, ".,;")
		rest := word[len(bare):]
		switch bare {
		case "THING":
			bare = one(s.Things)
		case "ACTION":
			bare = one(s.Actions)
		case "QUALITY":
			bare = one(s.Qualities)
		case "PLACE":
			bare = one(s.Places)
		case "PEOPLE":
			bare = one(s.People)
		case "NUMBER":
			bare = fmt.Sprint(2 + random.IntN(97))
		}
		out.WriteString(bare + rest + " ")
	}
	sentence := strings.TrimSuffix(out.String(), " ")
	return strings.ToUpper(sentence[:1]) + sentence[1:]
}
