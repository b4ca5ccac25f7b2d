package jsonx

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// MaxInteger is the largest integer that every JSON reader represents exactly.
const MaxInteger = 1<<53 - 1

// Integer parses a JSON number without a fraction in any notation: 3, 3.0 and 3e0
// are equal. It returns false for other values and beyond MaxInteger.
func Integer(raw []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > MaxInteger {
			return 0, false
		}
		n = int64(f)
	}
	return n, n <= MaxInteger && n >= -MaxInteger
}

// IsNull reports whether a JSON value is absent or null.
func IsNull(raw []byte) bool {
	t := bytes.TrimSpace(raw)
	return len(t) == 0 || bytes.Equal(t, []byte("null"))
}

// IsObject reports whether a JSON value is an object.
func IsObject(raw []byte) bool { return startsWith(raw, '{') }

// IsArray reports whether a JSON value is an array.
func IsArray(raw []byte) bool { return startsWith(raw, '[') }

func startsWith(raw []byte, c byte) bool {
	t := bytes.TrimSpace(raw)
	return len(t) > 0 && t[0] == c
}

// EscapePointer escapes one token of a JSON pointer (RFC 6901).
func EscapePointer(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token // building a replacer takes longer than all else
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// SnakeCase returns the name of a member in snake case, given in camel case.
func SnakeCase(name string) string {
	var out strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) {
			if i > 0 {
				out.WriteByte('_')
			}
			c = unicode.ToLower(c)
		}
		out.WriteRune(c)
	}
	return out.String()
}

// MembersBut returns the members of an object except some; none of null.
func MembersBut(raw json.RawMessage, names ...string) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if IsNull(raw) {
		return out, nil
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, err
	}
	for _, name := range names {
		delete(out, name)
	}
	return out, nil
}
