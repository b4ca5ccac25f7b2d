package tokens

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// SubprotocolPrefix begins the subprotocol that carries a token: besides the address,
// it is the only part of a websocket's handshake that a browser's script can set.
const SubprotocolPrefix = "bearer."

// Carried finds the token of a request, in one of the places that a client can
// reach:
//
//   - Authorization: Bearer, or the token alone as the HTTP API takes it
//   - the query parameter token or access_token
//   - Sec-WebSocket-Protocol: rethread.v1, bearer.<token>
//
// It returns ErrInvalid where there is none or more than one (RFC 6750, section
// 2). Names in header must be in canonical form.
func Carried(header http.Header, query url.Values) (string, error) {
	var found []string
	for _, value := range header.Values("Authorization") {
		found = append(found, unlabelled(value))
	}
	found = append(append(found, query["token"]...), query["access_token"]...)
	for _, value := range header.Values("Sec-Websocket-Protocol") {
		for protocol := range strings.SplitSeq(value, ",") {
			if token, ok := strings.CutPrefix(strings.TrimSpace(protocol), SubprotocolPrefix); ok {
				found = append(found, token)
			}
		}
	}
	found = slices.DeleteFunc(found, func(token string) bool { return token == "" })
	if len(found) != 1 {
		return "", fmt.Errorf("%w: the request carries %d", ErrInvalid, len(found))
	}
	return found[0], nil
}

// unlabelled returns an Authorization header's value without the scheme.
func unlabelled(value string) string {
	const label = "bearer "
	if len(value) >= len(label) && strings.EqualFold(value[:len(label)], label) {
		value = value[len(label):]
	}
	return strings.TrimSpace(value)
}
