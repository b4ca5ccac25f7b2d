package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// word is a word in a text, or a run of a script that is written without spaces.
type word struct {
	start, end int // in the text, in bytes
	unspaced   bool
}

// class is what a character is to words.
type class int

const (
	separator class = iota
	letter          // of a script with spaces between words, or a digit
	unspaced        // of a script without
	joining         // continues either
)

// The characters around scripts without spaces that have no script of their own.
const (
	prolonged      = '\u30fc' // of Katakana
	prolongedHalf  = '\uff70'
	voicedHalf     = '\uff9e'
	semiVoicedHalf = '\uff9f'
)

// Characters that are invisible within a word.
const (
	softHyphen = '\u00ad'
	nonJoiner  = '\u200c'
	joiner     = '\u200d'
)

// firstUnspaced is the first character of a script without spaces, Thai.
const firstUnspaced = '\u0e00'

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return letter
		}
		return separator
	case r >= firstUnspaced && isUnspaced(r):
		return unspaced
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return letter
	case unicode.IsMark(r), r == softHyphen, r == nonJoiner, r == joiner:
		return joining
	}
	return separator
}

func isUnspaced(r rune) bool {
	switch r {
	case prolonged, prolongedHalf, voicedHalf, semiVoicedHalf:
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Yi,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// eachWord visits the words of a text in order until visit returns false.
func eachWord(text string, visit func(word) bool) {
	var open word
	var within class // of the open word; separator without one
	for i, r := range text {
		is := classOf(r)
		if is == joining {
			is = within
		}
		if is == within {
			continue
		}
		if open.end = i; within != separator && !visit(open) {
			return
		}
		open, within = word{start: i, unspaced: is == unspaced}, is
	}
	if open.end = len(text); within != separator {
		visit(open)
	}
}

// folder brings words into the form in which they are compared: without differences
// of case, of width, and of the accents of Latin, Greek and Cyrillic. It is not safe for
// concurrent use.
type folder struct {
	cases cases.Caser
	done  map[string]string // words that were folded: most come again
}

// foldedMost bounds how many words, and how long ones, a folder remembers.
const foldedMost, foldedLongest = 4096, 64

func newFolder() folder { return folder{cases: cases.Fold(), done: map[string]string{}} }

func (f folder) fold(word string) string {
	if isASCII(word) {
		return strings.ToLower(word)
	}
	if folded, ok := f.done[word]; ok {
		return folded
	}
	folded := f.cases.String(norm.NFKD.String(word))
	folded = norm.NFKC.String(strings.Map(func(r rune) rune {
		if isDropped(r) {
			return -1
		}
		return r
	}, folded))
	if len(word) <= foldedLongest && len(f.done) < foldedMost {
		f.done[word] = folded
	}
	return folded
}

// isDropped reports whether words are compared without a character.
func isDropped(r rune) bool {
	const firstAccent, lastAccent = '\u0300', '\u036f'
	return firstAccent <= r && r <= lastAccent || r == softHyphen || r == nonJoiner || r == joiner
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
