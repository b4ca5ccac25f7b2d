package agentconfig

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// header reads the headers to send: literal ones, those from the environment, and the
// key as a bearer token.
func (r *reader) header() http.Header {
	header := http.Header{}
	var plain, secret map[string]string
	r.take("headers", &plain, "an object of strings")
	r.take("header_env", &secret, "an object of strings")
	for _, name := range slices.Sorted(maps.Keys(plain)) {
		r.set(header, "headers", name, plain[name])
	}
	for _, name := range slices.Sorted(maps.Keys(secret)) {
		r.set(header, "header_env", name, r.secret("header_env/"+jsonx.EscapePointer(name), secret[name]))
	}
	if _, ok := r.Members["api_key_env"]; ok {
		key := r.secret("api_key_env", r.text("api_key_env"))
		r.set(header, "api_key_env", "Authorization", "Bearer "+key)
	}
	return header
}

func (r *reader) secret(at, variable string) string {
	value, ok := r.lookup(variable)
	if !ok || strings.TrimSpace(value) == "" {
		r.fail(at, "names the environment variable %q, which is not set", variable)
	}
	return strings.TrimSpace(value)
}

// set sets a header if it may be sent (RFC 9110: a token, and no control characters).
func (r *reader) set(header http.Header, member, name, value string) {
	at := member
	if member != "api_key_env" {
		at += "/" + jsonx.EscapePointer(name)
	}
	key := http.CanonicalHeaderKey(name)
	switch key {
	case "Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Host", "Transfer-Encoding":
		r.fail(at, "is a header that cannot be chosen")
	}
	if ok, err := regexp.MatchString("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", name); err != nil || !ok {
		r.fail(at, "is not the name of a header")
	}
	if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		r.fail(at, "has a value with control characters")
	}
	if _, twice := header[key]; twice {
		r.fail(at, "sets the header %s a second time", key)
	}
	header.Set(name, value)
}
