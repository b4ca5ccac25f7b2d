package deadletter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/rethread/rethread/infra/local/stream/pattern"
	"github.com/rethread/rethread/infra/local/stream/reader"
	"github.com/rethread/rethread/shared/base/retry"
)

const (
	// readPause respects the limit of 5 requests a second to a shard.
	readPause = 200 * time.Millisecond
	// readTime is far more than reading the records of one invocation takes.
	readTime = time.Minute
)

// maxEventBytes limits an event with several records, below Lambda's 6 MB.
const maxEventBytes = 5 << 20

// batch is the position of records in a stream, which is all that Lambda keeps of
// abandoned records.
type batch struct {
	ShardID      string `json:"shardId"`
	Start        string `json:"startSequenceNumber"`
	End          string `json:"endSequenceNumber"`
	FirstArrival string `json:"approximateArrivalOfFirstRecord"`
	Size         int    `json:"batchSize"`
	StreamARN    string `json:"streamArn"`
}

// sendRecords reads the records, filters them like the function's mapping, and
// invokes the function with them. A stream keeps records for 24 hours.
func (o *Redriver) sendRecords(ctx context.Context, function names, b batch) error {
	records, err := o.records(ctx, b)
	if err != nil {
		return err
	}
	filters, err := o.filters(ctx, function.physical, b.StreamARN)
	if err != nil {
		return err
	}
	var event []json.RawMessage
	size := 0
	for _, record := range records {
		text, err := json.Marshal(record)
		if err != nil {
			return fmt.Errorf("encode record %s: %w", record.EventID, err)
		}
		if pass, err := passes(filters, text); err != nil || !pass {
			if err != nil {
				return err
			}
			continue
		}
		if len(event) > 0 && size+len(text) > maxEventBytes {
			if err := o.invoke(ctx, function.physical, event); err != nil {
				return err
			}
			event, size = nil, 0
		}
		event, size = append(event, text), size+len(text)
	}
	if len(event) == 0 {
		return nil
	}
	return o.invoke(ctx, function.physical, event)
}

// filters are the patterns of the mapping between a stream and a function.
func (o *Redriver) filters(ctx context.Context, function, streamARN string) ([]*pattern.Pattern, error) {
	out, err := o.Services.Lambda.ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{
		FunctionName: &function, EventSourceArn: &streamARN,
	})
	if err != nil {
		return nil, fmt.Errorf("find the event source mapping of %s: %w", function, err)
	}
	if len(out.EventSourceMappings) == 0 {
		return nil, fmt.Errorf("%w: %s no longer reads that stream", errUnknown, function)
	}
	var filters []*pattern.Pattern
	if criteria := out.EventSourceMappings[0].FilterCriteria; criteria != nil {
		for _, filter := range criteria.Filters {
			compiled, err := pattern.Compile(aws.ToString(filter.Pattern))
			if err != nil {
				return nil, fmt.Errorf("the filter of the event source mapping of %s: %w", function, err)
			}
			filters = append(filters, compiled)
		}
	}
	return filters, nil
}

// passes reports whether a record matches a filter, or there are no filters.
func passes(filters []*pattern.Pattern, record []byte) (bool, error) {
	value, err := pattern.Decode(record)
	if err != nil {
		return false, fmt.Errorf("decode record: %w", err)
	}
	for _, filter := range filters {
		if filter.Match(value) {
			return true, nil
		}
	}
	return len(filters) == 0, nil
}

// records reads the records of a batch. The error is errGone if the stream no
// longer has all of them.
func (o *Redriver) records(ctx context.Context, b batch) ([]events.DynamoDBEventRecord, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readTime, fmt.Errorf("%w: reading the records took more than %s", errAgain, readTime))
	defer cancel()
	arn, err := o.stream(ctx, b.StreamARN)
	if err != nil {
		return nil, err
	}
	at, err := o.Services.Streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &arn, ShardId: &b.ShardID, SequenceNumber: &b.Start,
		ShardIteratorType: types.ShardIteratorTypeAtSequenceNumber,
	})
	if err != nil {
		return nil, orGone(fmt.Errorf("find records in a stream: %w", err))
	}
	var out []events.DynamoDBEventRecord
	for iterator := at.ShardIterator; iterator != nil; {
		page, err := o.Services.Streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
		if err != nil {
			return nil, orGone(fmt.Errorf("read records of a stream: %w", err))
		}
		found, ended := b.recordsOf(page.Records)
		if out = append(out, found...); ended {
			return out, nil
		}
		iterator = page.NextShardIterator
		if err := retry.Sleep(ctx, readPause); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: the stream ends before the last record", errGone)
}

// recordsOf returns the records of a page that belong to the batch, and whether the
// page reaches the end of the batch.
func (b batch) recordsOf(page []types.Record) (out []events.DynamoDBEventRecord, ended bool) {
	region := strings.Split(b.StreamARN, ":")[3] // of the ARN that identified the stream
	for _, record := range page {
		if record.Dynamodb == nil || later(aws.ToString(record.Dynamodb.SequenceNumber), b.End) {
			return out, true
		}
		out = append(out, reader.Event(record, region, b.StreamARN))
		if aws.ToString(record.Dynamodb.SequenceNumber) == b.End {
			return out, true
		}
	}
	return out, false
}

// stream finds the stream of a table by its label, under the engine's name: a
// local stream has another region and account than the ARN.
func (o *Redriver) stream(ctx context.Context, arn string) (string, error) {
	_, rest, _ := strings.Cut(arn, ":table/")
	table, label, ok := strings.Cut(rest, "/stream/")
	if !ok || strings.Count(arn, ":") < 5 {
		return "", fmt.Errorf("%w: %q is not the ARN of a stream", errUnknown, arn)
	}
	var last *string
	for {
		out, err := o.Services.Streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{
			TableName: &table, ExclusiveStartStreamArn: last,
		})
		if err != nil {
			return "", orGone(fmt.Errorf("find the stream of table %s: %w", table, err))
		}
		for _, s := range out.Streams {
			if aws.ToString(s.StreamLabel) == label {
				return aws.ToString(s.StreamArn), nil
			}
		}
		if last = out.LastEvaluatedStreamArn; last == nil {
			return "", fmt.Errorf("%w: the table has another stream now", errGone)
		}
	}
}

// orGone converts errors that mean that a stream no longer has the records.
func orGone(err error) error {
	var trimmed *types.TrimmedDataAccessException
	var missing *types.ResourceNotFoundException
	if errors.As(err, &trimmed) || errors.As(err, &missing) {
		return fmt.Errorf("%w: a stream keeps records for 24 hours", errGone)
	}
	return err
}

// later compares sequence numbers, which are decimal numbers of any length.
func later(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}

// invoke calls the function, and returns the failures that it reports.
func (o *Redriver) invoke(ctx context.Context, function string, records []json.RawMessage) error {
	payload, err := json.Marshal(map[string][]json.RawMessage{"Records": records})
	if err != nil {
		return fmt.Errorf("encode records: %w", err)
	}
	out, err := o.Services.Lambda.Invoke(ctx, &lambda.InvokeInput{FunctionName: &function, Payload: payload})
	if err != nil {
		return fmt.Errorf("invoke %s: %w", function, err)
	}
	if out.FunctionError != nil {
		return fmt.Errorf("%w: %.*s", errAgain, shownBytes, out.Payload)
	}
	var answer events.DynamoDBEventResponse
	if err := json.Unmarshal(out.Payload, &answer); err != nil {
		return fmt.Errorf("%w: it returned %.*s", errAgain, shownBytes, out.Payload)
	}
	if n := len(answer.BatchItemFailures); n > 0 {
		return fmt.Errorf("%w: from record %s on", errAgain, answer.BatchItemFailures[0].ItemIdentifier)
	}
	return nil
}
