package jsonx

import "bytes"

// Line returns JSON text, or lines of it, without the characters other than line feeds at
// which some readers split lines, such as Python's str.splitlines, by which httpx reads
// streams: U+0085, U+2028 and U+2029 are escaped. In JSON these stand only in strings.
func Line(text []byte) []byte {
	if !bytes.Contains(text, []byte("\u0085")) && !bytes.Contains(text, []byte("\xe2\x80")) {
		return text
	}
	for _, c := range []struct{ raw, escaped string }{{"\u0085", `\u0085`}, {"\u2028", `\u2028`}, {"\u2029", `\u2029`}} {
		text = bytes.ReplaceAll(text, []byte(c.raw), []byte(c.escaped))
	}
	return text
}
