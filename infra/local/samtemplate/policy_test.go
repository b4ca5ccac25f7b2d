package samtemplate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

const withPolicies = head + `
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      KeySchema: [{AttributeName: PK, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: PK, AttributeType: S}]
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: x
      Policies:
`

func TestPermissions(t *testing.T) {
	t.Run("reads lists and single values", func(t *testing.T) {
		template, err := samtemplate.Parse([]byte(withPolicies+`
        - Version: "2012-10-17"
          Statement:
            - Effect: Allow
              Action: [dynamodb:GetItem, dynamodb:Query]
              Resource: [!GetAtt Table.Arn, !Sub "${Table.Arn}/index/*"]
            - {Effect: Allow, Action: lambda:InvokeFunction, Resource: "*"}
        - Statement: {Effect: Allow, Action: "sqs:*", Resource: a}
`), samtemplate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		const table = "arn:aws:dynamodb:us-east-1:000000000000:table/Table"
		want := []samtemplate.Permission{
			{Actions: []string{"dynamodb:GetItem", "dynamodb:Query"}, Resources: []string{table, table + "/index/*"}},
			{Actions: []string{"lambda:InvokeFunction"}, Resources: []string{"*"}},
			{Actions: []string{"sqs:*"}, Resources: []string{"a"}},
		}
		if diff := cmp.Diff(want, template.Functions[0].Permissions); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("reads denials and conditions on leading keys", func(t *testing.T) {
		template, err := samtemplate.Parse([]byte(withPolicies+`
        Statement:
          - Effect: Allow
            Action: dynamodb:PutItem
            Resource: "*"
            Condition: {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [A, B]}}
          - Effect: Deny
            Action: dynamodb:*
            Resource: "*"
            Condition:
              "ForAnyValue:StringLike": {"dynamodb:LeadingKeys": "N#*"}
              "ForAnyValue:StringEquals": {"dynamodb:LeadingKeys": N#1}
`), samtemplate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := []samtemplate.Permission{
			{
				Actions: []string{"dynamodb:PutItem"}, Resources: []string{"*"},
				Conditions: []samtemplate.Condition{{Like: true, Values: []string{"A", "B"}}},
			},
			{
				Deny: true, Actions: []string{"dynamodb:*"}, Resources: []string{"*"},
				Conditions: []samtemplate.Condition{
					{Any: true, Like: true, Values: []string{"N#*"}}, {Any: true, Values: []string{"N#1"}},
				},
			},
		}
		if diff := cmp.Diff(want, template.Functions[0].Permissions); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	for _, test := range []struct{ name, policies, reason string }{
		{"an AWS managed policy", "AWSLambdaExecute", "policy AWSLambdaExecute is not supported"},
		{"an AWS managed policy's ARN", "arn:aws:iam::aws:policy/AWSLambdaExecute", "policy arn:aws:iam::aws:policy/AWSLambdaExecute is not supported"},
		{"a resource that is not a policy", "!Ref Table", "policy Table is not supported"},
		{"a policy template", "[{DynamoDBCrudPolicy: {TableName: x}}]", "DynamoDBCrudPolicy"},
		{"another effect", "{Statement: {Effect: deny, Action: a, Resource: b}}", "Allow or Deny"},
		{"a condition without an operator", withCondition("{}"), "needs an operator"},
		{"an operator without a set prefix", withCondition("{StringEquals: {dynamodb:LeadingKeys: a}}"), "StringEquals is not supported"},
		{"ForAllValues with StringEquals", withCondition("{ForAllValues:StringEquals: {dynamodb:LeadingKeys: a}}"), "ForAllValues:StringEquals is not supported"},
		{"another comparison", withCondition("{ForAllValues:StringNotEquals: {dynamodb:LeadingKeys: a}}"), "ForAllValues:StringNotEquals is not supported"},
		{"an IfExists operator", withCondition("{ForAllValues:StringLikeIfExists: {dynamodb:LeadingKeys: a}}"), "StringLikeIfExists is not supported"},
		{"another condition key", withCondition("{ForAllValues:StringLike: {dynamodb:Attributes: a}}"), "key dynamodb:Attributes is not supported"},
		{"an operator without a key", withCondition("{ForAllValues:StringLike: {}}"), "needs a key"},
		{"a condition without values", withCondition("{ForAllValues:StringLike: {dynamodb:LeadingKeys: []}}"), "needs a value"},
		{"a policy variable", withCondition(`{ForAllValues:StringLike: {dynamodb:LeadingKeys: "${aws:userid}"}}`), "no variables"},
		{"a statement without a resource", "{Statement: {Effect: Allow, Action: a}}", "an Action and a Resource"},
	} {
		t.Run(test.name+" is refused", func(t *testing.T) {
			_, err := samtemplate.Parse([]byte(withPolicies+"        "+test.policies), samtemplate.Options{})
			var at *samtemplate.Error
			if !errors.As(err, &at) || !strings.Contains(at.Reason, test.reason) {
				t.Errorf("got %v, want %s", err, test.reason)
			}
		})
	}
}

// withCondition returns a statement with that condition.
func withCondition(condition string) string {
	return "{Statement: {Effect: Allow, Action: a, Resource: b, Condition: " + condition + "}}"
}

const withGuard = head + `
Conditions:
  Never: !Equals [a, b]
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: x
      Policies:
        - !Ref Guard
        - Statement: {Effect: Allow, Action: dynamodb:GetItem, Resource: t}
  Guard:
    Type: AWS::IAM::ManagedPolicy
`

func TestManagedPolicies(t *testing.T) {
	t.Run("adds a managed policy to the function that names it", func(t *testing.T) {
		for _, name := range []string{"", "Description: d, "} {
			template, err := samtemplate.Parse([]byte(withGuard+`
    Properties: {`+name+`PolicyDocument: {Statement: {Effect: Deny, Action: "*", Resource: t}}}
`), samtemplate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := []samtemplate.Permission{
				{Deny: true, Actions: []string{"*"}, Resources: []string{"t"}},
				{Actions: []string{"dynamodb:GetItem"}, Resources: []string{"t"}},
			}
			if diff := cmp.Diff(want, template.Functions[0].Permissions); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	})
	for _, test := range []struct{ name, policy, reason string }{
		{"a policy without a document", "    Properties: {Description: d}", "no PolicyDocument"},
		{"a policy without a statement", "    Properties: {PolicyDocument: {Version: v}}", "needs a Statement"},
		{
			"a policy with its own list of roles",
			"    Properties: {Roles: [FRole], PolicyDocument: {Statement: {Effect: Deny, Action: a, Resource: b}}}", "property Roles",
		},
		{
			"a policy whose condition is not met",
			"    Condition: Never\n    Properties: {PolicyDocument: {Statement: {Effect: Deny, Action: a, Resource: b}}}",
			"the condition of policy Guard is not met",
		},
	} {
		t.Run(test.name+" is refused", func(t *testing.T) {
			_, err := samtemplate.Parse([]byte(withGuard+test.policy), samtemplate.Options{})
			var at *samtemplate.Error
			if !errors.As(err, &at) || !strings.Contains(at.Reason, test.reason) {
				t.Errorf("got %v, want %s", err, test.reason)
			}
		})
	}
}
