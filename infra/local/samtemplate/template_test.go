package samtemplate_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

const head = "Transform: AWS::Serverless-2016-10-31\n"

func TestLoad(t *testing.T) {
	t.Run("reads template.yaml", func(t *testing.T) {
		template, err := samtemplate.Load("../../../template.yaml", samtemplate.Options{
			Defaults:   map[string]string{"JwtIssuer": "http://127.0.0.1:3000/dev"},
			Parameters: map[string]string{"JwtAudience": "one,two"},
		})
		if err != nil {
			t.Fatal(err)
		}
		wantJWT := map[string]samtemplate.JWTAuthorizer{"Jwt": {
			Issuer: "http://127.0.0.1:3000/dev", Audience: []string{"one", "two"},
			IdentitySource: "$request.header.Authorization",
		}}
		if diff := cmp.Diff(wantJWT, template.HTTPAPIs[0].JWT); diff != "" {
			t.Errorf("authorizers (-want +got):\n%s", diff)
		}
		for _, f := range template.Functions {
			if f.Environment["TABLE_NAME"] != template.Tables[0].Name {
				t.Errorf("TABLE_NAME of %s is %q", f.LogicalID, f.Environment["TABLE_NAME"])
			}
			for _, route := range f.Routes {
				isCard := strings.HasSuffix(route.Path, "/.well-known/agent-card.json")
				isKeys := strings.HasSuffix(route.Path, "/.well-known/jwks.json")
				isMetadata := strings.HasPrefix(route.Path, "/.well-known/oauth-protected-resource")
				isOpen := isCard || isKeys || isMetadata || f.LogicalID == "ConsoleFunction"
				if !isOpen && route.Authorizer != "Jwt" && route.Authorizer != "Token" {
					t.Errorf("%s %s is public", route.Method, route.Path)
				}
			}
		}
	})
	t.Run("refuses a missing file", func(t *testing.T) {
		if _, err := samtemplate.Load("none.yaml", samtemplate.Options{}); err == nil {
			t.Error("no error")
		}
	})
}

const everything = head + `
Parameters:
  Word: {Type: String, Default: given}
  Words: {Type: String, Default: "a,b"}
  Empty: {Type: String, Default: ""}
Conditions:
  Yes: !Equals [!Ref Word, given]
  No: !Not [!Equals [!Ref Word, given]]
Globals:
  Function:
    Timeout: 20
    Environment: {Variables: {A: global, B: global}}
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      TableName: !Sub "${AWS::StackName}-table"
      KeySchema: [{AttributeName: PK, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: PK, AttributeType: S}]
      StreamSpecification: {StreamViewType: KEYS_ONLY}
      TimeToLiveSpecification: {AttributeName: ttl, Enabled: false}
  Queue: {Type: AWS::SQS::Queue}
  Api:
    Type: AWS::Serverless::HttpApi
    Properties:
      CorsConfiguration: {AllowOrigins: ["*"]}
      Auth:
        DefaultAuthorizer: Jwt
        Authorizers:
          Jwt: {JwtConfiguration: {issuer: i, audience: !Split [",", !Ref Words]}}
  Socket:
    Type: AWS::Serverless::WebSocketApi
    Properties:
      StageName: v1
      RouteSelectionExpression: $request.body.action
      Routes: {$connect: {FunctionArn: !GetAtt Fn.Arn}}
  Gone: {Type: AWS::Serverless::Function, Condition: No, Properties: {CodeUri: x}}
  Fn:
    Type: AWS::Serverless::Function
    Condition: Yes
    Properties:
      CodeUri: functions/fn/
      ReservedConcurrentExecutions: 4
      Environment:
        Variables:
          B: own
          TABLE: !Ref Table
          ARN: !GetAtt Table.Arn
          SUB: !Sub "${AWS::Region}-${Word}-${Table.Arn}"
          IF: !If [No, a, !Ref Word]
          NONE: !If [Yes, !Ref AWS::NoValue, a]
          URL: !Ref Queue
      Events:
        Default: {Type: HttpApi, Properties: {ApiId: !Ref Api}}
        Open: {Type: HttpApi, Properties: {ApiId: !Ref Api, Path: /open, Method: get, TimeoutInMillis: 5000, Auth: {Authorizer: NONE}}}
        Tick: {Type: Schedule, Properties: {Schedule: rate(1 minute), Enabled: false}}
        Tock: {Type: Schedule, Properties: {Schedule: rate(1 hour)}}
        Changes:
          Type: DynamoDB
          Properties:
            Stream: !GetAtt Table.StreamArn
            StartingPosition: LATEST
            MaximumBatchingWindowInSeconds: 1
            MaximumRetryAttempts: 3
            FunctionResponseTypes: [ReportBatchItemFailures]
            FilterCriteria: {Filters: [{Pattern: "{}"}]}
            DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt Queue.Arn}}
Outputs:
  Name: {Value: !Ref Fn}
`

func TestParse(t *testing.T) {
	got, err := samtemplate.Parse([]byte(everything), samtemplate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	four := 4
	want := &samtemplate.Template{
		Tables: []samtemplate.Table{{
			LogicalID: "Table", Name: "local-table", StreamView: "KEYS_ONLY",
			Key:        []samtemplate.KeyElement{{Name: "PK", Type: "HASH"}},
			Attributes: []samtemplate.Attribute{{Name: "PK", Type: "S"}},
		}},
		HTTPAPIs: []samtemplate.HTTPAPI{{
			LogicalID: "Api", Name: "Api", Stage: "$default", DefaultAuthorizer: "Jwt",
			CORS: &samtemplate.CORS{AllowOrigins: []string{"*"}},
			JWT: map[string]samtemplate.JWTAuthorizer{"Jwt": {
				Issuer: "i", Audience: []string{"a", "b"}, IdentitySource: "$request.header.Authorization",
			}},
		}},
		WebSocketAPIs: []samtemplate.WebSocketAPI{{
			LogicalID: "Socket", Stage: "v1", RouteSelection: "$request.body.action",
			Routes: map[string]samtemplate.WebSocketRoute{"$connect": {Function: "Fn", Timeout: 29 * time.Second}},
		}},
		Queues: []samtemplate.Queue{{
			LogicalID: "Queue", Name: "Queue", ARN: "arn:aws:sqs:us-east-1:000000000000:Queue",
			URL:       "https://sqs.us-east-1.amazonaws.com/000000000000/Queue",
			Retention: 4 * 24 * time.Hour, VisibilityTimeout: 30 * time.Second,
		}},
		Functions: []samtemplate.Function{{
			LogicalID: "Fn", Name: "Fn", CodeURI: "functions/fn/", Timeout: 20 * time.Second, MemoryMB: 128, Reserved: &four,
			Environment: map[string]string{
				"A": "global", "B": "own", "TABLE": "local-table", "IF": "given",
				"ARN": "arn:aws:dynamodb:us-east-1:000000000000:table/local-table",
				"SUB": "us-east-1-given-arn:aws:dynamodb:us-east-1:000000000000:table/local-table",
				"URL": "https://sqs.us-east-1.amazonaws.com/000000000000/Queue",
			},
			Routes: []samtemplate.Route{
				{API: "Api", Method: "ANY", Path: "$default", Authorizer: "Jwt", Timeout: 30 * time.Second},
				{API: "Api", Method: "GET", Path: "/open", Timeout: 5 * time.Second},
			},
			Schedules: []samtemplate.Schedule{
				{Name: "Tick", Expression: "rate(1 minute)"},
				{Name: "Tock", Expression: "rate(1 hour)", Enabled: true},
			},
			Streams: []samtemplate.Stream{{
				Name: "Changes", Table: "Table", StartingPosition: "LATEST", BatchSize: 100, BatchWindow: time.Second, Filters: []string{"{}"},
				MaxRetries: 3, ParallelizationFactor: 1, PartialBatchResponses: true, Enabled: true,
				FailureDestination: "arn:aws:sqs:us-east-1:000000000000:Queue",
			}},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, found := range map[string]bool{"Fn": true, "Gone": false} {
		if _, ok := got.Function(name); ok != found {
			t.Errorf("Function(%q) found: %v", name, ok)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	function := head + "Resources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties:\n      CodeUri: x\n"
	for _, test := range []struct {
		name, text string
		line       int
		reason     string
	}{
		{"a template that is not SAM", "Resources: {}", 1, "not a SAM template"},
		{"a template without resources", head, 1, "no Resources"},
		{"an empty template", "", 1, "empty"},
		{"an unknown section", head + "Hooks: {}", 2, "section Hooks"},
		{"an unknown resource type", head + "Resources:\n  X: {Type: AWS::Made::Up}", 3, "type AWS::Made::Up"},
		{"an unknown attribute", head + "Resources:\n  X:\n    Type: AWS::SQS::Queue\n    Creation: {}", 5, "attribute Creation"},
		{"an unknown property", function + "      Layers: [a]", 7, "property Layers"},
		{"an unknown property further in", function + "      LoggingConfig:\n        Loud: yes", 8, "property Loud"},
		{"an unknown intrinsic", function + "      Handler: !Base64 x", 7, "function Base64"},
		{"an intrinsic in the long form", function + "      Handler: {Fn::Sub: x}", 7, "function {Fn::Sub: …}"},
		{"an unsupported intrinsic", function + "      Handler: !Join [x, [y]]", 7, "function Join"},
		{"an unknown condition function", head + "Conditions:\n  A: !And [!Equals [a, a], !Equals [b, b]]\nResources: {}", 3, "function And"},
		{"an unknown name", function + "      Handler: !Ref Nothing", 7, "Nothing is neither"},
		{"an unknown name in a string", function + "      Handler: !Sub \"${Nothing}\"", 7, "Nothing is neither"},
		{"an unknown attribute", function + "      Handler: !GetAtt F.Color", 7, "attribute Color"},
		{"an unknown condition", function + "      Handler: !If [Never, a, b]", 7, "condition Never"},
		{"an unknown event", function + "      Events:\n        E: {Type: Kafka}", 8, "type Kafka"},
		{"a route without its API", function + "      Events:\n        E: {Type: HttpApi, Properties: {Path: /}}", 8, "ApiId"},
		{"a circular reference", head + "Resources:\n  T:\n    Type: AWS::DynamoDB::Table\n    Properties:\n      TableName: !Ref T", 6, "circular"},
		{"a wrong type", function + "      Timeout: soon", 7, "soon"},
		{"a parameter without a value", head + "Parameters:\n  P: {Type: String}\nResources: {}", 3, "no default"},
		{"a merge key", function + "      Environment:\n        <<: {Variables: {A: b}}", 8, "merge keys"},
		{
			"a mistake in a part that the local host ignores",
			head + "Resources:\n  A:\n    Type: AWS::CloudWatch::Alarm\n    Properties:\n      Threshold: !Ref Nothing", 6, "Nothing is neither",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := samtemplate.Parse([]byte(test.text), samtemplate.Options{})
			var at *samtemplate.Error
			if !errors.As(err, &at) {
				t.Fatalf("got %v, want an error with a line", err)
			}
			if at.Line != test.line || !strings.Contains(at.Reason, test.reason) {
				t.Errorf("got %v, want line %d: %s", at, test.line, test.reason)
			}
		})
	}
	t.Run("applies defaults only to parameters that the template has", func(t *testing.T) {
		text := head + "Parameters:\n  Name: {Type: String, Default: theirs}\nResources:\n" +
			"  Table: {Type: AWS::DynamoDB::Table, Properties: {BillingMode: PAY_PER_REQUEST, TableName: !Ref Name}}\n"
		for want, opts := range map[string]samtemplate.Options{
			"ours":  {Defaults: map[string]string{"Name": "ours", "Other": "x"}},
			"given": {Defaults: map[string]string{"Name": "ours"}, Parameters: map[string]string{"Name": "given"}},
		} {
			template, err := samtemplate.Parse([]byte(text), opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := template.Tables[0].Name; got != want {
				t.Errorf("the table's name is %q, want %q", got, want)
			}
		}
	})
	t.Run("refuses a parameter that the template lacks", func(t *testing.T) {
		_, err := samtemplate.Parse([]byte(head+"Resources: {}"), samtemplate.Options{Parameters: map[string]string{"X": "y"}})
		if err == nil || !strings.Contains(err.Error(), "no parameter X") {
			t.Errorf("got %v", err)
		}
	})
}
