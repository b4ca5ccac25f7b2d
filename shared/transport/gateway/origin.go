package gateway

import (
	"cmp"
	"net/http"
)

// Origin returns the public origin of the API by a request's header, as the gateway
// reports it; host is the one without a Host in the header.
func Origin(header http.Header, host string) string {
	return cmp.Or(header.Get("X-Forwarded-Proto"), "https") + "://" + cmp.Or(header.Get("Host"), host)
}
