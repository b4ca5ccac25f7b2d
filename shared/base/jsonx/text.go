package jsonx

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is the maximum nesting depth of arrays and objects. Stored values wrap
// the ones sent, and decoders have their own limit.
const MaxDepth = 500

// MaxInnerDepth is MaxDepth for a value that becomes part of an event. Requests, lists and
// archives nest events further, and all that is stored has to pass MaxDepth again.
const MaxInnerDepth = MaxDepth - 20

// Flaw is why a JSON value cannot be stored: a JSON pointer (RFC 6901) into it, and
// the reason.
type Flaw struct{ Pointer, Reason string }

// Check looks for flaws of valid JSON: invalid UTF-8, escaped unpaired surrogates,
// and nesting deeper than MaxDepth. It returns nil if there are none. It does not
// check the syntax.
func Check(raw []byte) *Flaw { return check(raw, MaxDepth) }

// CheckInner looks for flaws of JSON that becomes part of an event and that Check has not
// seen as such: a text within JSON, like the arguments of a call, of which a text's own
// escapes hide the halves of characters, or an agent's answer.
func CheckInner(text []byte) *Flaw {
	if !json.Valid(text) {
		return &Flaw{"", "must be JSON"}
	}
	return check(text, MaxInnerDepth)
}

func check(raw []byte, deepest int) *Flaw {
	if at := invalidUTF8(raw); at >= 0 {
		return &Flaw{pointerAt(raw, at), "must be valid UTF-8"}
	}
	depth, at := 0, -1
	scan(raw, func(offset, n int) bool { at = offset; return false }, func(offset, change int) bool {
		if depth += change; depth > deepest {
			at = offset
		}
		return at < 0
	})
	switch {
	case at < 0:
		return nil
	case depth > deepest:
		return &Flaw{"", "must not be nested deeper than " + strconv.Itoa(deepest)}
	}
	return &Flaw{pointerAt(raw, at), "must not hold half of a surrogate pair"}
}

// Mend replaces invalid UTF-8 and escaped unpaired surrogates by U+FFFD. It returns
// other values unchanged.
func Mend(raw []byte) []byte {
	raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	var out []byte
	from := 0
	scan(raw, func(offset, n int) bool {
		out = append(append(out, raw[from:offset]...), `\ufffd`...)
		from = offset + n
		return true
	}, func(int, int) bool { return true })
	if out == nil {
		return raw
	}
	return append(out, raw[from:]...)
}

// scan calls half for each escaped unpaired surrogate, and nest with 1 or -1 for the
// beginning or end of each array and object, until one of them returns false.
func scan(raw []byte, half, nest func(offset, n int) bool) {
	const escape = len(`\u0000`)
	text := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case !text && (c == '{' || c == '['):
			if !nest(i, 1) {
				return
			}
		case !text && (c == '}' || c == ']'):
			if !nest(i, -1) {
				return
			}
		case c == '"':
			text = !text
		case text && c == '\\':
			r, ok := escaped(raw[i:])
			switch {
			case !ok || !utf16.IsSurrogate(r):
				i++ // the next byte is escaped
			default:
				next, _ := escaped(raw[i+escape:])
				if utf16.DecodeRune(r, next) != utf8.RuneError {
					i += 2*escape - 1
				} else if !half(i, escape) {
					return
				} else {
					i += escape - 1
				}
			}
		}
	}
}

// escaped returns the code unit of an escape such as \u00e9 at the start of raw.
func escaped(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}

func invalidUTF8(raw []byte) int {
	if utf8.Valid(raw) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}

// pointerAt returns the JSON pointer of the value, or of the member whose name
// contains the byte at an offset; "" if that is unknown.
func pointerAt(raw []byte, offset int) string {
	type level struct {
		name   string
		index  int
		object bool
		value  bool // the name was read, and the value is next
	}
	var levels []level
	path := func() string {
		var b strings.Builder
		for _, l := range levels {
			if !l.object {
				b.WriteString("/" + strconv.Itoa(l.index))
			} else if l.value {
				b.WriteString("/" + EscapePointer(l.name))
			}
		}
		return b.String()
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			return ""
		}
		top := len(levels) - 1
		delim, nests := token.(json.Delim)
		if nests && (delim == '}' || delim == ']') {
			levels = levels[:top]
			top--
		} else if top >= 0 && levels[top].object && !levels[top].value {
			levels[top].name, _ = token.(string)
			levels[top].value = true
			if int(dec.InputOffset()) > offset {
				return path()
			}
			continue
		}
		if int(dec.InputOffset()) > offset {
			return path()
		}
		if nests && (delim == '{' || delim == '[') {
			levels = append(levels, level{object: delim == '{'})
			continue
		}
		if top >= 0 { // the end of a value
			levels[top].value = false
			levels[top].index++
		}
	}
}
