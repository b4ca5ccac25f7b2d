package deployment

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
)

// findStack asks CloudFormation, with the default credentials and region of AWS's
// tools.
func findStack(ctx context.Context, name string) (*Deployment, error) {
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the AWS configuration: %w", err)
	}
	client := cloudformation.NewFromConfig(settings)
	described, err := client.DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if isMissing(err) || err == nil && len(described.Stacks) == 0 {
		return nil, fmt.Errorf("stack %s in %s: %w", name, settings.Region, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("describe stack %s: %w", name, err)
	}
	d := &Deployment{
		Name:    "stack " + name + " in " + settings.Region,
		Outputs: map[string]string{}, Parameters: map[string]string{},
		Services: &Services{
			DynamoDB: dynamodb.NewFromConfig(settings), Streams: dynamodbstreams.NewFromConfig(settings),
			Lambda: lambda.NewFromConfig(settings), SQS: sqs.NewFromConfig(settings),
			CloudWatch: cloudwatch.NewFromConfig(settings),
		},
	}
	stack := described.Stacks[0]
	for _, output := range stack.Outputs {
		d.Outputs[aws.ToString(output.OutputKey)] = aws.ToString(output.OutputValue)
	}
	for _, parameter := range stack.Parameters {
		d.Parameters[aws.ToString(parameter.ParameterKey)] = aws.ToString(parameter.ParameterValue)
	}
	return d, d.list(ctx, client, name)
}

// list reads the stack's resources, page by page.
func (d *Deployment) list(ctx context.Context, client *cloudformation.Client, name string) error {
	pages := cloudformation.NewListStackResourcesPaginator(client, &cloudformation.ListStackResourcesInput{StackName: &name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list the resources of stack %s: %w", name, err)
		}
		for _, r := range page.StackResourceSummaries {
			if id := aws.ToString(r.PhysicalResourceId); id != "" { // empty while the resource is not created yet
				d.Add(aws.ToString(r.ResourceType), aws.ToString(r.LogicalResourceId), id)
			}
		}
	}
	return nil
}

// isMissing reports whether the error means an unknown stack. CloudFormation has
// no error of its own for that: "Stack with id … does not exist" is a validation
// error, like those of invalid names.
func isMissing(err error) bool {
	var failure smithy.APIError
	return errors.As(err, &failure) && failure.ErrorCode() == "ValidationError"
}
