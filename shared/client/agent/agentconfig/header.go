package agentconfig

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// headers reads the headers to send: literal ones, those from the environment and the
// key as a bearer token; and those whose values are kept in parameters.
func (r *reader) headers() (http.Header, map[string]Kept) {
	header := r.header()
	var parameters map[string]string
	r.take("header_parameters", &parameters, "an object of strings")
	kept := map[string]Kept{}
	keep := func(at, name, prefix, parameter string) {
		if ok, err := regexp.MatchString("^(/[A-Za-z0-9._-]+)+$", parameter); err != nil || !ok {
			r.fail(at, "must be the name of a parameter with its path, such as /rethread/agents/key")
		}
		r.setAt(header, at, name, "") // finds a header that is set twice
		header.Del(name)
		if _, twice := kept[http.CanonicalHeaderKey(name)]; twice {
			r.fail(at, "sets the header %s a second time", http.CanonicalHeaderKey(name))
		}
		kept[http.CanonicalHeaderKey(name)] = Kept{prefix, parameter}
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		keep("header_parameters/"+jsonx.EscapePointer(name), name, "", parameters[name])
	}
	if _, ok := r.Members["api_key_parameter"]; ok {
		keep("api_key_parameter", "Authorization", "Bearer ", r.text("api_key_parameter"))
	}
	return header, kept
}

// header reads the headers whose values the configuration or the environment has.
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
	r.setAt(header, at, name, value)
}

func (r *reader) setAt(header http.Header, at, name, value string) {
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
