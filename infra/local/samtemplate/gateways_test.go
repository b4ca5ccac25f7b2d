package samtemplate_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

func TestGateways(t *testing.T) {
	got, err := samtemplate.Load("testdata/gateways.yaml", samtemplate.Options{Region: "eu-west-1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("reads a REST API", func(t *testing.T) {
		want := []samtemplate.RESTAPI{{
			LogicalID: "StreamApi", Stage: "live", DefaultAuthorizer: "Token",
			CORS: &samtemplate.RESTCORS{
				AllowOrigin: "*", AllowMethods: "GET,OPTIONS", AllowHeaders: "authorization,last-event-id", MaxAge: "3600",
			},
			Lambda: map[string]samtemplate.LambdaAuthorizer{"Token": {Function: "AuthorizerFunction"}},
			Errors: map[string]samtemplate.GatewayError{
				"DEFAULT_4XX": {Headers: map[string]string{"Access-Control-Allow-Origin": "*"}},
				"DEFAULT_5XX": {Headers: map[string]string{"Access-Control-Allow-Origin": "*"}},
				"UNAUTHORIZED": {
					Status: 401, Body: `{"error":$context.error.messageString}`,
					Headers: map[string]string{"Access-Control-Allow-Origin": "*", "WWW-Authenticate": "Bearer"},
				},
			},
		}}
		if diff := cmp.Diff(want, got.RESTAPIs); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("reads streaming routes", func(t *testing.T) {
		stream, _ := got.Function("WatchStreamFunction")
		want := []samtemplate.Route{
			{API: "StreamApi", Method: "GET", Path: "/api/v1/sessions/{session_id}/watch", Authorizer: "Token", Timeout: 15 * time.Minute},
			{API: "StreamApi", Method: "GET", Path: "/api/sessions/{session_id}/watch", Authorizer: "Token", Timeout: 15 * time.Minute},
		}
		if diff := cmp.Diff(want, stream.Routes); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("reads a WebSocket API", func(t *testing.T) {
		watch := samtemplate.WebSocketRoute{Function: "WatchFunction", Timeout: 29 * time.Second}
		want := []samtemplate.WebSocketAPI{{
			LogicalID: "WebSocketApi", Stage: "live", RouteSelection: "$request.body.action", Authorizer: "AuthorizerFunction",
			Identity: []string{},
			Routes: map[string]samtemplate.WebSocketRoute{
				"$connect": watch, "$disconnect": watch, "$default": watch,
				"subscribe": watch,
			},
		}}
		if diff := cmp.Diff(want, got.WebSocketAPIs); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("resolves the cloud address of @connections", func(t *testing.T) {
		watch, _ := got.Function("WatchFunction")
		if got := watch.Environment["WEBSOCKET_ENDPOINT"]; got != "https://WebSocketApi.execute-api.eu-west-1.amazonaws.com/live" {
			t.Errorf("got %s", got)
		}
	})
}

func TestGatewaysRefused(t *testing.T) {
	const function = "  F:\n    Type: AWS::Serverless::Function\n    Properties:\n      CodeUri: x\n"
	rest := func(properties string) string {
		return head + "Resources:\n" + function + "  A:\n    Type: AWS::Serverless::Api\n    Properties: {StageName: s, " + properties + "}\n"
	}
	route := func(properties string) string {
		return head + "Resources:\n  A: {Type: AWS::Serverless::Api, Properties: {StageName: s}}\n" + function +
			"      Events:\n        E: {Type: Api, Properties: {RestApiId: !Ref A, " + properties + "}}\n"
	}
	socket := func(properties string) string {
		return head + "Resources:\n" + function + "  A:\n    Type: AWS::Serverless::WebSocketApi\n    Properties: {" + properties + "}\n"
	}
	const authorizers = "Authorizers: {T: {FunctionArn: !GetAtt F.Arn, FunctionPayloadType: REQUEST, Identity: {ReauthorizeEvery: 0}}}"
	for _, test := range []struct{ name, text, reason string }{
		{"a gateway response of another kind", rest("GatewayResponses: {QUOTA_EXCEEDED: {}}"), "QUOTA_EXCEEDED is not supported"},
		{"a preflight request that needs a token", rest("Cors: {AllowOrigin: \"'*'\"}, Auth: {DefaultAuthorizer: T, " + authorizers + "}"), "AddDefaultAuthorizerToCorsPreflight"},
		{"a TOKEN authorizer", rest("Auth: {Authorizers: {T: {FunctionArn: !GetAtt F.Arn}}}"), "only FunctionPayloadType REQUEST"},
		{
			"cached answers without a cache key", rest("Auth: {Authorizers: {T: {FunctionArn: !GetAtt F.Arn, FunctionPayloadType: REQUEST}}}"),
			"ReauthorizeEvery must be 0",
		},
		{"an API defined by hand", rest("DefinitionBody: {}"), "DefinitionBody"},
		{"a route without a path", route("Method: get"), "are required"},
		{"a route of an unknown API", strings.Replace(route("Method: get, Path: /"), "!Ref A", "B", 1), "B is not an AWS::Serverless::Api"},
		{"an unknown authorizer", route("Method: get, Path: /, ResponseTransferMode: RESPONSE_STREAM, Auth: {Authorizer: T}"), "has no authorizer T"},
		{"an unknown transfer mode", route("Method: get, Path: /, ResponseTransferMode: FAST"), `ResponseTransferMode "FAST"`},
		{"a buffered answer", route("Method: get, Path: /"), `ResponseTransferMode ""`},
		{"a stream longer than 15 minutes", route("Method: get, Path: /, ResponseTransferMode: RESPONSE_STREAM, TimeoutInMillis: 900001"), "TimeoutInMillis"},
		{"signed handshakes", socket("Auth: {AuthType: AWS_IAM}"), "AuthType AWS_IAM"},
		{"route responses", socket("Routes: {a: {FunctionArn: !GetAtt F.Arn, RouteResponseSelectionExpression: $default}}"), "RouteResponseSelectionExpression"},
		{"a route without a function", socket("Routes: {a: {FunctionArn: nowhere}}"), "nowhere is not an AWS::Serverless::Function"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := samtemplate.Parse([]byte(test.text), samtemplate.Options{})
			var at *samtemplate.Error
			if !errors.As(err, &at) || !strings.Contains(at.Reason, test.reason) {
				t.Errorf("got %v, want %s", err, test.reason)
			}
		})
	}
}
