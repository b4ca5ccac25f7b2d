package search_test

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/domain/search"
)

// FuzzDecodeSet checks that decoding never fails otherwise than with an error, and that
// a set has one encoding.
func FuzzDecodeSet(f *testing.F) {
	f.Add(setOf("a word, another word and 東京").Encode())
	f.Add([]byte{1})
	f.Add([]byte{1, 0, 1, 'b', 0, 1, 'a'})
	f.Add([]byte{1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 1})
	f.Fuzz(func(t *testing.T, encoded []byte) {
		set, err := search.DecodeSet(encoded)
		if err != nil {
			return
		}
		again, err := search.DecodeSet(set.Encode())
		if err != nil || len(again) != len(set) || !bytes.Equal(again.Encode(), set.Encode()) {
			t.Errorf("%q became %q, %v", set, again, err)
		}
	})
}

// FuzzFind checks that any query is handled in any text, and that sets agree.
func FuzzFind(f *testing.F) {
	f.Add("trip", "A trip to Lisbon")
	f.Add("京", "東京")
	f.Add("\xff", "a\xffb")
	f.Fuzz(func(t *testing.T, words, text string) {
		query := search.Parse(words)
		at, ok := query.Find(text)
		if !ok || query.Empty() {
			return
		}
		if at < 0 || at >= len(text) || !query.MayMatch(setOf(text)) {
			t.Errorf("%q is at %d of %q, and in its set: %v", words, at, text, query.MayMatch(setOf(text)))
		}
		if excerpt := search.Excerpt(text, at); utf8.RuneCountInString(excerpt) > 202 {
			t.Errorf("the excerpt %q of %q is too long", excerpt, text)
		}
	})
}
