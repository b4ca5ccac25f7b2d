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
	"github.com/rethread/rethread/shared/base/sleep"
)

const (
	// readPause keeps to the 5 requests a second that a shard answers.
	readPause = 200 * time.Millisecond
	// readTime is far more than the records of one invocation take.
	readTime = time.Minute
)

// mostEventBytes is how large an event is made of several records: Lambda takes 6
// MB.
const mostEventBytes = 5 << 20

// batch is where records stand in a stream, which is all that Lambda keeps of
// those that it has given up.
type batch struct {
	ShardID      string `json:"shardId"`
	Start        string `json:"startSequenceNumber"`
	End          string `json:"endSequenceNumber"`
	FirstArrival string `json:"approximateArrivalOfFirstRecord"`
	Size         int    `json:"batchSize"`
	StreamARN    string `json:"streamArn"`
}

// sendRecords reads the records that the function's mapping lets pass and invokes
// the function with them. A stream keeps records for 24 hours.
func (o *Office) sendRecords(ctx context.Context, function names, b batch) error {
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
		if len(event) > 0 && size+len(text) > mostEventBytes {
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
func (o *Office) filters(ctx context.Context, function, streamARN string) ([]*pattern.Pattern, error) {
	out, err := o.Services.Lambda.ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{
		FunctionName: &function, EventSourceArn: &streamARN,
	})
	if err != nil {
		return nil, fmt.Errorf("find what feeds %s: %w", function, err)
	}
	if len(out.EventSourceMappings) == 0 {
		return nil, fmt.Errorf("%w: %s is fed by that stream no more", errUnknown, function)
	}
	var filters []*pattern.Pattern
	if criteria := out.EventSourceMappings[0].FilterCriteria; criteria != nil {
		for _, filter := range criteria.Filters {
			compiled, err := pattern.Compile(aws.ToString(filter.Pattern))
			if err != nil {
				return nil, fmt.Errorf("the filter of what feeds %s: %w", function, err)
			}
			filters = append(filters, compiled)
		}
	}
	return filters, nil
}

// passes reports whether a record matches one of the filters, or there is none.
func passes(filters []*pattern.Pattern, record []byte) (bool, error) {
	value, err := pattern.Decode(record)
	if err != nil {
		return false, fmt.Errorf("decode a record: %w", err)
	}
	for _, filter := range filters {
		if filter.Match(value) {
			return true, nil
		}
	}
	return len(filters) == 0, nil
}

// records reads the part of the stream that a batch names. errGone where it is
// not all there any more.
func (o *Office) records(ctx context.Context, b batch) ([]events.DynamoDBEventRecord, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readTime, fmt.Errorf("%w: their end does not come within %s", errAgain, readTime))
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
		found, ended := b.part(page.Records)
		if out = append(out, found...); ended {
			return out, nil
		}
		iterator = page.NextShardIterator
		if err := sleep.For(ctx, readPause); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: the stream ends before the records do", errGone)
}

// part is what of a page belongs to the batch, and whether the page reaches its
// end.
func (b batch) part(page []types.Record) (out []events.DynamoDBEventRecord, ended bool) {
	region := strings.Split(b.StreamARN, ":")[3] // of an ARN by which the stream was found
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

// stream finds the stream of a table by its label, as the engine names it: a local
// one has another region and account than the ARN says.
func (o *Office) stream(ctx context.Context, arn string) (string, error) {
	_, rest, _ := strings.Cut(arn, ":table/")
	table, label, ok := strings.Cut(rest, "/stream/")
	if !ok || strings.Count(arn, ":") < 5 {
		return "", fmt.Errorf("%w: %q names no stream", errUnknown, arn)
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

// orGone tells what a stream has kept no longer from other errors.
func orGone(err error) error {
	var trimmed *types.TrimmedDataAccessException
	var missing *types.ResourceNotFoundException
	if errors.As(err, &trimmed) || errors.As(err, &missing) {
		return fmt.Errorf("%w: a stream keeps records for 24 hours", errGone)
	}
	return err
}

// later compares sequence numbers, which are decimal ones of any length.
func later(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}

// invoke waits for the function, and takes its word for what it could not do.
func (o *Office) invoke(ctx context.Context, function string, records []json.RawMessage) error {
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
		return fmt.Errorf("%w: it answers %.*s", errAgain, shownBytes, out.Payload)
	}
	if n := len(answer.BatchItemFailures); n > 0 {
		return fmt.Errorf("%w: from record %s on", errAgain, answer.BatchItemFailures[0].ItemIdentifier)
	}
	return nil
}
