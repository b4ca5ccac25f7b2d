package adk

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rethread/rethread/clients/go/adk/internal/remote"
)

const (
	maxName    = 128 // characters of an artifact's name
	userPrefix = "user:"
	scheme     = "artifact://"
)

// checkName says what is wrong with the name of an artifact. The API has the same
// rules, but not every name reaches it as a part of a path.
func checkName(name string) error {
	reason := ""
	switch rest := strings.TrimPrefix(name, userPrefix); {
	case rest == "", rest == ".", rest == "..":
		reason = "must be more than a prefix or a relative path"
	case !utf8.ValidString(name):
		reason = "must be valid UTF-8"
	case utf8.RuneCountInString(name) > maxName:
		reason = fmt.Sprintf("must be at most %d characters", maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return r == '/' || unicode.IsControl(r) }):
		reason = `must not contain "/" or control characters`
	default:
		return nil
	}
	return fmt.Errorf("%w: the file name %.100q %s", ErrInvalid, name, reason)
}

// uriOf is the reference that names a version of an artifact of a session.
func uriOf(v remote.Version, sessionID string) string {
	scope, name := "session/"+url.PathEscape(sessionID), v.Name
	if shared, ok := strings.CutPrefix(name, userPrefix); ok {
		scope, name = "user", shared
	}
	return scheme + scope + "/" + url.PathEscape(name) + "/" + strconv.FormatInt(v.Version, 10)
}

// isReference reports whether a URI names an artifact, which is then followed
// when it is read.
func isReference(uri string) bool {
	return len(uri) >= len(scheme) && strings.EqualFold(uri[:len(scheme)], scheme)
}
