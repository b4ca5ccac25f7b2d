package gateway

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/local/gateway/proxyv1"
)

// proxyRequest is the event of payload format 1.0.
type proxyRequest struct {
	events.APIGatewayProxyRequest
}

func (g *REST) proxyContext(r *http.Request, id string, m match) events.APIGatewayProxyRequestContext {
	now := time.Now().UTC()
	domain := proxyv1.Host(r.Host)
	prefix, _, _ := strings.Cut(domain, ".")
	return events.APIGatewayProxyRequestContext{
		AccountID: g.opts.Account, APIID: g.opts.API.LogicalID, Stage: g.opts.API.Stage,
		ResourcePath: m.route.Path, Path: r.URL.Path, HTTPMethod: r.Method, Protocol: r.Proto,
		DomainName: domain, DomainPrefix: prefix, RequestID: id, ExtendedRequestID: uuid.NewString(),
		Identity:    proxyv1.Identity(r),
		RequestTime: now.Format(proxyv1.TimeLayout), RequestTimeEpoch: now.UnixMilli(),
	}
}

func newProxyRequest(r *http.Request, body []byte, m match, ctx events.APIGatewayProxyRequestContext) proxyRequest {
	headers, query := proxyv1.Headers(r), proxyv1.Query(r)
	request := proxyRequest{events.APIGatewayProxyRequest{
		Resource: m.route.Path, Path: r.URL.Path, HTTPMethod: r.Method,
		Headers: headers.Last, MultiValueHeaders: headers.All,
		QueryStringParameters: query.Last, MultiValueQueryStringParameters: query.All,
		PathParameters: m.parameters, RequestContext: ctx,
	}}
	if isText(r.Header, body) {
		request.Body = string(body)
	} else {
		request.Body, request.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return request
}

// authorizerRequest is what a REQUEST authorizer of a REST API gets: the event
// but for the body.
type authorizerRequest struct {
	Type      string `json:"type"`
	MethodARN string `json:"methodArn"`
	events.APIGatewayProxyRequest
	Body            *struct{} `json:"body,omitempty"`
	IsBase64Encoded *struct{} `json:"isBase64Encoded,omitempty"`
}

func (p *proxyRequest) forAuthorizer(arn string) authorizerRequest {
	return authorizerRequest{Type: "REQUEST", MethodARN: arn, APIGatewayProxyRequest: p.APIGatewayProxyRequest}
}

// isPreflight says whether the API answers a preflight request for that path by
// itself.
func (g *REST) isPreflight(r *http.Request) bool {
	return g.opts.API.CORS != nil && r.Method == http.MethodOptions && len(g.methods(r)) > 0
}

// methods are those of the routes that fit the path.
func (g *REST) methods(r *http.Request) []string {
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	var found []string
	for i := range g.routes {
		if _, fits := g.routes[i].accept(parts); fits {
			found = append(found, g.routes[i].Method)
		}
	}
	return found
}

// preflight answers with the same headers whoever asks.
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
	if config.AllowCredentials {
		header.Set("Access-Control-Allow-Credentials", "true")
	}
	header.Set("Content-Type", "application/json")
	rw.WriteHeader(http.StatusOK)
	_, _ = rw.Write([]byte("{}\n")) // a caller that is gone needs no answer
	return http.StatusOK
}
