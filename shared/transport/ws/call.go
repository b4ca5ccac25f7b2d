package ws

import (
	"math"
	"strconv"
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
	event   events.APIGatewayWebsocketProxyRequest
	user    string
	scope   string
	expires int64 // seconds since 1970
}

func newCall(event events.APIGatewayWebsocketProxyRequest) *call {
	c := &call{event: event}
	authorizer, _ := event.RequestContext.Authorizer.(map[string]any)
	c.user, c.expires = Identity(authorizer)
	c.scope, _ = authorizer["scope"].(string)
	return c
}

// Identity returns the user that an authorizer verified, and the token's expiry
// in seconds since 1970. An invalid user id becomes "", whichever authorizer a
// deployment has, and an invalid expiry lies in the past.
func Identity(authorizer map[string]any) (user string, expires int64) {
	if sub, _ := authorizer["sub"].(string); access.IsUserID(sub) {
		user = sub
	}
	switch exp := authorizer["exp"].(type) {
	case string: // API Gateway turns every value into a string
		if n, err := strconv.ParseInt(exp, 10, 64); err == nil {
			expires = n
		}
	case float64:
		if exp > 0 && exp < math.MaxInt32*1000 {
			expires = int64(exp)
		}
	}
	return user, expires
}

func (c *call) connection() string { return c.event.RequestContext.ConnectionID }

// caller returns the caller; adminScope is the scope of admins.
func (c *call) caller(adminScope string) access.Caller {
	return access.Caller{UserID: c.user, Admin: access.Admin(c.scope, adminScope)}
}

// grant returns the grant by which a guest watches, the zero value for the
// owner or an admin.
func (c *call) grant(p access.Permission) watch.Grant {
	if !p.Guest() {
		return watch.Grant{}
	}
	return watch.Grant{Share: p.Share, UserID: c.user, Until: p.Until}
}

func (c *call) expired(now time.Time) bool { return now.Unix() >= c.expires }

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
