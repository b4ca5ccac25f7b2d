// Package reader reads a table's stream, DynamoDB Streams as the SDK gives it:
// which shards there are, and the records of a shard from any place on, waiting
// for new ones. Whoever waits at the same place shares one polling loop, so
// further readers of a table that stands still cost nothing.
package reader

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// ErrNoStream says that a table has no stream to read.
var ErrNoStream = errors.New("the table has no stream")

var errEngine = errors.New("the engine answered what it should not")

const (
	attempts    = 3
	longestWait = 50 * time.Millisecond
)

// Options say what to read.
type Options struct {
	// Endpoint of the engine.
	Endpoint string
	// Table by its name.
	Table string
	// Region and Account are the ones that records pretend to come from.
	Region, Account string
	// Credentials for the engine.
	Credentials aws.CredentialsProvider
}

// Reader reads one stream.
type Reader struct {
	opts   Options
	client *dynamodbstreams.Client
	arn    string // as the engine names it

	mu        sync.Mutex
	flights   map[place]*flight
	iterators map[place]string // iterators that continue where a page ended
}

// place is where a reader stands: after a record of a shard, or at its start.
type place struct{ shard, after string }

// Shard is a part of the stream whose records have an order.
type Shard struct {
	ID string
	// Parent is the shard that this one follows; it may be gone already.
	Parent string
	// Closed says that nothing is added any more.
	Closed bool
}

// Page is a run of records, in order.
type Page struct {
	Records []*Record
	// Closed says that the shard has no more.
	Closed bool
}

// Open finds the table's stream.
func Open(ctx context.Context, opts Options) (*Reader, error) {
	r := &Reader{opts: opts, client: newClient(opts), flights: map[place]*flight{}, iterators: map[place]string{}}
	out, err := r.client.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: &opts.Table})
	if err != nil {
		return nil, fmt.Errorf("list streams of table %s: %w", opts.Table, err)
	}
	for _, stream := range out.Streams { // a table may have had others before
		described, err := r.client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: stream.StreamArn})
		if err != nil {
			return nil, fmt.Errorf("describe stream of table %s: %w", opts.Table, err)
		}
		switch described.StreamDescription.StreamStatus {
		case types.StreamStatusEnabled, types.StreamStatusEnabling:
			r.arn = aws.ToString(stream.StreamArn)
			return r, nil
		case types.StreamStatusDisabled, types.StreamStatusDisabling:
		}
	}
	return nil, fmt.Errorf("table %s: %w", opts.Table, ErrNoStream)
}

func newClient(opts Options) *dynamodbstreams.Client {
	return dynamodbstreams.New(dynamodbstreams.Options{
		Region:       opts.Region,
		BaseEndpoint: &opts.Endpoint,
		Credentials:  opts.Credentials,
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = attempts
			o.MaxBackoff = longestWait
		}),
	})
}

// ARN names the stream as AWS would.
func (r *Reader) ARN() string {
	label := r.arn[strings.LastIndex(r.arn, "/stream/")+len("/stream/"):]
	return fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s/stream/%s", r.opts.Region, r.opts.Account, r.opts.Table, label)
}

// Shards lists what the stream has kept, parents before their children.
func (r *Reader) Shards(ctx context.Context) ([]Shard, error) {
	var shards []Shard
	var last *string
	for {
		out, err := r.client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{
			StreamArn: &r.arn, ExclusiveStartShardId: last,
		})
		if err != nil {
			return nil, fmt.Errorf("list shards of table %s: %w", r.opts.Table, err)
		}
		for _, shard := range out.StreamDescription.Shards {
			numbers := shard.SequenceNumberRange
			shards = append(shards, Shard{
				ID: aws.ToString(shard.ShardId), Parent: aws.ToString(shard.ParentShardId),
				Closed: numbers != nil && numbers.EndingSequenceNumber != nil,
			})
		}
		if last = out.StreamDescription.LastEvaluatedShardId; last == nil {
			return shards, nil
		}
	}
}

// End returns the sequence number of the newest record of an open shard, empty
// when it has none: what LATEST stands for, as a place that can be kept.
func (r *Reader) End(ctx context.Context, shard string) (string, error) {
	at := place{shard: shard}
	for {
		page, next, err := r.get(ctx, at, r.recall(at))
		if err != nil {
			return "", err
		}
		if len(page.Records) == 0 {
			return at.after, nil
		}
		at.after = page.Records[len(page.Records)-1].Sequence
		r.remember(at, next)
	}
}
