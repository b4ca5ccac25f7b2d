// Package search is the search of what was said: the words of a text and how they are
// compared, the texts of events, excerpts, and sets of the words of many events. It
// has no I/O.
package search

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Query is the words that are searched for.
type Query struct{ terms []term }

// term is a folded word of a query. It is found at the beginning of a word or, of a
// script without spaces, anywhere.
type term struct {
	text     string
	unspaced bool
	keys     []string // prefixes of members of each set that may have the word
}

// Parse returns the query of a text. It is empty if the text contains no word.
func Parse(text string) Query {
	var q Query
	f := newFolder()
	eachWord(text, func(w word) bool {
		t := term{text: f.fold(text[w.start:w.end]), unspaced: w.unspaced}
		if t.text == "" || slices.ContainsFunc(q.terms, func(o term) bool { return o.text == t.text }) {
			return true
		}
		t.keys = []string{cut(t.text)}
		if t.unspaced {
			t.keys = slices.Collect(pairs(t.text))
			if n := len(t.keys); n > 1 {
				t.keys = t.keys[:n-1] // the last one is a single character, part of the one before
			}
		}
		q.terms = append(q.terms, t)
		return true
	})
	return q
}

// Empty reports whether the query has no words.
func (q Query) Empty() bool { return len(q.terms) == 0 }

// MayMatch reports whether a text whose words are in a set may match. It is true if a
// single text with words of the set matches, and may be true otherwise.
func (q Query) MayMatch(s Set) bool {
	for _, t := range q.terms {
		for _, key := range t.keys {
			if !s.hasPrefix(key) {
				return false
			}
		}
	}
	return true
}

// Find returns where the first of the words is in a text that has all of them, and ok
// whether it has.
func (q Query) Find(text string) (at int, ok bool) {
	missing := slices.Clone(q.terms)
	at = -1
	f := newFolder()
	eachWord(text, func(w word) bool {
		folded := f.fold(text[w.start:w.end])
		first := len(folded)
		missing = slices.DeleteFunc(missing, func(t term) bool {
			within, ok := t.in(folded, w.unspaced)
			if ok {
				first = min(first, within)
			}
			return ok
		})
		if at < 0 && first < len(folded) {
			at = w.start + offset(text[w.start:w.end], folded[:first])
		}
		return len(missing) > 0
	})
	return at, len(missing) == 0
}

// in returns where a term is in a folded word.
func (t term) in(folded string, unspaced bool) (at int, ok bool) {
	switch {
	case t.unspaced != unspaced:
		return 0, false
	case unspaced:
		at = strings.Index(folded, t.text)
		return at, at >= 0
	}
	return 0, strings.HasPrefix(folded, t.text)
}

// offset returns where about the rest of a word begins, of which a part, folded, comes
// before: folding changes the number of few characters.
func offset(word, before string) int {
	n := utf8.RuneCountInString(before)
	for i := range word {
		if n == 0 {
			return i
		}
		n--
	}
	return 0
}
