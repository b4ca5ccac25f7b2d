package rethread

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What requests are made of. What could never be sent, or would name something else, is
// refused before any request, by its name and without its value, which may be secret.

// segment returns one segment of a path. URLs drop empty and dotted ones, also escaped,
// so that they would name another resource.
func segment(param string) (string, error) {
	if param == "" || param == "." || param == ".." || !utf8.ValidString(param) {
		return "", fmt.Errorf("%w: %q is not an id", ErrInvalid, param)
	}
	return strings.ReplaceAll(url.QueryEscape(param), "+", "%20"), nil
}

// checkToken returns ErrInvalid if no header can have a bearer token, such as one with
// the line feed of its file.
func checkToken(token string) error { return checkVisible("token", token) }

// checkHeader returns ErrInvalid if a header cannot have a value.
func checkHeader(name, value string) error { return checkVisible("header "+name, value) }

// checkVisible checks that a value consists of the visible characters of ASCII, with
// spaces only between them.
func checkVisible(name, value string) error {
	for at, r := range value {
		if r < ' ' || r > '~' || r == ' ' && (at == 0 || at == len(value)-1) {
			return fmt.Errorf("%w: %s: %U at position %d of %d cannot be sent", ErrInvalid, name, r, at, len(value))
		}
	}
	return nil
}

// checkAddress returns ErrInvalid unless a URL is the address of an HTTP API.
func checkAddress(name, address string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Hostname() == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") ||
		parsed.RawQuery != "" || parsed.Fragment != "" || !isPort(parsed.Port()) {
		return fmt.Errorf("%w: %s: it is not an address such as https://api.example/api/v1, without a query", ErrInvalid, name)
	}
	return nil
}

// The longest id of a user, as docs/limits.md has it.
const userCharacters, userBytes = 256, 768

// checkUser returns ErrInvalid unless a user can have an id; "" is none.
func checkUser(id string) error {
	if !utf8.ValidString(id) || len(id) > userBytes || utf8.RuneCountInString(id) > userCharacters {
		return fmt.Errorf("%w: User: it has more than %d characters or is not text", ErrInvalid, userCharacters)
	}
	return nil
}

// isPort reports whether a port can be connected to; "" is that of the scheme.
func isPort(port string) bool {
	if port == "" {
		return true
	}
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil
}
