package delay

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/local/table"
)

const (
	probeEvery = 100 * time.Millisecond
	pollEvery  = 2 * time.Millisecond
	probeTime  = "t" // attribute: start time of the put
)

// probe puts items that no function reads until its context ends, and looks for
// them in the stream.
type probe struct {
	puts     *dynamodb.Client
	streams  *dynamodbstreams.Client
	table    string
	iterator *string
	took     Times
	group    *errgroup.Group
}

func startProbe(ctx context.Context, endpoint, name string) (*probe, error) {
	p := &probe{table: name, puts: table.NewClient(endpoint, table.AccessKey), streams: dynamodbstreams.New(dynamodbstreams.Options{
		Region: table.Region, BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})}
	if err := p.open(ctx); err != nil {
		return nil, fmt.Errorf("open the stream of table %s: %w", name, err)
	}
	p.group, ctx = errgroup.WithContext(ctx)
	p.group.Go(func() error { return untilDone(ctx, probeEvery, p.put) })
	p.group.Go(func() error { return untilDone(ctx, pollEvery, p.poll) })
	return p, nil
}

// result returns the measured times, after the context has ended.
func (p *probe) result() (Times, error) {
	if err := p.group.Wait(); err != nil {
		return nil, fmt.Errorf("measure the stream of table %s: %w", p.table, err)
	}
	return p.took, nil
}

// open finds the end of the stream, which has one shard locally.
func (p *probe) open(ctx context.Context) error {
	streams, err := p.streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: &p.table})
	if err != nil {
		return err
	}
	if len(streams.Streams) == 0 {
		return fmt.Errorf("the table has no stream: %w", errRefused)
	}
	arn := streams.Streams[len(streams.Streams)-1].StreamArn
	stream, err := p.streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		return err
	}
	shards := stream.StreamDescription.Shards
	if len(shards) == 0 {
		return fmt.Errorf("the stream has no shard: %w", errRefused)
	}
	at, err := p.streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: shards[len(shards)-1].ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeLatest,
	})
	if err == nil {
		p.iterator = at.ShardIterator
	}
	return err
}

// put writes an item under a key that no function reads.
func (p *probe) put(ctx context.Context) error {
	now := strconv.FormatInt(time.Now().UnixNano(), 10)
	_, err := p.puts.PutItem(ctx, &dynamodb.PutItemInput{TableName: &p.table, Item: map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: "BENCH#" + now}, "SK": &types.AttributeValueMemberS{Value: "PROBE"},
		probeTime: &types.AttributeValueMemberS{Value: now},
	}})
	return err
}

// poll records the probes among the stream's new records.
func (p *probe) poll(ctx context.Context) error {
	page, err := p.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: p.iterator})
	if err != nil {
		return err
	}
	came := time.Now()
	p.iterator = page.NextShardIterator
	for _, record := range page.Records {
		began, ok := record.Dynamodb.NewImage[probeTime].(*streamtypes.AttributeValueMemberS)
		if !ok {
			continue
		}
		nanos, err := strconv.ParseInt(began.Value, 10, 64)
		if err != nil {
			return fmt.Errorf("record %s: %w", aws.ToString(record.Dynamodb.SequenceNumber), err)
		}
		p.took = append(p.took, came.Sub(time.Unix(0, nanos)))
	}
	return nil
}

// untilDone repeats a function until ctx ends, which is not an error.
func untilDone(ctx context.Context, every time.Duration, do func(context.Context) error) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}
