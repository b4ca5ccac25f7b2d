package iam_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/iam"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

const (
	prefix   = "arn:aws:dynamodb:us-east-1:000000000000:"
	table    = prefix + "table/Table"
	function = "Fn"
)

// TestGuard calls services through the guard with the SDK's clients.
func TestGuard(t *testing.T) {
	key := map[string]types.AttributeValue{"PK": text("x")}
	name := aws.String("Table")
	put := types.TransactWriteItem{Put: &types.Put{TableName: name, Item: key}}
	check := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: name, Key: key, ConditionExpression: aws.String("attribute_exists(PK)"),
	}}
	for _, test := range []struct {
		name        string
		permissions []samtemplate.Permission
		call        func(*clients) error
		denied      string // the denied action, or ""
	}{
		{"allows a permitted call", allow(table, "dynamodb:GetItem"), func(c *clients) error {
			_, err := c.table.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name, Key: key})
			return err
		}, ""},
		{"denies another action", allow(table, "dynamodb:GetItem"), func(c *clients) error {
			_, err := c.table.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: key})
			return err
		}, "dynamodb:PutItem"},
		{"denies another table", allow(table+"s", "dynamodb:GetItem"), func(c *clients) error {
			_, err := c.table.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name, Key: key})
			return err
		}, "dynamodb:GetItem"},
		{"accepts a table's ARN as its name", allow(table, "dynamodb:GetItem"), func(c *clients) error {
			_, err := c.table.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table), Key: key})
			return err
		}, ""},
		{"expands wildcards", allow(prefix+"t?ble/*", "DynamoDB:*"), func(c *clients) error {
			_, err := c.table.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name, Key: key})
			return err
		}, ""},
		{"denies an index when only its table is allowed", allow(table, "dynamodb:Query"), func(c *clients) error {
			return c.query("activity")
		}, "dynamodb:Query"},
		{"denies a table when only its index is allowed", allow(table+"/index/activity", "dynamodb:Query"), func(c *clients) error {
			return c.query("")
		}, "dynamodb:Query"},
		{"allows an index", allow(table+"/index/activity", "dynamodb:Query"), func(c *clients) error {
			return c.query("activity")
		}, ""},
		{"denies a transaction with a part that is not allowed", allow(table, "dynamodb:PutItem"), func(c *clients) error {
			return c.write(put, check)
		}, "dynamodb:ConditionCheckItem"},
		{"allows a transaction whose parts are all allowed", allow(table, "dynamodb:PutItem", "dynamodb:ConditionCheckItem"), func(c *clients) error {
			return c.write(put, check)
		}, ""},
		{"denies a batch without its own action", allow(table, "dynamodb:GetItem"), func(c *clients) error {
			_, err := c.table.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{"Table": {Keys: []map[string]types.AttributeValue{key}}},
			})
			return err
		}, "dynamodb:BatchGetItem"},
		{"allows an invocation", allow("arn:aws:lambda:us-east-1:000000000000:function:Other", "lambda:InvokeFunction"), func(c *clients) error {
			return c.invoke("Other")
		}, ""},
		{"denies an invocation of another function", allow("arn:aws:lambda:us-east-1:000000000000:function:Other", "lambda:InvokeFunction"), func(c *clients) error {
			return c.invoke("Another")
		}, "lambda:InvokeFunction"},
		{
			"allows a message to a connection",
			allow("arn:aws:execute-api:us-east-1:000000000000:Socket/live/POST/@connections/*", "execute-api:ManageConnections"),
			func(c *clients) error {
				_, err := c.connections.PostToConnection(t.Context(), &apigatewaymanagementapi.PostToConnectionInput{
					ConnectionId: aws.String("Zm9v="), Data: []byte("hello"),
				})
				return err
			}, "",
		},
		{
			"denies closing a connection",
			allow("arn:aws:execute-api:us-east-1:000000000000:Socket/live/POST/@connections/*", "execute-api:ManageConnections"),
			func(c *clients) error {
				_, err := c.connections.DeleteConnection(t.Context(), &apigatewaymanagementapi.DeleteConnectionInput{ConnectionId: aws.String("Zm9v=")})
				return err
			}, "execute-api:ManageConnections",
		},
		{"denies everything without a policy", nil, func(c *clients) error { return c.invoke("Other") }, "lambda:InvokeFunction"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newClients(t, function, test.permissions)
			err := test.call(c)
			if test.denied == "" {
				if err != nil || c.reached != 1 {
					t.Errorf("%v; %d calls reached the service", err, c.reached)
				}
				return
			}
			c.mustBeDenied(err, test.denied+" on resource: arn:")
		})
	}
	t.Run("allows everything to callers that are not functions", func(t *testing.T) {
		if err := newClients(t, "local", nil).query("activity"); err != nil {
			t.Error(err)
		}
	})
	t.Run("denies an unknown service", func(t *testing.T) {
		c := newClients(t, function, allow("*", "*"))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=Fn/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusForbidden {
			t.Error(resp.Status)
		}
	})
}

// TestQueues uses SQS's protocol directly.
func TestQueues(t *testing.T) {
	const queue = "arn:aws:sqs:us-east-1:000000000000:Jobs"
	for operation, status := range map[string]int{
		"SendMessage": http.StatusOK, "SendMessageBatch": http.StatusOK, "ChangeMessageVisibility": http.StatusOK,
		"DeleteMessage": http.StatusForbidden, "GetQueueUrl": http.StatusForbidden,
	} {
		t.Run(operation, func(t *testing.T) {
			c := newClients(t, function, allow(queue, "sqs:SendMessage", "sqs:ChangeMessageVisibility"))
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url,
				strings.NewReader(`{"QueueUrl": "https://sqs.us-east-1.amazonaws.com/000000000000/Jobs"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Amz-Target", "AmazonSQS."+operation)
			req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=Fn/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			if resp.StatusCode != status {
				t.Error(resp.Status)
			}
		})
	}
}

// TestBuses uses EventBridge's protocol directly.
func TestBuses(t *testing.T) {
	const bus = "arn:aws:events:us-east-1:000000000000:event-bus/mine"
	for name, test := range map[string]struct {
		body   string
		status int
	}{
		"allows the permitted bus":                    {`{"Entries": [{"EventBusName": "mine"}, {"EventBusName": "mine"}]}`, http.StatusOK},
		"allows its ARN":                              {`{"Entries": [{"EventBusName": "` + bus + `"}]}`, http.StatusOK},
		"denies entries with another bus among them":  {`{"Entries": [{"EventBusName": "mine"}, {"EventBusName": "other"}]}`, http.StatusForbidden},
		"denies the default bus, which no name means": {`{"Entries": [{}]}`, http.StatusForbidden},
		"denies a request without entries":            {`{}`, http.StatusForbidden},
		"denies an invalid request":                   {`{"Entries": 1}`, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClients(t, function, allow(bus, "events:PutEvents"))
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Amz-Target", "AWSEvents.PutEvents")
			req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=Fn/20260101/us-east-1/events/aws4_request, SignedHeaders=host, Signature=0")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			if resp.StatusCode != test.status {
				t.Error(resp.Status)
			}
		})
	}
}

func TestUses(t *testing.T) {
	c := newClients(t, function, append(
		allow(table, "dynamodb:GetItem", "dynamodb:Query"), allow("*", "dynamodb:Query")...,
	))
	for range 2 {
		if err := c.query(""); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.invoke("Other"); err == nil {
		t.Fatal("the call was not denied")
	}
	want := []iam.Use{
		{Function: function, Action: "dynamodb:GetItem", Resource: table},
		{Function: function, Action: "dynamodb:Query", Resource: "*"}, // it only repeats the next
		{Function: function, Action: "dynamodb:Query", Resource: table, Calls: 2},
		{Function: function, Action: "lambda:InvokeFunction", Resource: "arn:aws:lambda:us-east-1:000000000000:function:Other", Calls: 1, Denied: true},
	}
	if diff := cmp.Diff(want, c.guard.Uses()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestForward(t *testing.T) {
	t.Run("passes request and response bodies unchanged", func(t *testing.T) {
		service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || r.Header.Get("X-Forwarded-For") != "" {
				t.Error(err, r.Header)
			}
			rw.Header().Set("X-Amz-Crc32", "1")
			_, _ = rw.Write(append(body, '!'))
		}))
		defer service.Close()
		handler, closeIdle, err := iam.Forward(service.URL, "any")
		if err != nil {
			t.Fatal(err)
		}
		defer closeIdle()
		recorded := httptest.NewRecorder()
		handler.ServeHTTP(recorded, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("hello")))
		if recorded.Body.String() != "hello!" || recorded.Header().Get("X-Amz-Crc32") != "1" {
			t.Error(recorded)
		}
	})
	t.Run("replaces the access key of every signature", func(t *testing.T) {
		const version4 = "AWS4-HMAC-SHA256 Credential=%s/20260102/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
		for signed, want := range map[string]string{
			fmt.Sprintf(version4, "EventsFunction"): fmt.Sprintf(version4, "system7"), "Bearer token": "Bearer token",
		} {
			service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != want {
					t.Errorf("signed %s: got %s", signed, got)
				}
			}))
			defer service.Close()
			handler, closeIdle, err := iam.Forward(service.URL, "system7")
			if err != nil {
				t.Fatal(err)
			}
			defer closeIdle()
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
			req.Header.Set("Authorization", signed)
			recorded := httptest.NewRecorder()
			if handler.ServeHTTP(recorded, req); recorded.Code != http.StatusOK {
				t.Error(recorded.Code)
			}
		}
	})
	t.Run("names the function that made a request", func(t *testing.T) {
		var named string
		service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			named = r.Header.Get(iam.FunctionHeader)
		}))
		defer service.Close()
		handler, closeIdle, err := iam.Forward(service.URL, "system7")
		if err != nil {
			t.Fatal(err)
		}
		defer closeIdle()
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=EventsFunction/20260102/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
		handler.ServeHTTP(httptest.NewRecorder(), req)
		if named != "EventsFunction" {
			t.Errorf("named %q", named)
		}
	})
	t.Run("returns 502 when the service does not answer", func(t *testing.T) {
		handler, closeIdle, err := iam.Forward("http://127.0.0.1:1", "any")
		if err != nil {
			t.Fatal(err)
		}
		defer closeIdle()
		recorded := httptest.NewRecorder()
		handler.ServeHTTP(recorded, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody))
		if recorded.Code != http.StatusBadGateway {
			t.Error(recorded.Code)
		}
	})
	t.Run("refuses an invalid address", func(t *testing.T) {
		if _, _, err := iam.Forward("nowhere", "any"); err == nil {
			t.Error("no error")
		}
	})
}

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

func allow(resource string, actions ...string) []samtemplate.Permission {
	return []samtemplate.Permission{{Actions: actions, Resources: []string{resource}}}
}

// clients are one caller's SDK clients, in front of services that accept anything.
type clients struct {
	t           *testing.T
	url         string
	guard       *iam.Guard
	reached     int
	table       *dynamodb.Client
	functions   *lambda.Client
	connections *apigatewaymanagementapi.Client
}

func newClients(t *testing.T, accessKey string, permissions []samtemplate.Permission) *clients {
	t.Helper()
	c := &clients{t: t}
	c.guard = iam.New(iam.Options{
		Functions: []samtemplate.Function{{LogicalID: function, Permissions: permissions}},
		Tables: []samtemplate.Table{{
			Name: "Table", Key: []samtemplate.KeyElement{{Name: "SK", Type: "RANGE"}, {Name: "PK", Type: "HASH"}},
			Indexes: []samtemplate.Index{{Name: "activity", Key: []samtemplate.KeyElement{{Name: "GPK", Type: "HASH"}}}},
		}},
		WebSocketAPIs: []samtemplate.WebSocketAPI{{LogicalID: "Socket", Stage: "live"}},
		Region:        "us-east-1", Account: "000000000000", Log: slog.New(slog.DiscardHandler),
	})
	services := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		c.reached++
		if body, err := io.ReadAll(r.Body); err != nil || r.Method == http.MethodPost && len(body) == 0 {
			t.Errorf("cannot read the body: %v", err)
		}
		_, _ = io.WriteString(rw, "{}")
	})
	server := httptest.NewServer(c.guard.Protect(services, "dynamodb", "lambda", "execute-api", "sqs", "events"))
	t.Cleanup(server.Close)
	c.url = server.URL
	cfg := aws.Config{
		Region: "us-east-1", BaseEndpoint: &server.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, "local", ""),
	}
	c.table, c.functions = dynamodb.NewFromConfig(cfg), lambda.NewFromConfig(cfg)
	c.connections = apigatewaymanagementapi.NewFromConfig(cfg)
	return c
}

// mustBeDenied requires an error of the guard that names the denied action.
func (c *clients) mustBeDenied(err error, what string) {
	c.t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "AccessDeniedException" ||
		!strings.Contains(api.ErrorMessage(), "not authorized to perform: "+what) {
		c.t.Errorf("got %v", err)
	}
	if c.reached != 0 {
		c.t.Error("the call reached the service")
	}
}

func (c *clients) query(index string) error {
	in := &dynamodb.QueryInput{
		TableName: aws.String("Table"), KeyConditionExpression: aws.String("PK = :k"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":k": text("x")},
	}
	if index != "" {
		in.IndexName, in.KeyConditionExpression = &index, aws.String("GPK = :k")
	}
	_, err := c.table.Query(c.t.Context(), in)
	return err
}

func (c *clients) write(items ...types.TransactWriteItem) error {
	_, err := c.table.TransactWriteItems(c.t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: items})
	return err
}

func (c *clients) invoke(name string) error {
	_, err := c.functions.Invoke(c.t.Context(), &lambda.InvokeInput{FunctionName: &name, Payload: []byte("{}")})
	return err
}
