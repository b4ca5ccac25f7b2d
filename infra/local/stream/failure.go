package stream

import (
	"context"
	"fmt"

	"github.com/rethread/rethread/infra/local/destination"
)

const timestampSeconds = "2006-01-02T15:04:05Z"

// failureRecord is what a failure destination receives: the position of the
// records in the stream, not the records themselves. AWS documents its shape under
// "Retain discarded records for a DynamoDB event source in Lambda".
type failureRecord struct {
	destination.Record
	Batch batchInfo `json:"DDBStreamBatchInfo"`
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

// abandon abandons a batch: a record of it is sent to the failure destination, if
// there is one, and the lane continues with the next batch.
func (l *lane) abandon(ctx context.Context, b batch, condition string) {
	log := l.opts.Log.With("function", l.function.LogicalID, "condition", condition,
		"records", len(b.entries), "first", b.entries[0].Sequence)
	if l.FailureDestination == "" {
		log.ErrorContext(ctx, "records of a table's stream abandoned and lost, because the mapping has no failure destination")
	} else if err := l.report(ctx, b, condition); err != nil {
		log.ErrorContext(ctx, "records of a table's stream abandoned and lost: failed to send them to the failure destination", "error", err)
	}
	l.progress.finish(b.entries...)
}

func (l *lane) report(ctx context.Context, b batch, condition string) error {
	first, last := b.entries[0], b.entries[len(b.entries)-1]
	record := failureRecord{
		Record: destination.New(destination.RequestContext{
			FunctionARN: fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", l.opts.Region, l.opts.Account, l.function.Name),
			Condition:   condition, Invoked: b.invoked,
		}),
		Batch: batchInfo{
			ShardID: l.shard, StartSequence: first.Sequence, EndSequence: last.Sequence,
			FirstArrival: first.Created.UTC().Format(timestampSeconds),
			LastArrival:  last.Created.UTC().Format(timestampSeconds),
			Size:         len(b.entries), StreamARN: l.log.ARN(),
		},
	}
	if b.last != nil {
		record.RequestContext.RequestID = b.last.RequestID
		record.Answered(b.last.FunctionError)
	}
	return destination.Deliver(ctx, l.opts.Destinations, l.FailureDestination, record)
}
