package checkup

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/ops/deployment"
)

// maxConcurrent stays below Lambda's limit of 15 requests a second to its management
// API.
const maxConcurrent = 4

// Functions checks that each of the stack's functions can be invoked, and that its
// last update succeeded.
func Functions(ctx context.Context, d *deployment.Deployment, client lambda.GetFunctionConfigurationAPIClient) []Finding {
	ids := d.Resources(deployment.Function)
	found := make([][]Finding, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxConcurrent)
	for i, id := range ids {
		group.Go(func() error {
			name := d.Resource(deployment.Function, id)
			out, err := client.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: &name})
			if err != nil {
				found[i] = requestFailed(id, "lambda:GetFunctionConfiguration", err)
				return nil
			}
			found[i] = function(id, out)
			return nil
		})
	}
	_ = group.Wait() // no error is returned: each problem is a finding
	if len(ids) == 0 {
		return []Finding{{Name: "functions", Status: Fail, Detail: "the stack has none", Advice: "deploy template.yaml"}}
	}
	return orOK(slices.Concat(found...), "functions", fmt.Sprintf("%d, all active, their last updates successful", len(ids)))
}

// function returns what is wrong with a function, or nil. A function that was not
// called for a long time is inactive, and becomes active with the next call.
func function(id string, c *lambda.GetFunctionConfigurationOutput) []Finding {
	f := Finding{Name: id}
	switch {
	case c.State == types.StateFailed:
		f.Status, f.Detail = Fail, "failed: "+aws.ToString(c.StateReason)
		f.Advice = "fix the reported reason, then deploy again"
	case c.LastUpdateStatus == types.LastUpdateStatusFailed:
		f.Status, f.Detail = Fail, "its last update failed: "+aws.ToString(c.LastUpdateStatusReason)
		f.Advice = "the previous code is still running; deploy again"
	case c.State == types.StatePending || c.LastUpdateStatus == types.LastUpdateStatusInProgress:
		f.Status, f.Detail, f.Advice = Warn, "is being updated", "check again in a minute"
	case c.LoggingConfig != nil && c.LoggingConfig.LogFormat != types.LogFormatJson:
		f.Status, f.Detail = Warn, "logs plain text: its failures reach no alarm"
		f.Advice = "deploy template.yaml again, which sets the log format JSON"
	default:
		return nil
	}
	return []Finding{f}
}

// filtersPerFunction is how many metric filters count a function's failures: one
// counts failed invocations and errors, the other throttled requests.
const filtersPerFunction = 2

// Filters checks that the stack has the metric filters through which failures of its
// functions reach an alarm.
func Filters(d *deployment.Deployment) []Finding {
	const name = "failures of functions"
	is, want := len(d.Resources(deployment.MetricFilter)), filtersPerFunction*len(d.Resources(deployment.Function))
	if is < want {
		return []Finding{{
			Name: name, Status: Warn, Detail: fmt.Sprintf("%d metric filters count them, and there should be %d", is, want),
			Advice: "some failures reach no alarm: deploy template.yaml again",
		}}
	}
	return []Finding{{Name: name, Status: OK, Detail: fmt.Sprintf("counted by %d metric filters", is)}}
}
