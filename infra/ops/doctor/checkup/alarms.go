package checkup

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/rethread/rethread/infra/ops/deployment"
)

// maxAlarmNames is the number of alarms in one request to CloudWatch.
const maxAlarmNames = 100

// Alarms checks the state of the stack's alarms and whether they notify a topic.
func Alarms(ctx context.Context, d *deployment.Deployment, client cloudwatch.DescribeAlarmsAPIClient) []Finding {
	const name = "alarms"
	var names []string
	for _, id := range d.Resources(deployment.Alarm) {
		names = append(names, d.Resource(deployment.Alarm, id))
	}
	var found []Finding
	deaf, seen := 0, 0
	for part := range slices.Chunk(names, maxAlarmNames) {
		pages := cloudwatch.NewDescribeAlarmsPaginator(client, &cloudwatch.DescribeAlarmsInput{AlarmNames: part})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return requestFailed(name, "cloudwatch:DescribeAlarms", err)
			}
			for _, a := range page.MetricAlarms {
				found = append(found, alarm(a)...)
				seen++
				if len(a.AlarmActions) == 0 || !aws.ToBool(a.ActionsEnabled) {
					deaf++
				}
			}
		}
	}
	if missing := len(names) - seen; missing > 0 || seen == 0 {
		found = append(found, Finding{
			Name: name, Status: Warn, Detail: fmt.Sprintf("%d do not exist", missing), Advice: "deploy template.yaml again",
		})
	}
	found = orOK(found, name, fmt.Sprintf("%d, all quiet", seen))
	if deaf > 0 {
		found = append(found, Finding{
			Name: "topic of alarms", Status: Warn, Detail: fmt.Sprintf("%d of %d alarms have no topic", deaf, seen),
			Advice: "deploy with AlarmTopicArn, an SNS topic with subscribers",
		})
	}
	return found
}

// alarm returns what is wrong with an alarm, or nil.
func alarm(a types.MetricAlarm) []Finding {
	f := Finding{Name: aws.ToString(a.AlarmName)}
	switch a.StateValue {
	case types.StateValueAlarm:
		f.Status, f.Detail = Fail, aws.ToString(a.AlarmDescription)+": "+aws.ToString(a.StateReason)
		f.Advice = "see docs/operation.md for what to do about each alarm"
	case types.StateValueInsufficientData:
		f.Status, f.Detail, f.Advice = Warn, "has no data yet", "check again in ten minutes"
	case types.StateValueOk:
		return nil
	default:
		return nil
	}
	return []Finding{f}
}
