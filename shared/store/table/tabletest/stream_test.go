package tabletest_test

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/tabletest"
)

const (
	changesLeast   = 800
	streamPatience = 5 * time.Minute
)

// change is a change of an item: what it was and what it became, nil for nothing.
type change struct{ Before, After table.Item }

// changes are those of a table, each item's in their order.
type changes struct {
	mu    sync.Mutex
	total int
	of    map[table.Key][]change
}

func newChanges() *changes { return &changes{of: map[table.Key][]change{}} }

func (c *changes) note(before, after table.Item) {
	item := after
	if item == nil {
		item = before
	}
	k := table.Key{PK: table.Text(item, table.PK), SK: table.Text(item, table.SK)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total++
	c.of[k] = append(c.of[k], change{before, after})
}

// agreeOnStream compares what the engine in memory feeds with what the stream of
// the table in DynamoDB Local holds after the same writes.
func (p *pair) agreeOnStream(t *testing.T, name string) {
	t.Helper()
	last := table.Put(struct{ PK, SK string }{"last", "last"})
	for _, engine := range []table.Engine{p.memory, p.dynamo} {
		if _, err := engine.Write(t.Context(), last); err != nil {
			t.Fatal(err)
		}
	}
	fed, streamed := p.fed, newChanges()
	s := newStream(t, name)
	for deadline := time.Now().Add(streamPatience); len(streamed.of[last.Key]) == 0 && time.Now().Before(deadline); {
		s.read(t, streamed.note)
	}
	if fed.total < changesLeast {
		t.Errorf("only %d changes were compared, want %d", fed.total, changesLeast)
	}
	t.Logf("compared %d changes of %d items with the stream's", fed.total, len(fed.of))
	for k, of := range fed.of {
		leaveOutEmptyMaps(of, streamed.of[k])
	}
	if diff := gocmp.Diff(fed.of, streamed.of, tabletest.Same()); diff != "" {
		t.Errorf("the feed and the stream differ: -memory +DynamoDB\n%.4000s", diff)
	}
}

// stream reads the stream of a table in DynamoDB Local, which has one shard.
type stream struct {
	client   *dynamodbstreams.Client
	iterator *string
}

func newStream(t *testing.T, name string) *stream {
	t.Helper()
	endpoint := dynamotest.Endpoint(t)
	s := &stream{client: dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: &endpoint, Region: dynamotest.Region, Credentials: dynamotest.Credentials(t),
	})}
	streams, err := s.client.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{TableName: &name})
	if err != nil || len(streams.Streams) != 1 {
		t.Fatalf("the table's streams: %v, %v", streams, err)
	}
	arn := streams.Streams[0].StreamArn
	described, err := s.client.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil || len(described.StreamDescription.Shards) != 1 {
		t.Fatalf("the stream's shards: %v, %v", described, err)
	}
	first, err := s.client.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: described.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.iterator = first.ShardIterator
	return s
}

// read passes on what the stream has since it was read last. A write is in the
// stream some milliseconds later.
func (s *stream) read(t *testing.T, note func(before, after table.Item)) {
	t.Helper()
	out, err := s.client.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: s.iterator})
	if err != nil {
		t.Fatal(err)
	}
	s.iterator = out.NextShardIterator
	for _, record := range out.Records {
		note(image(record.Dynamodb.OldImage), image(record.Dynamodb.NewImage))
	}
}

// image is an item as the stream has it. What cannot be read is an empty map, or
// holds one, and is left out.
func image(of map[string]streamtypes.AttributeValue) table.Item {
	if of == nil {
		return nil
	}
	item := table.Item{}
	for name, v := range of {
		if read, err := attributevalue.FromDynamoDBStreams(v); err == nil {
			item[name] = read
		}
	}
	return item
}

// leaveOutEmptyMaps leaves members that hold an empty map out of changes and of what
// the stream has of them: DynamoDB Local writes {} for one there, which reads as
// nothing or as another member's value.
func leaveOutEmptyMaps(fed, streamed []change) {
	for i := range min(len(fed), len(streamed)) {
		for _, images := range [][2]*table.Item{
			{&fed[i].Before, &streamed[i].Before}, {&fed[i].After, &streamed[i].After},
		} {
			here, there := maps.Clone(*images[0]), maps.Clone(*images[1])
			for name, v := range *images[0] {
				if holdsEmptyMap(v) {
					delete(here, name)
					delete(there, name)
				}
			}
			*images[0], *images[1] = here, there
		}
	}
}

func holdsEmptyMap(v types.AttributeValue) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberL:
		return slices.ContainsFunc(v.Value, holdsEmptyMap)
	case *types.AttributeValueMemberM:
		return len(v.Value) == 0 || slices.ContainsFunc(slices.Collect(maps.Values(v.Value)), holdsEmptyMap)
	}
	return false
}
