// Package reader reads a table's stream through DynamoDB Streams' API: it lists
// the shards and returns the records of a shard from any position, waiting for new
// ones. Readers at the same position share one polling loop, so additional readers
// of an idle table cost nothing.
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

// ErrNoStream means that a table has no stream.
var ErrNoStream = errors.New("the table has no stream")

var errEngine = errors.New("the engine returned an invalid response")

const (
	attempts    = 3
	longestWait = 50 * time.Millisecond
)

// Options configure a Reader.
type Options struct {
	// Endpoint of the engine.
	Endpoint string
	// Table is the table's name.
	Table string
	// Region and Account appear in the records.
	Region, Account string
	// Credentials for the engine.
	Credentials aws.CredentialsProvider
	// Writes announces the writes to the table. If it is nil, readers poll more often.
	Writes *Writes
}

// Reader reads one stream.
type Reader struct {
	opts   Options
	client *dynamodbstreams.Client
	arn    string // as named by the engine

	mu        sync.Mutex
	flights   map[position]*pollLoop
	iterators map[position]string // iterators for the place where a page ended
}

// position is a position in a shard: after a record, or the start.
type position struct{ shard, after string }

// Shard is a part of the stream whose records are ordered.
type Shard struct {
	ID string
	// Parent is the preceding shard; it may have been trimmed.
	Parent string
	// Closed means that no records are added any more.
	Closed bool
}

// Page is consecutive records, in order.
type Page struct {
	Records []*Record
	// Closed means that the shard has no more records.
	Closed bool
}

// Open finds the table's stream.
func Open(ctx context.Context, opts Options) (*Reader, error) {
	r := &Reader{opts: opts, client: newClient(opts), flights: map[position]*pollLoop{}, iterators: map[position]string{}}
	out, err := r.client.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: &opts.Table})
	if err != nil {
		return nil, fmt.Errorf("list streams of table %s: %w", opts.Table, err)
	}
	for _, stream := range out.Streams { // a table may have had earlier streams
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

// ARN is the stream's ARN as in AWS.
func (r *Reader) ARN() string {
	label := r.arn[strings.LastIndex(r.arn, "/stream/")+len("/stream/"):]
	return fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s/stream/%s", r.opts.Region, r.opts.Account, r.opts.Table, label)
}

// Shards lists the shards in the stream, parents before their children.
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

// End returns the sequence number of the newest record of an open shard, or "" if
// it has none. It is the equivalent of LATEST as a position.
func (r *Reader) End(ctx context.Context, shard string) (string, error) {
	at := position{shard: shard}
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
