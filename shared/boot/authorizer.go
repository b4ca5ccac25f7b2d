package boot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/base/clock"
	"github.com/rethread/rethread/shared/client/tokens"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/transport/ws"
)

// errUnauthorized has the exact text for which API Gateway answers 401; it answers
// 500 for any other error of an authorizer.
var errUnauthorized = errors.New("Unauthorized")

// AuthorizerHandler is the authorizer's Lambda handler.
type AuthorizerHandler = func(
	context.Context, events.APIGatewayCustomAuthorizerRequestTypeRequest,
) (events.APIGatewayCustomAuthorizerResponse, error)

// StartAuthorizer runs the authorizer until Lambda stops it. It needs no table:
// JWT_ISSUER and JWT_AUDIENCE (separated by commas) say which tokens are good. A
// function that cannot be wired ends with status 1, which Lambda reports.
func StartAuthorizer() {
	ctx := context.Background()
	log, err := newLogger(os.Getenv("LOG_LEVEL"))
	if err == nil {
		err = completeEnvironment(ctx)
	}
	if err != nil {
		slog.ErrorContext(ctx, "the function cannot start", "error", err)
		os.Exit(1)
	}
	verifier, err := tokens.New(tokens.Config{
		Issuer: os.Getenv("JWT_ISSUER"), Audiences: strings.Split(os.Getenv("JWT_AUDIENCE"), ","),
		Client: http.DefaultClient, Now: clock.New(os.Getenv(clock.Variable)), Log: log,
	})
	if err != nil {
		log.ErrorContext(ctx, "the function cannot start", "error", err)
		os.Exit(1)
	}
	serve(log, Authorizer(verifier, NewIdentities(), log))
}

// Authorizer handles the REQUEST events of WebSocket and REST APIs. A valid token
// allows the whole stage; functions find the caller in requestContext.authorizer as
// ws.Verified has it, and also the fault of a request that is refused because of the user
// that it names. Responses must not be cached by the token alone, as one service's token
// is of many users. Any other request gets 401, including one with a valid token whose
// sub is not a possible user id (access.IsUserID).
func Authorizer(verifier *tokens.Verifier, identities Identities, log *slog.Logger) AuthorizerHandler {
	return func(ctx context.Context, event events.APIGatewayCustomAuthorizerRequestTypeRequest) (
		events.APIGatewayCustomAuthorizerResponse, error,
	) {
		request := requestOf(event)
		id, err := request.identify(ctx, verifier)
		if err == nil && !access.IsUserID(id.Subject) {
			err = fmt.Errorf("%w: its sub is not a possible user id", tokens.ErrInvalid)
		}
		if errors.Is(err, tokens.ErrInvalid) {
			log.InfoContext(ctx, "the caller was rejected", "reason", err.Error())
			return events.APIGatewayCustomAuthorizerResponse{}, errUnauthorized
		}
		if err != nil {
			log.ErrorContext(ctx, "the caller could not be identified", "error", err)
			return events.APIGatewayCustomAuthorizerResponse{}, fmt.Errorf("identify the caller: %w", err)
		}
		caller, refused := identities.Caller(Token{
			Subject: id.Subject, Scope: id.Scope, Claims: func() map[string]any { return id.Claims },
		}, request.named...)
		logs.Add(ctx, aboutUser(caller)...)
		return allow(event.MethodArn, id, ws.Verified{Caller: caller, Expires: id.Expires.Unix(), Refused: refused})
	}
}

// callerRequest is what a request says about its caller.
type callerRequest struct {
	header http.Header
	query  url.Values
	named  []string // values of access.UserHeader
}

func requestOf(event events.APIGatewayCustomAuthorizerRequestTypeRequest) callerRequest {
	r := callerRequest{
		header: http.Header{},
		query:  url.Values(ws.AllValues(event.MultiValueQueryStringParameters, event.QueryStringParameters)),
	}
	for name, values := range ws.AllValues(event.MultiValueHeaders, event.Headers) {
		name = http.CanonicalHeaderKey(name)
		r.header[name] = append(r.header[name], values...)
	}
	r.named = r.header.Values(access.UserHeader)
	if isConnection(event) {
		for _, id := range r.query["user"] { // decoded by the gateway
			r.named = append(r.named, url.PathEscape(id))
		}
	}
	return r
}

// isConnection reports whether a websocket is opened, the only thing that its API authorizes.
func isConnection(event events.APIGatewayCustomAuthorizerRequestTypeRequest) bool {
	return event.RequestContext.HTTPMethod == ""
}

func (r callerRequest) identify(ctx context.Context, verifier *tokens.Verifier) (tokens.Identity, error) {
	token, err := tokens.Carried(r.header, r.query)
	if err != nil {
		return tokens.Identity{}, err
	}
	return verifier.Verify(ctx, token)
}

// allow returns a policy by which an identity may call every route of the stage in a
// method's ARN (arn:…:api/stage/…).
func allow(method string, id tokens.Identity, v ws.Verified) (events.APIGatewayCustomAuthorizerResponse, error) {
	api, rest, _ := strings.Cut(method, "/")
	stage, _, _ := strings.Cut(rest, "/")
	if !strings.HasPrefix(api, "arn:") || stage == "" {
		return events.APIGatewayCustomAuthorizerResponse{}, fmt.Errorf("methodArn %q names no stage of an API", method)
	}
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: id.Subject,
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
			Version: "2012-10-17",
			Statement: []events.IAMPolicyStatement{{
				Effect: "Allow", Action: []string{"execute-api:Invoke"}, Resource: []string{api + "/" + stage + "/*"},
			}},
		},
		Context: v.Context(),
	}, nil
}
