package jsonx

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Long histories are decoded each time that an agent is called. These functions find the
// parts of a value in one pass and without copies, where encoding/json needs several.

// Members returns the members of an object as parts of raw, which must be valid JSON;
// false if it is no object. They are those that json.Unmarshal finds.
func Members(raw []byte) (map[string]json.RawMessage, bool) {
	at := space(raw, 0)
	if at >= len(raw) || raw[at] != '{' {
		return nil, false
	}
	out := map[string]json.RawMessage{}
	for at = space(raw, at+1); at < len(raw) && raw[at] != '}'; {
		end := valueEnd(raw, at)
		name := Text(raw[at:end])
		at = space(raw, space(raw, end)+len(":"))
		end = valueEnd(raw, at)
		out[name] = raw[at:end:end]
		at = next(raw, end)
	}
	return out, true
}

// Elements returns the elements of an array as Members returns members.
func Elements(raw []byte) ([]json.RawMessage, bool) {
	at := space(raw, 0)
	if at >= len(raw) || raw[at] != '[' {
		return nil, false
	}
	var out []json.RawMessage
	for at = space(raw, at+1); at < len(raw) && raw[at] != ']'; {
		end := valueEnd(raw, at)
		out = append(out, raw[at:end:end])
		at = next(raw, end)
	}
	return out, true
}

// Text decodes a string of valid JSON; "" for another value.
func Text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if plain := raw[1 : len(raw)-1]; bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return string(plain)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// next returns where the part after a comma begins, or the end of what contains it.
func next(raw []byte, at int) int {
	if at = space(raw, at); at < len(raw) && raw[at] == ',' {
		return space(raw, at+1)
	}
	return at
}

// space returns the index of the first byte from at on that is not white space.
func space(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\t' || raw[at] == '\r') {
		at++
	}
	return at
}

// valueEnd returns the index after the value that begins at an index.
func valueEnd(raw []byte, at int) int {
	depth := 0
	for at < len(raw) {
		switch raw[at] {
		case '"':
			at = stringEnd(raw, at)
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\n', '\t', '\r':
			at++
			continue
		default: // a number, true, false or null
			for at < len(raw) && !ends(raw[at]) {
				at++
			}
		}
		if depth == 0 {
			return at
		}
	}
	return at
}

// ends reports whether a byte is not part of a number, true, false or null.
func ends(c byte) bool {
	switch c {
	case ',', ':', '}', ']', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

// stringEnd returns the index after the string that begins at an index.
func stringEnd(raw []byte, at int) int {
	for at++; at < len(raw); {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			break
		}
		escapes := 0
		for i := at + n - 1; i >= at && raw[i] == '\\'; i-- {
			escapes++
		}
		if at += n + 1; escapes%2 == 0 {
			return at
		}
	}
	return len(raw)
}
