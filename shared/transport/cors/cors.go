// Package cors lets pages of another web origin read the answers of functions behind the
// streaming REST API, which adds no headers to them. The template has what they may send.
package cors

import "strings"

// Exposed are the headers of answers that pages may read.
func Exposed() []string {
	return []string{
		"a2a-extensions", "content-disposition", "link", "retry-after", "retry-after-ms", "www-authenticate",
		"x-amzn-requestid", "x-request-id", "x-should-retry",
	}
}

// Headers returns the headers of an answer that pages of an origin may read; "" is none,
// "*" every one.
func Headers(origin string) map[string]string {
	out := map[string]string{}
	if origin != "" {
		out["Access-Control-Allow-Origin"] = origin
		out["Access-Control-Expose-Headers"] = strings.Join(Exposed(), ", ")
	}
	if origin != "*" {
		out["Vary"] = "Origin"
	}
	return out
}
