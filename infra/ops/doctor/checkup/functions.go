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

// askedAtOnce keeps below the 15 requests a second that Lambda answers of those
// who manage it.
const askedAtOnce = 4

// Functions looks whether each of the stack's functions can be invoked, and
// whether its last update was taken.
func Functions(ctx context.Context, d *deployment.Deployment, client lambda.GetFunctionConfigurationAPIClient) []Finding {
	ids := d.Resources(deployment.Function)
	found := make([][]Finding, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(askedAtOnce)
	for i, id := range ids {
		group.Go(func() error {
			name := d.Resource(deployment.Function, id)
			out, err := client.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: &name})
			if err != nil {
				found[i] = unread(id, "lambda:GetFunctionConfiguration", err)
				return nil
			}
			found[i] = function(id, out)
			return nil
		})
	}
	_ = group.Wait() // none returns an error: what goes wrong is a finding
	if len(ids) == 0 {
		return []Finding{{Name: "functions", Status: Fail, Detail: "the stack has none", Advice: "deploy template.yaml"}}
	}
	return orFine(slices.Concat(found...), "functions", fmt.Sprintf("%d, all active, their last updates taken", len(ids)))
}

// function finds what is wrong with one; nothing is nil. One that was not called
// for long is inactive, and wakes by itself.
func function(id string, c *lambda.GetFunctionConfigurationOutput) []Finding {
	f := Finding{Name: id}
	switch {
	case c.State == types.StateFailed:
		f.Status, f.Detail = Fail, "failed: "+aws.ToString(c.StateReason)
		f.Advice = "what it says is the reason; deploy again when that is mended"
	case c.LastUpdateStatus == types.LastUpdateStatusFailed:
		f.Status, f.Detail = Fail, "its last update failed: "+aws.ToString(c.LastUpdateStatusReason)
		f.Advice = "the code of before runs on; deploy again"
	case c.State == types.StatePending || c.LastUpdateStatus == types.LastUpdateStatusInProgress:
		f.Status, f.Detail, f.Advice = Warn, "is being updated", "look again in a minute"
	default:
		return nil
	}
	return []Finding{f}
}
