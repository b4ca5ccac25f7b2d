package gateway

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/golang-jwt/jwt/v5"

	"github.com/rethread/rethread/infra/local/gateway/proxyv1"
)

// httpEvent is the event of payload format 2.0, without the empty members that the
// struct of aws-lambda-go would add.
type httpEvent struct {
	events.APIGatewayV2HTTPRequest

	RequestContext httpContext `json:"requestContext"`
}

type httpContext struct {
	events.APIGatewayV2HTTPRequestContext

	Authentication *struct{}       `json:"authentication,omitempty"` // set for client certificates (mutual TLS)
	Authorizer     *httpAuthorizer `json:"authorizer,omitempty"`
}

type httpAuthorizer struct {
	JWT httpJWT `json:"jwt"`
}

type httpJWT struct {
	Claims map[string]string `json:"claims"`
	Scopes []string          `json:"scopes"` // null on routes without scopes
}

func (g *Gateway) requestContext(r *http.Request, id string, m match, claims jwt.MapClaims) httpContext {
	ctx := newRequestContext(r, id)
	ctx.RouteKey, ctx.Stage = m.route.key(), g.opts.API.Stage
	ctx.APIID, ctx.AccountID = g.opts.API.LogicalID, g.opts.Account
	if claims != nil {
		ctx.Authorizer = &httpAuthorizer{JWT: httpJWT{Claims: claimStrings(claims)}}
	}
	return ctx
}

func newRequestContext(r *http.Request, id string) httpContext {
	now := time.Now().UTC()
	domain := proxyv1.Host(r.Host)
	prefix, _, _ := strings.Cut(domain, ".")
	return httpContext{APIGatewayV2HTTPRequestContext: events.APIGatewayV2HTTPRequestContext{
		RequestID: id, DomainName: domain, DomainPrefix: prefix,
		Time: now.Format(proxyv1.TimeLayout), TimeEpoch: now.UnixMilli(),
		HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
			Method: r.Method, Path: rawPath(r), Protocol: r.Proto,
			SourceIP: proxyv1.Host(r.RemoteAddr), UserAgent: r.UserAgent(),
		},
	}}
}

// rawPath is the path in events: decoded, and cut at an escaped "?". Path
// parameters keep it.
func rawPath(r *http.Request) string {
	path, _, _ := strings.Cut(r.URL.Path, "?")
	return path
}

// buildEvent makes the event of payload format 2.0: header names in lower case,
// repeated values joined by commas, cookies in their own member, the path decoded
// and the query not.
func buildEvent(
	r *http.Request, body []byte, ctx httpContext, parameters map[string]string,
) ([]byte, error) {
	event := httpEvent{RequestContext: ctx, APIGatewayV2HTTPRequest: events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: ctx.RouteKey, RawPath: rawPath(r), RawQueryString: r.URL.RawQuery,
		Headers: headers(r, len(body)), QueryStringParameters: query(r.URL.RawQuery),
		PathParameters: parameters,
	}}
	for _, cookie := range r.Header.Values("Cookie") {
		for part := range strings.SplitSeq(cookie, ";") {
			event.Cookies = append(event.Cookies, strings.TrimSpace(part))
		}
	}
	if isText(r.Header, body) {
		event.Body = string(body)
	} else {
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	payload, err := json.Marshal(event)
	if err != nil {
		return nil, fmt.Errorf("build event: %w", err)
	}
	return payload, nil
}

func headers(r *http.Request, bodyBytes int) map[string]string {
	out := map[string]string{
		"host": r.Host, "content-length": strconv.Itoa(bodyBytes),
		"x-forwarded-for": proxyv1.Host(r.RemoteAddr), "x-forwarded-proto": "http",
		"x-amzn-trace-id": proxyv1.TraceID(time.Now()),
	}
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		out["x-forwarded-port"] = port
	}
	for name, values := range r.Header {
		switch name = strings.ToLower(name); name {
		case "cookie", "connection", "keep-alive", "transfer-encoding", "upgrade":
		default:
			out[name] = strings.Join(values, ",")
		}
	}
	return out
}

// query decodes the parameters; pairs that cannot be decoded appear in the raw
// query only.
func query(raw string) map[string]string {
	values, _ := url.ParseQuery(raw) // returns the valid pairs
	out := map[string]string{}
	for name, list := range values {
		out[name] = strings.Join(list, ",")
	}
	return out
}

// isText reports whether a body is text; other bodies are encoded in base64.
func isText(header http.Header, body []byte) bool {
	if len(body) == 0 {
		return true
	}
	if header.Get("Content-Encoding") != "" || !utf8.Valid(body) {
		return false
	}
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return false
	}
	switch kind {
	case "application/json", "application/javascript", "application/xml":
		return true
	default:
		return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
	}
}
