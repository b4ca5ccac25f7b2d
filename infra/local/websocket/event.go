package websocket

import (
	"encoding/base64"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"
	ws "github.com/coder/websocket"

	"github.com/rethread/rethread/infra/local/gateway/proxyv1"
)

// authorizerRequest is the event of a WebSocket API's REQUEST authorizer.
type authorizerRequest struct {
	Type      string `json:"type"`
	MethodARN string `json:"methodArn"`
	events.APIGatewayWebsocketProxyRequest
}

func (c *connection) requestContext(key, kind string) events.APIGatewayWebsocketProxyRequestContext {
	now, id := time.Now().UTC(), newID()
	ctx := events.APIGatewayWebsocketProxyRequestContext{
		RouteKey: key, EventType: kind, MessageDirection: "IN", RequestID: id, ExtendedRequestID: id,
		RequestTime: now.Format(proxyv1.TimeLayout), RequestTimeEpoch: now.UnixMilli(),
		ConnectionID: c.id, ConnectedAt: c.connectedAt.UnixMilli(), Identity: c.identity,
		DomainName: c.domain, Stage: c.api.opts.API.Stage, APIID: c.api.opts.API.LogicalID,
	}
	if c.authorizer != nil { // a nil map would be encoded as null
		ctx.Authorizer = c.authorizer
	}
	return ctx
}

func (c *connection) connectEvent(r *http.Request) events.APIGatewayWebsocketProxyRequest {
	headers, query := proxyv1.Headers(r), proxyv1.Query(r)
	return events.APIGatewayWebsocketProxyRequest{
		Headers: headers.Last, MultiValueHeaders: headers.All,
		QueryStringParameters: query.Last, MultiValueQueryStringParameters: query.All,
		RequestContext: c.requestContext(connectKey, "CONNECT"),
	}
}

// messageEvent has no headers: only the handshake has some.
func (c *connection) messageEvent(key string, kind ws.MessageType, data []byte) events.APIGatewayWebsocketProxyRequest {
	event := events.APIGatewayWebsocketProxyRequest{RequestContext: c.requestContext(key, "MESSAGE"), Body: string(data)}
	event.RequestContext.MessageID = newID()
	if kind == ws.MessageBinary {
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString(data), true
	}
	return event
}

func (c *connection) disconnectEvent(end closeReason) events.APIGatewayWebsocketProxyRequest {
	event := events.APIGatewayWebsocketProxyRequest{
		Headers:           map[string]string{"Host": c.host},
		MultiValueHeaders: map[string][]string{"Host": {c.host}},
		RequestContext:    c.requestContext(disconnectKey, "DISCONNECT"),
	}
	event.RequestContext.DisconnectStatusCode = int64(end.code)
	event.RequestContext.DisconnectReason = &end.reason
	return event
}
