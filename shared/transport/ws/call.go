package ws

import (
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/watch"
)

// Subprotocol is the subprotocol that clients may offer. They must if they can
// send their token only in Sec-WebSocket-Protocol.
const Subprotocol = "rethread.v1"

const subprotocolHeader = "Sec-WebSocket-Protocol"

// call is one event of the gateway while it is handled.
type call struct {
	event events.APIGatewayWebsocketProxyRequest
	Verified
}

func newCall(event events.APIGatewayWebsocketProxyRequest) *call {
	authorizer, _ := event.RequestContext.Authorizer.(map[string]any)
	return &call{event, ReadVerified(authorizer)}
}

func (c *call) connection() string { return c.event.RequestContext.ConnectionID }

// grant returns the grant by which a guest watches, the zero value for the
// owner or an admin.
func (c *call) grant(p access.Permission) watch.Grant {
	if !p.Guest() {
		return watch.Grant{}
	}
	return watch.Grant{Share: p.Share, UserID: c.Caller.UserID, Until: p.Until}
}

func (c *call) expired(now time.Time) bool { return now.Unix() >= c.Expires }

// offers reports whether the client's handshake names a subprotocol.
func (c *call) offers(protocol string) bool {
	for _, value := range c.header(subprotocolHeader) {
		for offered := range strings.SplitSeq(value, ",") {
			if strings.TrimSpace(offered) == protocol {
				return true
			}
		}
	}
	return false
}

// header returns all values of a header of the handshake.
func (c *call) header(name string) []string {
	for given, values := range c.event.MultiValueHeaders {
		if strings.EqualFold(given, name) {
			return values
		}
	}
	for given, value := range c.event.Headers {
		if strings.EqualFold(given, name) {
			return []string{value}
		}
	}
	return nil
}
