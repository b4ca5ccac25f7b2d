package websocket_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/rethread/rethread/infra/local/awsevents"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// TestEventsAsCaptured compares the local events with captured events of AWS.
func TestEventsAsCaptured(t *testing.T) {
	allow := func(context.Context, event) (string, error) { return policy("Allow"), nil }
	s := start(t, setup{
		authorizer: true, routes: []string{"$default"},
		functions: map[string]func(context.Context, event) (string, error){"Authorizer": allow},
	})
	c := s.mustConnect(t, "/live?name=me", http.Header{"X-A": {"b"}})
	c.mustSend(t, `{"a": 1}`)
	message := s.mustEvent(t, "$default")
	_ = c.CloseNow()
	again := s // mustConnect read the event of $connect
	again.mustConnectRaw(t)
	free := []string{"headers", "multiValueHeaders", "queryStringParameters", "multiValueQueryStringParameters", "requestContext.authorizer"}
	for _, test := range []struct {
		name, captured string
		event          event
		shape          awsevents.Shape
		least          int
	}{
		{"the event of $connect", "apigw-websocket-request", s.mustEvent(t, "$connect"), awsevents.Shape{Free: free, Absent: []string{
			// The file was made from a REST API's event and has members that a handshake
			// lacks.
			"resource", "path", "httpMethod", "pathParameters", "stageVariables", "body", "requestContext.accountId",
			"requestContext.resourceId", "requestContext.resourcePath", "requestContext.httpMethod", "requestContext.error",
			"requestContext.integrationLatency", "requestContext.status",
			"requestContext.identity.cognitoIdentityPoolId", "requestContext.identity.accountId",
			"requestContext.identity.cognitoIdentityId", "requestContext.identity.caller", "requestContext.identity.apiKey", "requestContext.identity.apiKeyId",
			"requestContext.identity.accessKey", "requestContext.identity.cognitoAuthenticationType",
			"requestContext.identity.cognitoAuthenticationProvider", "requestContext.identity.userArn",
			"requestContext.identity.user",
		}}, 22},
		{"the event of a message", "apigw-websocket-request-send-message", message, awsevents.Shape{
			Free: free, Added: []string{"requestContext.authorizer"}, // of an API with an authorizer
		}, 19},
		{"the event of $disconnect", "apigw-websocket-request-disconnect", s.mustEvent(t, "$disconnect"), awsevents.Shape{
			Free: free, Added: []string{"requestContext.authorizer"},
		}, 21},
	} {
		t.Run(test.name, func(t *testing.T) {
			same, differences, err := test.shape.Compare(test.event.raw, awsevents.Captured(t, test.captured))
			if err != nil || len(differences) > 0 || same < test.least {
				t.Errorf("%v: %d members in common, want %d; %q in %s", err, same, test.least, differences, test.event.raw)
			}
			t.Logf("%d members in common", same)
		})
	}
}

func TestThrottleOfStage(t *testing.T) {
	s := start(t, setup{routes: []string{"$default"}, stage: samtemplate.Throttle{Rate: 1e-9, Burst: 2}})
	c := s.mustConnect(t, "/", nil)
	c.mustSend(t, "first")
	s.mustEvent(t, "$default")
	c.mustSend(t, "one over the limit")
	var got map[string]string
	if err := json.Unmarshal([]byte(c.mustRead(t)), &got); err != nil {
		t.Fatal(err)
	}
	if got["message"] != "Too Many Requests" || got["connectionId"] != c.id || got["requestId"] == "" {
		t.Errorf("got %v", got)
	}
	if status := s.refused(t, "/", nil); status != http.StatusTooManyRequests {
		t.Errorf("a handshake over the limit returned %d", status)
	}
}
