package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const (
	timestampMillis  = "2006-01-02T15:04:05.000Z"
	timestampSeconds = "2006-01-02T15:04:05Z"
)

// failureRecord is what a failure destination gets: where the records stand in
// the stream, not the records themselves. AWS documents its shape under "Retain
// discarded records for a DynamoDB event source in Lambda".
type failureRecord struct {
	RequestContext  requestContext   `json:"requestContext"`
	ResponseContext *responseContext `json:"responseContext,omitempty"`
	Version         string           `json:"version"`
	Timestamp       string           `json:"timestamp"`
	Batch           batchInfo        `json:"DDBStreamBatchInfo"`
}

type requestContext struct {
	RequestID   string `json:"requestId"`
	FunctionARN string `json:"functionArn"`
	Condition   string `json:"condition"`
	Invoked     int    `json:"approximateInvokeCount"`
}

type responseContext struct {
	StatusCode    int    `json:"statusCode"`
	Version       string `json:"executedVersion"`
	FunctionError string `json:"functionError,omitempty"`
}

type batchInfo struct {
	ShardID       string `json:"shardId"`
	StartSequence string `json:"startSequenceNumber"`
	EndSequence   string `json:"endSequenceNumber"`
	FirstArrival  string `json:"approximateArrivalOfFirstRecord"`
	LastArrival   string `json:"approximateArrivalOfLastRecord"`
	Size          int    `json:"batchSize"`
	StreamARN     string `json:"streamArn"`
}

// giveUp ends the tries: the records go to the failure destination, if there is
// one, and the lane goes on without them.
func (l *lane) giveUp(ctx context.Context, b batch, condition string) {
	log := l.opts.Log.With("function", l.function.LogicalID, "condition", condition,
		"records", len(b.entries), "first", b.entries[0].Sequence)
	if l.FailureDestination == "" {
		log.ErrorContext(ctx, "records of a stream are lost: the mapping has no failure destination")
	} else if err := l.report(ctx, b, condition); err != nil {
		log.ErrorContext(ctx, "records of a stream are lost", "error", err)
	}
	l.progress.finish(b.entries...)
}

func (l *lane) report(ctx context.Context, b batch, condition string) error {
	first, last := b.entries[0], b.entries[len(b.entries)-1]
	record := failureRecord{
		Version:   "1.0",
		Timestamp: time.Now().UTC().Format(timestampMillis),
		RequestContext: requestContext{
			FunctionARN: fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", l.opts.Region, l.opts.Account, l.function.Name),
			Condition:   condition,
			Invoked:     b.invoked,
		},
		Batch: batchInfo{
			ShardID: l.shard, StartSequence: first.Sequence, EndSequence: last.Sequence,
			FirstArrival: first.Created.UTC().Format(timestampSeconds),
			LastArrival:  last.Created.UTC().Format(timestampSeconds),
			Size:         len(b.entries), StreamARN: l.log.ARN(),
		},
	}
	if b.last != nil {
		record.RequestContext.RequestID = b.last.RequestID
		record.ResponseContext = &responseContext{StatusCode: 200, Version: "$LATEST", FunctionError: b.last.FunctionError}
	}
	body, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("describe a failed batch: %w", err)
	}
	return l.opts.Destinations.Deliver(ctx, l.FailureDestination, body)
}
