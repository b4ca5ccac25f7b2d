package reader

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/rethread/rethread/infra/local/stream/pattern"
)

// Record is one change of an item. All readers share it and must not modify it.
type Record struct {
	// Sequence is the sequence number, the record's position in its shard.
	Sequence string
	// Item is the key of the item, encoded alike for all of its changes.
	Item string
	// Created is the engine's time of the change: DynamoDB Local rounds it down to the
	// minute.
	Created time.Time
	// Seen is the time at which the record was read.
	Seen time.Time
	// JSON is the record as in the Records of a function's event.
	JSON json.RawMessage

	value func() any
}

// NewRecord returns a record with that JSON.
func NewRecord(sequence, item string, created time.Time, data []byte) *Record {
	return &Record{
		Sequence: sequence, Item: item, Created: created, Seen: time.Now(), JSON: data,
		value: sync.OnceValue(func() any {
			value, err := pattern.Decode(data)
			if err != nil {
				return nil // no filter matches invalid JSON
			}
			return value
		}),
	}
}

// Value is the record's JSON for filters, decoded once for all of them.
func (r *Record) Value() any { return r.value() }

// Arrived is the time from which the record's age counts. If the engine rounds,
// Created can be up to a minute early, so Seen is used when the difference can be
// due to the rounding.
func (r *Record) Arrived() time.Time {
	if latest := r.Created.Add(time.Minute); r.Seen.After(latest) {
		return latest
	}
	return r.Seen
}

// convert returns the record that Lambda would deliver for the engine's record.
func (r *Reader) convert(in types.Record) (*Record, error) {
	if in.Dynamodb == nil || in.Dynamodb.SequenceNumber == nil {
		return nil, fmt.Errorf("%w: a record without a change", errEngine)
	}
	event := Event(in, r.opts.Region, r.ARN())
	data, err := json.Marshal(event)
	if err != nil {
		return nil, fmt.Errorf("encode record %s: %w", event.EventID, err)
	}
	item, err := json.Marshal(event.Change.Keys) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("encode key of record %s: %w", event.EventID, err)
	}
	created := event.Change.ApproximateCreationDateTime.Time
	return NewRecord(event.Change.SequenceNumber, string(item), created, data), nil
}

// Event returns a record of the stream with that ARN as in a function's event. The
// record must contain a change.
func Event(in types.Record, region, arn string) events.DynamoDBEventRecord {
	change := in.Dynamodb
	event := events.DynamoDBEventRecord{
		AWSRegion:      region,
		EventID:        aws.ToString(in.EventID),
		EventName:      string(in.EventName),
		EventSource:    "aws:dynamodb",
		EventVersion:   aws.ToString(in.EventVersion),
		EventSourceArn: arn,
		Change: events.DynamoDBStreamRecord{
			ApproximateCreationDateTime: events.SecondsEpochTime{Time: aws.ToTime(change.ApproximateCreationDateTime)},
			Keys:                        attributes(change.Keys),
			NewImage:                    attributes(change.NewImage),
			OldImage:                    attributes(change.OldImage),
			SequenceNumber:              aws.ToString(change.SequenceNumber),
			SizeBytes:                   aws.ToInt64(change.SizeBytes),
			StreamViewType:              string(change.StreamViewType),
		},
	}
	if who := in.UserIdentity; who != nil {
		event.UserIdentity = &events.DynamoDBUserIdentity{Type: aws.ToString(who.Type), PrincipalID: aws.ToString(who.PrincipalId)}
	}
	return event
}

func attributes(in map[string]types.AttributeValue) map[string]events.DynamoDBAttributeValue {
	if in == nil {
		return nil
	}
	out := make(map[string]events.DynamoDBAttributeValue, len(in))
	for name, value := range in {
		out[name] = attribute(value)
	}
	return out
}

func attribute(in types.AttributeValue) events.DynamoDBAttributeValue {
	switch in := in.(type) {
	case *types.AttributeValueMemberS:
		return events.NewStringAttribute(in.Value)
	case *types.AttributeValueMemberN:
		return events.NewNumberAttribute(in.Value)
	case *types.AttributeValueMemberB:
		return events.NewBinaryAttribute(in.Value)
	case *types.AttributeValueMemberBOOL:
		return events.NewBooleanAttribute(in.Value)
	case *types.AttributeValueMemberSS:
		return events.NewStringSetAttribute(in.Value)
	case *types.AttributeValueMemberNS:
		return events.NewNumberSetAttribute(in.Value)
	case *types.AttributeValueMemberBS:
		return events.NewBinarySetAttribute(in.Value)
	case *types.AttributeValueMemberM:
		return events.NewMapAttribute(attributes(in.Value))
	case *types.AttributeValueMemberL:
		list := make([]events.DynamoDBAttributeValue, 0, len(in.Value))
		for _, item := range in.Value {
			list = append(list, attribute(item))
		}
		return events.NewListAttribute(list)
	default: // NULL is the only type left
		return events.NewNullAttribute()
	}
}
