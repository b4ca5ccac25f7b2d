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

// Subprotocol is what clients may offer to speak, and must where they can carry
// their token in no other header than Sec-WebSocket-Protocol.
const Subprotocol = "rethread.v1"

const subprotocolHeader = "Sec-WebSocket-Protocol"

// call is one event on its way to an answer.
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

// Identity is what an authorizer said about the caller: whom its token speaks
// for and, in seconds since 1970, until when. A user whom no key has room for is
// nobody (""), whatever authorizer a deployer has put before it; a time that makes
// no sense is long ago.
func Identity(authorizer map[string]any) (user string, expires int64) {
	if sub, _ := authorizer["sub"].(string); access.IsUserID(sub) {
		user = sub
	}
	switch exp := authorizer["exp"].(type) {
	case string: // as API Gateway has it, whatever it was before
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

// caller is who asks; adminScope is the word that makes an admin.
func (c *call) caller(adminScope string) access.Caller {
	return access.Caller{UserID: c.user, Admin: access.Admin(c.scope, adminScope)}
}

// grant is what lets the caller watch who passes as a guest.
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

// header is all values of a header of the handshake.
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
