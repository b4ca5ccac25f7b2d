package search

import (
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxWord is how much of a word a set keeps, in bytes. A longer word is found by it, and
// compared as a whole afterwards.
const maxWord = 64

// Words collects the words of texts.
type Words struct {
	folder folder
	keys   map[string]struct{}
}

// NewWords returns an empty collection.
func NewWords() *Words { return &Words{folder: newFolder(), keys: map[string]struct{}{}} }

// Add adds the words of a text.
func (w *Words) Add(text string) {
	eachWord(text, func(found word) bool {
		folded := w.folder.fold(text[found.start:found.end])
		if !found.unspaced {
			w.add(cut(folded))
			return true
		}
		for pair := range pairs(folded) {
			w.add(pair)
		}
		return true
	})
}

func (w *Words) add(key string) {
	if key != "" {
		w.keys[key] = struct{}{}
	}
}

// AddSet adds the members of a set.
func (w *Words) AddSet(s Set) {
	for _, key := range s {
		w.add(key)
	}
}

// Set returns the words.
func (w *Words) Set() Set {
	out := make(Set, 0, len(w.keys))
	for key := range w.keys {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// cut returns what a set keeps of a folded word.
func cut(folded string) string {
	if len(folded) <= maxWord {
		return folded
	}
	end := maxWord
	for !utf8.RuneStart(folded[end]) {
		end--
	}
	return folded[:end]
}

// pairs returns what a set keeps of a folded run of a script without spaces: each
// character with its successor, and the last one.
func pairs(folded string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for from := 0; from < len(folded); {
			_, size := utf8.DecodeRuneInString(folded[from:])
			_, next := utf8.DecodeRuneInString(folded[from+size:])
			if !yield(folded[from : from+size+next]) {
				return
			}
			from += size
		}
	}
}

// Set is the words of one or several texts: sorted, without duplicates.
type Set []string

func (s Set) hasPrefix(prefix string) bool {
	i, _ := slices.BinarySearch(s, prefix)
	return i < len(s) && strings.HasPrefix(s[i], prefix)
}

// setVersion is the first byte of an encoded set.
const setVersion = 1

// ErrMalformed is the error of what Encode did not encode.
var ErrMalformed = errors.New("not a set of words")

// Encode encodes a set: for each word, how much it has in common with the one before,
// and the rest of it.
func (s Set) Encode() []byte {
	out := []byte{setVersion}
	previous := ""
	for _, word := range s {
		same := commonPrefix(previous, word)
		out = binary.AppendUvarint(out, uint64(same)) //nolint:gosec // a length
		out = binary.AppendUvarint(out, uint64(len(word[same:])))
		out = append(out, word[same:]...)
		previous = word
	}
	return out
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// DecodeSet decodes the output of Encode.
func DecodeSet(encoded []byte) (Set, error) {
	if len(encoded) == 0 || encoded[0] != setVersion {
		return nil, ErrMalformed
	}
	var out Set
	previous := ""
	for rest := encoded[1:]; len(rest) > 0; {
		var same, more uint64
		var ok bool
		if same, rest, ok = number(rest, uint64(len(previous))); !ok {
			return nil, ErrMalformed
		}
		if more, rest, ok = number(rest, maxWord); !ok || more > uint64(len(rest)) {
			return nil, ErrMalformed
		}
		word := previous[:same] + string(rest[:more])
		if word <= previous || len(word) > maxWord {
			return nil, ErrMalformed
		}
		out, previous, rest = append(out, word), word, rest[more:]
	}
	return out, nil
}

// number reads a number up to a limit.
func number(from []byte, most uint64) (n uint64, rest []byte, ok bool) {
	n, size := binary.Uvarint(from)
	if size <= 0 || n > most {
		return 0, nil, false
	}
	return n, from[size:], true
}
