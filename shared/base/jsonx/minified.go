package jsonx

// Minified returns a JSON text without the white space outside of strings. The text may
// be only the beginning of a value, as of a call's arguments while they are written; they
// lose that white space when their event is complete.
func Minified(text string) string {
	out := make([]byte, 0, len(text))
	quoted, escaped := false, false
	for _, c := range []byte(text) {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			continue
		}
		out = append(out, c)
	}
	return string(out)
}
