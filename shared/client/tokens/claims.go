package tokens

import (
	"slices"
	"strconv"

	"github.com/golang-jwt/jwt/v5"
)

// Claims returns the claims of a token that somebody else has verified; nil for what
// is no token.
func Claims(token string) map[string]any {
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser(jwt.WithJSONNumber()).ParseUnverified(token, claims); err != nil {
		return nil
	}
	return claims
}

// HasClaim reports whether a claim has a value: the same text, the text of the same
// truth value, or a list with the text as a member.
func HasClaim(claims map[string]any, name, value string) bool {
	switch got := claims[name].(type) {
	case string:
		return got == value
	case bool:
		return strconv.FormatBool(got) == value
	case []any:
		return slices.Contains(got, any(value))
	}
	return false
}
