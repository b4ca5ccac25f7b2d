package adk

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	rethread "github.com/rethread/rethread/clients/go"
)

const (
	maxName    = 128 // characters of an artifact's name
	userPrefix = "user:"
	scheme     = "artifact://"
)

// checkName returns ErrInvalid for an invalid artifact name. The API has the same
// rules, but some invalid names would change the path of the request.
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

// isNoID reports whether no session can have an id, since URLs drop it or UTF-8 cannot
// express it.
func isNoID(id string) bool { return id == "." || id == ".." || !utf8.ValidString(id) }

// isAbsent reports whether the error of a request without a body says that what it names
// does not exist: it was not found, or nothing can have its id.
func isAbsent(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, ErrInvalid) }

// uriOf returns the artifact:// URI of a version.
func uriOf(v rethread.ArtifactVersion, sessionID string) string {
	scope, name := "session/"+url.PathEscape(sessionID), v.Name
	if shared, ok := strings.CutPrefix(name, userPrefix); ok {
		scope, name = "user", shared
	}
	return scheme + scope + "/" + url.PathEscape(name) + "/" + strconv.FormatInt(v.Version, 10)
}

// isReference reports whether a URI refers to an artifact; the API resolves such
// a reference on reading.
func isReference(uri string) bool {
	return len(uri) >= len(scheme) && strings.EqualFold(uri[:len(scheme)], scheme)
}
