// Package origin finds the public address of the API, for documents that name it.
package origin

import "net/http"

// Of returns the public origin of the API, as the gateway reports it.
func Of(r *http.Request) string {
	scheme, host := r.Header.Get("X-Forwarded-Proto"), r.Header.Get("Host")
	if scheme == "" {
		scheme = "https"
	}
	if host == "" {
		host = r.Host
	}
	return scheme + "://" + host
}
