// Package dynamo implements the storage contract on DynamoDB. Only this package
// writes expressions and interprets DynamoDB's answers.
package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table"
)

// Engine is one DynamoDB table. The client's options decide how often the SDK
// retries a request; the engine decides which requests may be retried.
type Engine struct {
	client *dynamodb.Client
	name   string
	schema table.Schema
}

var _ table.Engine = (*Engine)(nil)

// New returns an engine for the table of that name with the indexes of the schema.
func New(client *dynamodb.Client, name string, schema table.Schema) *Engine {
	return &Engine{client: client, name: name, schema: schema}
}

// Get reads one item.
func (e *Engine) Get(ctx context.Context, k table.Key, r table.Reading) (table.Item, table.Units, error) {
	if err := firstError(ctx, table.ValidateKey(k), table.ValidateReading(r)); err != nil {
		return nil, table.Units{}, err
	}
	var x expressions
	in := &dynamodb.GetItemInput{
		TableName: &e.name, Key: keyItem(k), ConsistentRead: &r.Consistent,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	in.ProjectionExpression, in.ExpressionAttributeNames = x.members(r.Members), x.names
	var a attempts
	out, err := e.client.GetItem(ctx, in, a.use)
	if err != nil {
		return nil, table.Units{}, a.classified(ctx, err, false)
	}
	return out.Item, table.Units{Read: reported(out.ConsumedCapacity)}, nil
}

// Query reads a page of a query.
func (e *Engine) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if err := firstError(ctx, e.schema.ValidateQuery(q)); err != nil {
		return table.Page{}, err
	}
	var a attempts
	out, err := e.client.Query(ctx, e.query(q), a.use)
	if err != nil {
		return table.Page{}, a.classified(ctx, err, false)
	}
	page := table.Page{Items: out.Items, Next: table.Position(out.LastEvaluatedKey)}
	if len(page.Items) == 0 {
		page.Items = nil
	}
	if len(page.Next) == 0 {
		page.Next = nil
	}
	// DynamoDB Local reports nothing for a page without items.
	page.Units.Read = max(reported(out.ConsumedCapacity), table.ReadUnits(0, q.Consistent))
	return page, nil
}

func (e *Engine) query(q table.Query) *dynamodb.QueryInput {
	var x expressions
	partition, sort := e.schema.KeyMembers(q.Index)
	condition := x.name(partition) + " = " + x.value(q.Partition)
	switch {
	case q.From != "" && q.To != "":
		condition += " AND " + x.name(sort) + " BETWEEN " + x.value(q.From) + " AND " + x.value(q.To)
	case q.From != "":
		condition += " AND " + x.name(sort) + " >= " + x.value(q.From)
	case q.To != "":
		condition += " AND " + x.name(sort) + " <= " + x.value(q.To)
	}
	in := &dynamodb.QueryInput{
		TableName: &e.name, KeyConditionExpression: &condition, ProjectionExpression: x.members(q.Members),
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
		ExclusiveStartKey: table.Item(q.After), ConsistentRead: &q.Consistent,
		ScanIndexForward: pointer(!q.Descending), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	if q.Index != "" {
		in.IndexName = pointer(string(q.Index))
	}
	if q.Limit > 0 {
		in.Limit = pointer(int32(min(q.Limit, maxLimit)))
	}
	return in
}

const maxLimit = 1 << 30

func keyItem(k table.Key) table.Item {
	return table.Item{
		table.PK: &types.AttributeValueMemberS{Value: k.PK},
		table.SK: &types.AttributeValueMemberS{Value: k.SK},
	}
}

// reported returns the units that an answer reports.
func reported(c *types.ConsumedCapacity) float64 {
	if c == nil {
		return 0
	}
	return aws.ToFloat64(c.CapacityUnits)
}

// firstError returns why a request must not be sent: the context's end or the first
// refusal.
func firstError(ctx context.Context, refusals ...error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("nothing was sent: %w", context.Cause(ctx))
	}
	for _, err := range refusals {
		if err != nil {
			return err
		}
	}
	return nil
}
