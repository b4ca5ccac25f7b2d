// Package contenttest draws contents for the random tests of several packages.
package contenttest

import (
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/shared/domain/content"
)

// Deltas draws deltas of a content: parts of any kind, with their pieces
// interleaved.
func Deltas(t *rapid.T) []content.Delta {
	var deltas, opened []content.Delta
	text := rapid.StringN(0, 6, -1).Filter(utf8.ValidString)
	for range rapid.IntRange(0, 12).Draw(t, "deltas") {
		part := rapid.IntRange(0, len(opened)).Draw(t, "part")
		if part == len(opened) {
			d := content.Delta{Part: part}
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				d.Call = &content.CallDelta{ID: text.Draw(t, "id"), Name: "f" + text.Draw(t, "name")}
			case 1:
				d.Thought = true
			}
			opened, deltas = append(opened, d), append(deltas, d)
			continue
		}
		d := opened[part]
		if d.Call != nil {
			d.Call = &content.CallDelta{ArgsText: text.Draw(t, "args")}
		} else {
			d.Text = text.Draw(t, "text")
		}
		deltas = append(deltas, d)
	}
	return deltas
}
