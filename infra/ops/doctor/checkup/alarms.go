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

// mostNames is how many alarms CloudWatch is asked for at a time.
const mostNames = 100

// Alarms looks which of the stack's alarms ring, and whether anybody would hear.
func Alarms(ctx context.Context, d *deployment.Deployment, client cloudwatch.DescribeAlarmsAPIClient) []Finding {
	const name = "alarms"
	var names []string
	for _, id := range d.Resources(deployment.Alarm) {
		names = append(names, d.Resource(deployment.Alarm, id))
	}
	var found []Finding
	deaf, seen := 0, 0
	for part := range slices.Chunk(names, mostNames) {
		pages := cloudwatch.NewDescribeAlarmsPaginator(client, &cloudwatch.DescribeAlarmsInput{AlarmNames: part})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return unread(name, "cloudwatch:DescribeAlarms", err)
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
			Name: name, Status: Warn, Detail: fmt.Sprintf("%d are not there", missing), Advice: "deploy template.yaml again",
		})
	}
	found = orFine(found, name, fmt.Sprintf("%d, all quiet", seen))
	if deaf > 0 {
		found = append(found, Finding{
			Name: "who hears of alarms", Status: Warn, Detail: fmt.Sprintf("%d of %d alarms tell nobody", deaf, seen),
			Advice: "deploy with AlarmTopicArn, an SNS topic that somebody has subscribed to",
		})
	}
	return found
}

// alarm finds what is wrong; nothing is nil.
func alarm(a types.MetricAlarm) []Finding {
	f := Finding{Name: aws.ToString(a.AlarmName)}
	switch a.StateValue {
	case types.StateValueAlarm:
		f.Status, f.Detail = Fail, aws.ToString(a.AlarmDescription)+": "+aws.ToString(a.StateReason)
		f.Advice = "docs/operation.md says what each alarm asks of you"
	case types.StateValueInsufficientData:
		f.Status, f.Detail, f.Advice = Warn, "has no data yet", "look again in ten minutes"
	case types.StateValueOk:
		return nil
	default:
		return nil
	}
	return []Finding{f}
}
