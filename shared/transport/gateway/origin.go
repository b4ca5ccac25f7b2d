package gateway

import "net/http"

// Origin returns the public origin of the API, as the gateway reports it.
func Origin(r *http.Request) string {
	scheme, host := r.Header.Get("X-Forwarded-Proto"), r.Header.Get("Host")
	if scheme == "" {
		scheme = "https"
	}
	if host == "" {
		host = r.Host
	}
	return scheme + "://" + host
}
