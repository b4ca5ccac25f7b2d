package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/gateway/proxyv1"
)

// proxyRequest is the event of payload format 1.0, with members that the struct of
// aws-lambda-go lacks.
type proxyRequest struct {
	events.APIGatewayProxyRequest

	RequestContext  proxyContext `json:"requestContext"`
	Body            *string      `json:"body"`
	IsBase64Encoded bool         `json:"isBase64Encoded"`
}

type proxyContext struct {
	events.APIGatewayProxyRequestContext

	Identity   proxyIdentity  `json:"identity"`
	Authorizer map[string]any `json:"authorizer,omitempty"`
}

// proxyIdentity has the members that are only set for callers who sign with AWS
// keys; here they are null.
type proxyIdentity struct {
	AccessKey                     *string `json:"accessKey"`
	AccountID                     *string `json:"accountId"`
	Caller                        *string `json:"caller"`
	CognitoAuthenticationProvider *string `json:"cognitoAuthenticationProvider"`
	CognitoAuthenticationType     *string `json:"cognitoAuthenticationType"`
	CognitoIdentityID             *string `json:"cognitoIdentityId"`
	CognitoIdentityPoolID         *string `json:"cognitoIdentityPoolId"`
	PrincipalOrgID                *string `json:"principalOrgId"`
	SourceIP                      string  `json:"sourceIp"`
	User                          *string `json:"user"`
	UserAgent                     string  `json:"userAgent"`
	UserARN                       *string `json:"userArn"`
}

// proxyContext describes the request; asked is the requested path, including the
// stage if it had one.
func (g *REST) proxyContext(r *http.Request, id, asked string, m match) proxyContext {
	now := time.Now().UTC()
	domain := proxyv1.Host(r.Host)
	prefix, _, _ := strings.Cut(domain, ".")
	resource := sha256.Sum256([]byte(m.route.Path))
	who := proxyv1.Identity(r)
	ctx := proxyContext{Identity: proxyIdentity{SourceIP: who.SourceIP, UserAgent: who.UserAgent}}
	ctx.APIGatewayProxyRequestContext = events.APIGatewayProxyRequestContext{
		AccountID: g.opts.Account, APIID: g.opts.API.LogicalID, Stage: g.opts.API.Stage,
		ResourceID: hex.EncodeToString(resource[:3]), ResourcePath: m.route.Path, Path: asked, HTTPMethod: r.Method, Protocol: r.Proto,
		DomainName: domain, DomainPrefix: prefix, RequestID: id, ExtendedRequestID: uuid.NewString(),
		RequestTime: now.Format(proxyv1.TimeLayout), RequestTimeEpoch: now.UnixMilli(),
	}
	return ctx
}

// newProxyRequest keeps path and parameters as they were sent, with escapes. The
// body is treated as UTF-8: other bytes, such as those of gzip, are lost.
func newProxyRequest(r *http.Request, body []byte, m match, variables map[string]string, ctx proxyContext) proxyRequest {
	headers, query := proxyv1.Headers(r).Lower(), proxyv1.Query(r)
	request := proxyRequest{RequestContext: ctx, APIGatewayProxyRequest: events.APIGatewayProxyRequest{
		Resource: m.route.Path, Path: r.URL.EscapedPath(), HTTPMethod: r.Method,
		Headers: headers.Last, MultiValueHeaders: headers.All,
		QueryStringParameters: query.Last, MultiValueQueryStringParameters: query.All,
		StageVariables: variables,
	}}
	if len(m.escaped) > 0 {
		request.PathParameters = m.escaped
	}
	if len(body) == 0 {
		return request
	}
	text := strings.ToValidUTF8(string(body), "\ufffd")
	request.Body = &text
	return request
}

// authorizerRequest is the event of a REQUEST authorizer of a REST API: the event
// of the function without the body.
type authorizerRequest struct {
	Type      string `json:"type"`
	MethodARN string `json:"methodArn"`
	events.APIGatewayProxyRequest

	RequestContext  proxyContext `json:"requestContext"`
	Body            *struct{}    `json:"body,omitempty"`
	IsBase64Encoded *struct{}    `json:"isBase64Encoded,omitempty"`
}

func (p *proxyRequest) forAuthorizer(arn string) authorizerRequest {
	return authorizerRequest{Type: "REQUEST", MethodARN: arn, APIGatewayProxyRequest: p.APIGatewayProxyRequest, RequestContext: p.RequestContext}
}

// isPreflight reports whether the API itself answers a preflight request for the
// path.
func (g *REST) isPreflight(r *http.Request) bool {
	return g.opts.API.CORS != nil && r.Method == http.MethodOptions && len(g.methods(r)) > 0
}

// methods returns the methods of the routes that match the path.
func (g *REST) methods(r *http.Request) []string {
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	var found []string
	for i := range g.routes {
		if _, fits := g.routes[i].matchPath(parts); fits {
			found = append(found, g.routes[i].Method)
		}
	}
	return found
}

// preflight answers with the same headers for every origin.
func (g *REST) preflight(rw http.ResponseWriter, r *http.Request) int {
	config, header := g.opts.API.CORS, rw.Header()
	methods := config.AllowMethods
	if methods == "" {
		list := append(g.methods(r), http.MethodOptions)
		slices.Sort(list)
		methods = strings.Join(list, ",")
	}
	header.Set("Access-Control-Allow-Methods", methods)
	for name, value := range map[string]string{
		"Access-Control-Allow-Origin": config.AllowOrigin, "Access-Control-Allow-Headers": config.AllowHeaders,
		"Access-Control-Max-Age": config.MaxAge,
	} {
		if value != "" {
			header.Set(name, value)
		}
	}
	header.Set("Content-Type", "application/json")
	rw.WriteHeader(http.StatusOK)
	_, _ = rw.Write([]byte("{}\n")) // the caller may have disconnected
	return http.StatusOK
}
