package host

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/table"
)

// mappings are the event source mappings of the template: streams and queues.
func (s *System) mappings(ctx context.Context) ([]lambda.Mapping, error) {
	streams, err := s.streamARNs(ctx)
	if err != nil {
		return nil, err
	}
	queues := map[string]string{}
	for _, q := range s.template.Queues {
		queues[q.LogicalID] = q.ARN
	}
	var out []lambda.Mapping
	for _, f := range s.template.Functions {
		for _, m := range f.Streams {
			out = append(out, lambda.Mapping{Function: f.Name, SourceARN: streams[m.Table], Filters: m.Filters, Enabled: m.Enabled})
		}
		for _, m := range f.Queues {
			out = append(out, lambda.Mapping{Function: f.Name, SourceARN: queues[m.Queue], Enabled: m.Enabled})
		}
	}
	return out, nil
}

// streamARNs maps tables' logical ids to stream ARNs; those of the engine name
// another region.
func (s *System) streamARNs(ctx context.Context) (map[string]string, error) {
	client := table.NewClient(s.database, s.opts.DynamoDBKey)
	arns := map[string]string{}
	for _, t := range s.template.Tables {
		if t.StreamView == "" {
			continue
		}
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &t.Name})
		if err != nil {
			return nil, fmt.Errorf("describe table %s: %w", t.Name, err)
		}
		arns[t.LogicalID] = strings.Join([]string{
			"arn:aws:dynamodb", table.Region, account, "table/" + t.Name + "/stream/" + aws.ToString(out.Table.LatestStreamLabel),
		}, ":")
	}
	return arns, nil
}
