// Package gateway has what the streaming REST API leaves to functions: the headers by which
// pages of another web origin read answers, and its own public address. The template has
// what such pages may send.
package gateway

import "strings"

// Exposed are the headers of answers that pages may read.
func Exposed() []string {
	return []string{
		"a2a-extensions", "content-disposition", "link", "retry-after", "retry-after-ms", "www-authenticate",
		"x-amzn-requestid", "x-request-id", "x-should-retry",
	}
}

// CORS returns the headers of an answer that pages of an origin may read; "" is none,
// "*" every one.
func CORS(origin string) map[string]string {
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
