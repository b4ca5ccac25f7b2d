package content

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
)

// Limits of the content of an event in progress.
const (
	MaxParts    = 256 // parts of one content
	MaxCallID   = 256 // characters of a function call's id
	MaxCallName = 256 // characters of a function call's name
)

// Delta appends to one part of the content of an event in progress. It carries
// text, thinking or a piece of a function call; the first delta of a part decides
// which of the three the part is.
type Delta struct {
	Part    int        // index of the part, from 0
	Thought bool       // Text is thinking
	Text    string     // may be empty; must be empty with Call
	Call    *CallDelta // a piece of a function call; nil for text
}

// CallDelta is a piece of a function call. Only the first delta of the part has ID and
// Name; Name is required there.
type CallDelta struct {
	ID       string
	Name     string
	ArgsText string // appends to the JSON text of the arguments
}

// Validate returns a fault that names a member that is invalid by itself; pointer
// is the delta's JSON pointer. Draft.Append checks a delta against those before
// it.
func (d Delta) Validate(pointer string) error {
	if d.Part < 0 || d.Part >= MaxParts {
		return fault.Field(fault.Invalid, pointer+"/part", "must be 0 to %d", MaxParts-1)
	}
	if d.Call == nil {
		return checkText(pointer+"/text", d.Text, math.MaxInt)
	}
	if d.Text != "" {
		return fault.Field(fault.Invalid, pointer+"/text", "must be absent beside function_call")
	}
	if d.Thought {
		return fault.Field(fault.Invalid, pointer+"/thought", "must be absent beside function_call")
	}
	at := pointer + "/function_call"
	if err := checkText(at+"/id", d.Call.ID, MaxCallID); err != nil {
		return err
	}
	if err := checkText(at+"/name", d.Call.Name, MaxCallName); err != nil {
		return err
	}
	return checkText(at+"/args_text", d.Call.ArgsText, math.MaxInt)
}

// checkText returns what is wrong with a text; limit is in characters.
func checkText(pointer, text string, limit int) error {
	if !utf8.ValidString(text) {
		return fault.Field(fault.Malformed, pointer, "must be valid UTF-8")
	}
	if len(text) > limit && utf8.RuneCountInString(text) > limit {
		return fault.Field(fault.Invalid, pointer, "must be at most %d characters", limit)
	}
	return nil
}

// Size returns how many bytes of UTF-8 the delta adds to a content.
func (d Delta) Size() int {
	if d.Call == nil {
		return len(d.Text)
	}
	return len(d.Call.ID) + len(d.Call.Name) + len(d.Call.ArgsText)
}

// Split splits the delta into deltas with at most maxBytes of text or argument text
// each, which together append the same. It never splits a character: one that is
// longer than maxBytes stays whole. The first delta keeps a call's id and name,
// which do not count.
func (d Delta) Split(maxBytes int) []Delta {
	var out []Delta
	rest := d.Appended()
	for {
		n := cut(rest, maxBytes)
		out = append(out, d.with(rest[:n]))
		if rest = rest[n:]; rest == "" {
			return out
		}
		if d.Call != nil {
			d.Call = &CallDelta{}
		}
	}
}

// cut returns where to end a text so that it has at most limit bytes, but at least
// one character if it has any.
func cut(text string, limit int) int {
	if len(text) <= limit {
		return len(text)
	}
	n := max(limit, 0)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(text)
	}
	return n
}

// Coalesce joins consecutive deltas of the same part, so that fewer deltas append
// the same. It does not change its argument.
func Coalesce(deltas []Delta) []Delta {
	var out []Delta
	for start := 0; start < len(deltas); {
		end := start + 1
		var text strings.Builder
		text.WriteString(deltas[start].Appended())
		for ; end < len(deltas) && deltas[start].continuedBy(deltas[end]); end++ {
			text.WriteString(deltas[end].Appended())
		}
		out = append(out, deltas[start].with(text.String()))
		start = end
	}
	return out
}

// continuedBy reports whether another delta continues this one.
func (d Delta) continuedBy(next Delta) bool {
	if d.Part != next.Part || d.Thought != next.Thought || (d.Call == nil) != (next.Call == nil) {
		return false
	}
	return next.Call == nil || next.Call.ID == "" && next.Call.Name == ""
}

// Appended returns the text that the delta appends to its part.
func (d Delta) Appended() string {
	if d.Call != nil {
		return d.Call.ArgsText
	}
	return d.Text
}

// with returns the delta with another text to append.
func (d Delta) with(text string) Delta {
	if d.Call == nil {
		d.Text = text
		return d
	}
	d.Call = &CallDelta{ID: d.Call.ID, Name: d.Call.Name, ArgsText: text}
	return d
}
