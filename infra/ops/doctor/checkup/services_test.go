package checkup_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	alarmtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	tabletypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/ops/deployment"
	"github.com/rethread/rethread/infra/ops/doctor/checkup"
	"github.com/rethread/rethread/infra/test/dynamotest"
)

// lambdas describes functions by name, and has its mappings on two pages.
type lambdas struct {
	functions map[string]lambda.GetFunctionConfigurationOutput
	mappings  []types.EventSourceMappingConfiguration
}

var errDenied = errors.New("AccessDeniedException: no")

func (l lambdas) GetFunctionConfiguration(
	_ context.Context, in *lambda.GetFunctionConfigurationInput, _ ...func(*lambda.Options),
) (*lambda.GetFunctionConfigurationOutput, error) {
	out, ok := l.functions[*in.FunctionName]
	if !ok {
		return nil, errDenied
	}
	return &out, nil
}

func (l lambdas) ListEventSourceMappings(
	_ context.Context, in *lambda.ListEventSourceMappingsInput, _ ...func(*lambda.Options),
) (*lambda.ListEventSourceMappingsOutput, error) {
	if l.mappings == nil {
		return nil, errDenied
	}
	if in.Marker == nil {
		return &lambda.ListEventSourceMappingsOutput{EventSourceMappings: l.mappings[:1], NextMarker: aws.String("more")}, nil
	}
	return &lambda.ListEventSourceMappingsOutput{EventSourceMappings: l.mappings[1:]}, nil
}

// stack has resources of one type, whose physical ids are the logical ones
// followed by "-1".
func stack(kind string, ids ...string) *deployment.Deployment {
	d := &deployment.Deployment{}
	for _, id := range ids {
		d.Add(kind, id, id+"-1")
	}
	return d
}

// lines are findings in short.
func lines(found []checkup.Finding) []string {
	var out []string
	for _, f := range found {
		out = append(out, fmt.Sprintf("%s %s: %s", f.Status, f.Name, f.Detail))
	}
	return out
}

func wantLines(t *testing.T, found []checkup.Finding, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, lines(found)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, f := range found {
		if bad := f.Status == checkup.Warn || f.Status == checkup.Fail; bad != (f.Advice != "") {
			t.Errorf("%s %s advises %q", f.Status, f.Name, f.Advice)
		}
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	client := lambdas{functions: map[string]lambda.GetFunctionConfigurationOutput{
		"Good-1":   {State: types.StateActive, LastUpdateStatus: types.LastUpdateStatusSuccessful},
		"Asleep-1": {State: types.StateInactive, LastUpdateStatus: types.LastUpdateStatusSuccessful},
		"Broken-1": {State: types.StateFailed, StateReason: aws.String("no role")},
		"Old-1":    {State: types.StateActive, LastUpdateStatus: types.LastUpdateStatusFailed, LastUpdateStatusReason: aws.String("too large")},
		"New-1":    {State: types.StatePending},
		"Plain-1":  {State: types.StateActive, LoggingConfig: &types.LoggingConfig{LogFormat: types.LogFormatText}},
	}}
	wantLines(t, checkup.Functions(t.Context(), stack(deployment.Function, "Good", "Asleep"), client),
		"ok functions: 2, all active, their last updates successful")
	wantLines(t, checkup.Functions(t.Context(), stack(deployment.Function, "Broken", "Good", "New", "Old", "Secret"), client),
		"fail Broken: failed: no role", "warn New: is being updated", "fail Old: its last update failed: too large",
		"fail Secret: AccessDeniedException: no")
	wantLines(t, checkup.Functions(t.Context(), stack(deployment.Function, "Plain"), client),
		"warn Plain: logs plain text: its failures reach no alarm")
	wantLines(t, checkup.Functions(t.Context(), stack(deployment.Function), client), "fail functions: the stack has none")
}

func TestFilters(t *testing.T) {
	t.Parallel()
	d := stack(deployment.Function, "One", "Two")
	for _, id := range []string{"OneErrors", "OneThrottles", "TwoErrors"} {
		d.Add(deployment.MetricFilter, id, id+"-1")
	}
	wantLines(t, checkup.Filters(d), "warn failures of functions: 3 metric filters count them, and there should be 4")
	d.Add(deployment.MetricFilter, "TwoThrottles", "TwoThrottles-1")
	wantLines(t, checkup.Filters(d), "ok failures of functions: counted by 4 metric filters")
}

func feeding(function, state, last string) types.EventSourceMappingConfiguration {
	return types.EventSourceMappingConfiguration{
		FunctionArn: aws.String("arn:aws:lambda:eu-central-1:1:function:" + function), State: &state, LastProcessingResult: &last,
		EventSourceArn: aws.String("arn:aws:sqs:eu-central-1:1:polled"),
	}
}

func TestMappings(t *testing.T) {
	t.Parallel()
	d := stack(deployment.Function, "Fanout", "Deliver")
	others := feeding("elsewhere", "Disabled", "")
	wantLines(t, checkup.Mappings(t.Context(), d, lambdas{mappings: []types.EventSourceMappingConfiguration{
		others, feeding("Fanout-1", "Enabled", "OK"), feeding("Deliver-1:live", "Enabled", "No records processed"),
	}}), "ok event sources: 2, all enabled")
	wantLines(t, checkup.Mappings(t.Context(), d, lambdas{mappings: []types.EventSourceMappingConfiguration{
		feeding("Fanout-1", "Enabled", "PROBLEM: Function call failed"), feeding("Deliver-1", "Disabled", ""),
	}}), "fail Fanout: cannot be invoked: PROBLEM: Function call failed", "warn Deliver: receives nothing: its event source is Disabled")
	wantLines(t, checkup.Mappings(t.Context(), d, lambdas{mappings: []types.EventSourceMappingConfiguration{others}}),
		"fail event sources: no function has an event source mapping")
	wantLines(t, checkup.Mappings(t.Context(), d, lambdas{}),
		"fail event sources: AccessDeniedException: no")
}

// queues returns the numbers of messages, by URL.
type queues map[string]string

func (q queues) GetQueueAttributes(
	_ context.Context, in *sqs.GetQueueAttributesInput, _ ...func(*sqs.Options),
) (*sqs.GetQueueAttributesOutput, error) {
	n, ok := q[*in.QueueUrl]
	if !ok {
		return nil, errDenied
	}
	return &sqs.GetQueueAttributesOutput{Attributes: map[string]string{
		"QueueArn": "arn:aws:sqs:eu-central-1:1:" + strings.TrimSuffix(*in.QueueUrl, "-1"), "ApproximateNumberOfMessages": n,
	}}, nil
}

func TestQueues(t *testing.T) {
	t.Parallel()
	d := stack(deployment.Queue, "given-up", "polled", "secret")
	d.Add(deployment.Function, "Deliver", "Deliver-1")
	feeds := lambdas{mappings: []types.EventSourceMappingConfiguration{feeding("Deliver-1", "Enabled", "OK")}}
	wantLines(t, checkup.Queues(t.Context(), d, queues{"given-up-1": "0", "polled-1": "7"}, feeds),
		"ok queue given-up: empty", "ok queue polled: about 7 waiting", "fail queue secret: AccessDeniedException: no")
	wantLines(t, checkup.Queues(t.Context(), d, queues{"given-up-1": "1", "polled-1": "1001", "secret-1": "0"}, feeds),
		"warn queue given-up: about 1 abandoned", "warn queue polled: about 1001 waiting", "ok queue secret: empty")
}

// alarms are alarms by name, with their states and actions.
type alarms map[string]alarmtypes.MetricAlarm

func (b alarms) DescribeAlarms(
	_ context.Context, in *cloudwatch.DescribeAlarmsInput, _ ...func(*cloudwatch.Options),
) (*cloudwatch.DescribeAlarmsOutput, error) {
	if b == nil {
		return nil, errDenied
	}
	var out cloudwatch.DescribeAlarmsOutput
	for _, name := range in.AlarmNames {
		if a, ok := b[name]; ok {
			a.AlarmName, a.ActionsEnabled = aws.String(name), aws.Bool(true)
			out.MetricAlarms = append(out.MetricAlarms, a)
		}
	}
	return &out, nil
}

func TestAlarms(t *testing.T) {
	t.Parallel()
	told := []string{"arn:aws:sns:eu-central-1:1:people"}
	client := alarms{
		"Quiet-1": {StateValue: alarmtypes.StateValueOk, AlarmActions: told},
		"Deaf-1":  {StateValue: alarmtypes.StateValueOk},
		"Rings-1": {
			StateValue: alarmtypes.StateValueAlarm, AlarmActions: told,
			AlarmDescription: aws.String("DynamoDB failed"), StateReason: aws.String("2 of 1"),
		},
		"New-1": {StateValue: alarmtypes.StateValueInsufficientData, AlarmActions: told},
	}
	wantLines(t, checkup.Alarms(t.Context(), stack(deployment.Alarm, "Quiet"), client), "ok alarms: 1, all quiet")
	wantLines(t, checkup.Alarms(t.Context(), stack(deployment.Alarm, "Deaf"), client),
		"ok alarms: 1, all quiet", "warn topic of alarms: 1 of 1 alarms have no topic")
	wantLines(t, checkup.Alarms(t.Context(), stack(deployment.Alarm, "Rings", "New", "Gone"), client),
		"warn New-1: has no data yet", "fail Rings-1: DynamoDB failed: 2 of 1", "warn alarms: 1 do not exist")
	wantLines(t, checkup.Alarms(t.Context(), stack(deployment.Alarm, "Quiet"), alarms(nil)), "fail alarms: AccessDeniedException: no")
}

func TestTables(t *testing.T) {
	t.Parallel()
	client := dynamotest.Client(t)
	local := func(name string) *deployment.Deployment {
		d := &deployment.Deployment{Local: true}
		d.Add(deployment.Table, "Table", name)
		return d
	}
	t.Run("reports a table without a stream", func(t *testing.T) {
		t.Parallel()
		name := strings.NewReplacer("/", "-").Replace(t.Name())
		_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: &name, BillingMode: tabletypes.BillingModePayPerRequest,
			AttributeDefinitions: []tabletypes.AttributeDefinition{{AttributeName: aws.String("PK"), AttributeType: tabletypes.ScalarAttributeTypeS}},
			KeySchema:            []tabletypes.KeySchemaElement{{AttributeName: aws.String("PK"), KeyType: tabletypes.KeyTypeHash}},
		})
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, checkup.Tables(t.Context(), local(name), client),
			"fail table "+name+": its stream is off, or lacks new and old images",
			"warn expiry of items: off: expired items are kept, and billed",
			"skipped point-in-time recovery: not on this machine")
	})
	t.Run("reports a deleted table", func(t *testing.T) {
		t.Parallel()
		found := checkup.Tables(t.Context(), local("gone"), client)
		if len(found) != 1 || found[0].Status != checkup.Fail || !strings.Contains(found[0].Detail, "ResourceNotFoundException") {
			t.Errorf("found %v", lines(found))
		}
	})
}
