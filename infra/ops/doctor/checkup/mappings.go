package checkup

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/rethread/rethread/infra/ops/deployment"
)

// Mappings checks the event source mappings of the stack's functions: the table's
// stream and the queues.
func Mappings(ctx context.Context, d *deployment.Deployment, client lambda.ListEventSourceMappingsAPIClient) []Finding {
	const name = "event sources"
	mine, err := mappings(ctx, d, client)
	if err != nil {
		return requestFailed(name, "lambda:ListEventSourceMappings", err)
	}
	if len(mine) == 0 {
		return []Finding{{
			Name: name, Status: Fail, Detail: "no function has an event source mapping",
			Advice: "watchers and webhooks receive nothing: deploy template.yaml again",
		}}
	}
	var found []Finding
	for _, m := range mine {
		found = append(found, mapping(m)...)
	}
	return orOK(found, name, fmt.Sprintf("%d, all enabled", len(mine)))
}

// mapping returns what is wrong with a mapping, or nil.
func mapping(m functionMapping) []Finding {
	f := Finding{Name: m.function}
	switch state, last := aws.ToString(m.State), aws.ToString(m.LastProcessingResult); {
	case strings.HasPrefix(last, "PROBLEM"):
		f.Status, f.Detail = Fail, "cannot be invoked: "+last
		f.Advice = "if it was called, its log has the reason; abandoned records are in the queue Failures: make redrive"
	case strings.HasPrefix(state, "Disabl"):
		f.Status, f.Detail = Warn, "receives nothing: its event source is "+state
		f.Advice = "enable the event source mapping, unless it was disabled on purpose"
	case state != "Enabled":
		f.Status, f.Detail, f.Advice = Warn, "its event source is "+state, "check again in a minute"
	default:
		return nil
	}
	return []Finding{f}
}

// functionMapping is a mapping of one of the stack's functions, with the function's logical
// id.
type functionMapping struct {
	types.EventSourceMappingConfiguration

	function string
}

// mappings are those of the stack's functions, out of all mappings in the account.
func mappings(ctx context.Context, d *deployment.Deployment, client lambda.ListEventSourceMappingsAPIClient) ([]functionMapping, error) {
	var out []functionMapping
	pages := lambda.NewListEventSourceMappingsPaginator(client, &lambda.ListEventSourceMappingsInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, m := range page.EventSourceMappings {
			_, name, _ := strings.Cut(aws.ToString(m.FunctionArn), ":function:")
			name, _, _ = strings.Cut(name, ":") // without a version
			if id, ok := d.LogicalID(deployment.Function, name); ok {
				out = append(out, functionMapping{m, id})
			}
		}
	}
	return out, nil
}
