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

// Mappings looks whether the stack's functions are fed: by the table's stream and
// by queues.
func Mappings(ctx context.Context, d *deployment.Deployment, client lambda.ListEventSourceMappingsAPIClient) []Finding {
	const name = "event sources"
	mine, err := mappings(ctx, d, client)
	if err != nil {
		return unread(name, "lambda:ListEventSourceMappings", err)
	}
	if len(mine) == 0 {
		return []Finding{{
			Name: name, Status: Fail, Detail: "no function is fed by a stream or a queue",
			Advice: "nobody is told of anything: deploy template.yaml again",
		}}
	}
	var found []Finding
	for _, m := range mine {
		found = append(found, mapping(m)...)
	}
	return orFine(found, name, fmt.Sprintf("%d, all enabled", len(mine)))
}

// mapping finds what is wrong with one; nothing is nil.
func mapping(m fed) []Finding {
	f := Finding{Name: m.function}
	switch state, last := aws.ToString(m.State), aws.ToString(m.LastProcessingResult); {
	case strings.HasPrefix(last, "PROBLEM"):
		f.Status, f.Detail = Fail, "cannot be fed: "+last
		f.Advice = "its log says why it fails, if it was called; what it is given up is in the queue Failures: make redrive"
	case strings.HasPrefix(state, "Disabl"):
		f.Status, f.Detail = Warn, "is fed no more: its source is "+state
		f.Advice = "enable the event source mapping, unless somebody has turned it off to save money"
	case state != "Enabled":
		f.Status, f.Detail, f.Advice = Warn, "its source is "+state, "look again in a minute"
	default:
		return nil
	}
	return []Finding{f}
}

// fed is a mapping of one of the stack's functions, by its logical id.
type fed struct {
	types.EventSourceMappingConfiguration

	function string
}

// mappings are those of the stack's functions, of all that the account has.
func mappings(ctx context.Context, d *deployment.Deployment, client lambda.ListEventSourceMappingsAPIClient) ([]fed, error) {
	var out []fed
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
				out = append(out, fed{m, id})
			}
		}
	}
	return out, nil
}
