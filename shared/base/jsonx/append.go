package jsonx

import (
	"unicode/utf8"
)

// AppendString appends a string as JSON, as Marshal encodes it.
func AppendString(to []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(to, '"'), s...), '"')
	}
	encoded, err := Marshal(s)
	if err != nil { // a string can always be encoded
		encoded = []byte(`""`)
	}
	return append(to, encoded...)
}

// isPlain reports whether a string is its own encoding.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
