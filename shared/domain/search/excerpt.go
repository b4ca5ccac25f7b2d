package search

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	// excerptLength is the maximum length of an excerpt, in Unicode characters without
	// its ellipses.
	excerptLength = 200
	// excerptBefore is how many of them may come before the word that was found.
	excerptBefore = 60
	ellipsis      = "…"
)

// Excerpt returns the part of a text around a position, in one line. It does not
// divide what readers see as one character.
func Excerpt(text string, at int) string {
	from := excerptStart(text, at)
	var out strings.Builder
	if from > 0 {
		out.WriteString(ellipsis)
	}
	rest, state, length, spaced := text[from:], -1, 0, true
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if strings.TrimSpace(cluster) == "" {
			if spaced {
				continue
			}
			cluster = " "
		}
		spaced = cluster == " "
		if length += utf8.RuneCountInString(cluster); length > excerptLength {
			return strings.TrimRight(out.String(), " ") + ellipsis
		}
		out.WriteString(cluster)
	}
	return strings.TrimRight(out.String(), " ")
}

// excerptStart returns where the excerpt around a position begins: at a word, if
// there is one near.
func excerptStart(text string, at int) int {
	low := at
	for range excerptBefore {
		_, size := utf8.DecodeLastRuneInString(text[:low])
		low -= size
	}
	if low == 0 {
		return 0
	}
	if space := strings.IndexAny(text[low:at], " \n\t"); space >= 0 {
		return low + space + 1
	}
	// Without spaces: at a whole character.
	for rest, state := text[low:at], -1; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if low += len(cluster); classOf(firstRune(cluster)) != joining {
			return low
		}
	}
	return at
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
