package watchtest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/store/sessions"
)

// records reads the stream of a table from its beginning. DynamoDB Local has
// one shard.
type records struct {
	client   *dynamodbstreams.Client
	iterator *string
	newest   string // log of the newest news
}

// change is a change of the table, and the item that it changed.
type change struct {
	sessions.Change
	key string
}

func newRecords(t *testing.T, table string) *records {
	t.Helper()
	endpoint := dynamotest.Endpoint(t)
	r := &records{client: dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: &endpoint, Region: dynamotest.Region,
		Credentials: dynamotest.Credentials(t),
	})}
	streams, err := r.client.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{TableName: &table})
	if err != nil || len(streams.Streams) != 1 {
		t.Fatalf("the table's streams: %v, %v", streams, err)
	}
	arn := streams.Streams[0].StreamArn
	described, err := r.client.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil || len(described.StreamDescription.Shards) != 1 {
		t.Fatalf("the stream's shards: %v, %v", described, err)
	}
	iterator, err := r.client.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: described.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.iterator = iterator.ShardIterator
	return r
}

// next is what changed since it was asked last. What was written is in the
// stream some milliseconds later, so the newest may come with the next call.
func (r *records) next(ctx context.Context) ([]change, error) {
	out, err := r.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: r.iterator})
	if err != nil {
		return nil, fmt.Errorf("read the stream: %w", err)
	}
	r.iterator = out.NextShardIterator
	var changes []change
	for _, record := range out.Records {
		old, err := item(record.Dynamodb.OldImage)
		if err != nil {
			return nil, err
		}
		now, err := item(record.Dynamodb.NewImage)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change{
			Change: sessions.Change{Old: old, New: now}, key: fmt.Sprint(record.Dynamodb.Keys["PK"], record.Dynamodb.Keys["SK"]),
		})
	}
	return changes, nil
}

func item(in map[string]streamtypes.AttributeValue) (map[string]types.AttributeValue, error) {
	if in == nil {
		return nil, nil
	}
	return attributevalue.FromDynamoDBStreamsMap(in)
}
