package reader_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/stream/reader"
	"github.com/rethread/rethread/infra/local/table"
	"github.com/rethread/rethread/infra/test/dynamotest"
)

const patience = 5 * time.Minute

func TestRead(t *testing.T) {
	t.Run("returns records in Lambda's format", func(t *testing.T) {
		name := mustTable(t, "NEW_AND_OLD_IMAGES")
		r := mustOpen(t, name)
		mustPut(t, name, everything())
		page := mustRead(t, r, mustShard(t, r).ID, "")
		if len(page.Records) != 1 || page.Closed {
			t.Fatalf("%d records, closed %v", len(page.Records), page.Closed)
		}
		wantEvent(t, r, page.Records[0])
	})
	t.Run("returns the records after a position in order, each once", func(t *testing.T) {
		name := mustTable(t, "KEYS_ONLY")
		r := mustOpen(t, name)
		shard := mustShard(t, r).ID
		const most = 1200 // more than a page
		for i := range most {
			mustPut(t, name, item(fmt.Sprint(i)))
		}
		at, seen := "", 0
		for seen < most {
			for _, record := range mustRead(t, r, shard, at).Records {
				if want := fmt.Sprintf(`{"PK":{"S":"%d"}}`, seen); record.Item != want {
					t.Fatalf("record %d is of item %s", seen, record.Item)
				}
				at = record.Sequence
				seen++
			}
		}
		end, err := r.End(t.Context(), shard)
		if err != nil || end != at {
			t.Errorf("the end is %s (%v), want %s", end, err, at)
		}
	})
	t.Run("starts at the start of the shard without a position", func(t *testing.T) {
		name := mustTable(t, "KEYS_ONLY")
		mustPut(t, name, item("before"))
		r := mustOpen(t, name)
		if got := mustRead(t, r, mustShard(t, r).ID, "").Records[0].Item; got != `{"PK":{"S":"before"}}` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("returns the start as the end of an empty shard", func(t *testing.T) {
		r := mustOpen(t, mustTable(t, "KEYS_ONLY"))
		if end, err := r.End(t.Context(), mustShard(t, r).ID); err != nil || end != "" {
			t.Errorf("got %q, %v", end, err)
		}
	})
	t.Run("wakes all waiting readers", func(t *testing.T) {
		name := mustTable(t, "KEYS_ONLY")
		r := mustOpen(t, name)
		shard := mustShard(t, r).ID
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() {
				if page := mustRead(t, r, shard, ""); len(page.Records) != 1 {
					t.Errorf("%d records", len(page.Records))
				}
			})
		}
		mustPut(t, name, item("new"))
		group.Wait()
	})
	t.Run("a reader that leaves does not disturb the others", func(t *testing.T) {
		name := mustTable(t, "KEYS_ONLY")
		r := mustOpen(t, name)
		shard := mustShard(t, r).ID
		var group sync.WaitGroup
		group.Go(func() { mustRead(t, r, shard, "") })
		short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := r.Read(short, shard, ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		mustPut(t, name, item("new"))
		group.Wait()
	})
}

func TestOpen(t *testing.T) {
	t.Run("returns an error for a table without a stream", func(t *testing.T) {
		_, err := reader.Open(t.Context(), options(t, mustTable(t, "")))
		if !errors.Is(err, reader.ErrNoStream) {
			t.Errorf("got %v, want ErrNoStream", err)
		}
	})
	t.Run("names a stream as AWS does", func(t *testing.T) {
		name := mustTable(t, "KEYS_ONLY")
		want := "arn:aws:dynamodb:us-east-1:000000000000:table/" + name + "/stream/"
		if got := mustOpen(t, name).ARN(); len(got) <= len(want) || got[:len(want)] != want {
			t.Errorf("got %s, want %s…", got, want)
		}
	})
}

func everything() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: "one"},
		"n":  &types.AttributeValueMemberN{Value: "12.5"},
		"b":  &types.AttributeValueMemberB{Value: []byte("bytes")},
		"t":  &types.AttributeValueMemberBOOL{Value: true},
		"z":  &types.AttributeValueMemberNULL{Value: true},
		"ss": &types.AttributeValueMemberSS{Value: []string{"a"}},
		"ns": &types.AttributeValueMemberNS{Value: []string{"1"}},
		"bs": &types.AttributeValueMemberBS{Value: [][]byte{[]byte("x")}},
		"l":  &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: "in"}}},
		"m":  &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"k": &types.AttributeValueMemberS{Value: "v"}}},
	}
}

func wantEvent(t *testing.T, r *reader.Reader, record *reader.Record) {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal(record.JSON, &got); err != nil {
		t.Fatal(err)
	}
	change, _ := got["dynamodb"].(map[string]any)
	created, _ := change["ApproximateCreationDateTime"].(float64)
	if age := time.Since(time.Unix(int64(created), 0)); age < 0 || age > 2*time.Minute {
		t.Errorf("created %v", change["ApproximateCreationDateTime"])
	}
	if change["SizeBytes"] == 0.0 || got["eventID"] == "" || change["SequenceNumber"] != record.Sequence {
		t.Errorf("size %v, id %v, sequence %v", change["SizeBytes"], got["eventID"], change["SequenceNumber"])
	}
	for _, name := range []string{"ApproximateCreationDateTime", "SizeBytes", "SequenceNumber"} {
		delete(change, name)
	}
	delete(got, "eventID")
	key := map[string]any{"PK": map[string]any{"S": "one"}}
	want := map[string]any{
		"awsRegion": "us-east-1", "eventName": "INSERT", "eventSource": "aws:dynamodb", "eventVersion": "1.1",
		"eventSourceARN": r.ARN(),
		"dynamodb": map[string]any{
			"Keys": key, "StreamViewType": "NEW_AND_OLD_IMAGES",
			"NewImage": map[string]any{
				"PK": key["PK"], "n": map[string]any{"N": "12.5"}, "b": map[string]any{"B": "Ynl0ZXM="},
				"t": map[string]any{"BOOL": true}, "z": map[string]any{"NULL": true},
				"ss": map[string]any{"SS": []any{"a"}}, "ns": map[string]any{"NS": []any{"1"}}, "bs": map[string]any{"BS": []any{"eA=="}},
				"l": map[string]any{"L": []any{map[string]any{"S": "in"}}},
				"m": map[string]any{"M": map[string]any{"k": map[string]any{"S": "v"}}},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var decoded events.DynamoDBEventRecord
	if err := json.Unmarshal(record.JSON, &decoded); err != nil || decoded.Change.NewImage["n"].Number() != "12.5" {
		t.Errorf("decoded %v (%v)", decoded, err)
	}
}

func mustTable(t *testing.T, view string) string {
	t.Helper()
	name := "stream-" + rand.Text()
	_, err := table.Ensure(t.Context(), dynamotest.Client(t), samtemplate.Table{
		Name: name, StreamView: view,
		Attributes: []samtemplate.Attribute{{Name: "PK", Type: "S"}},
		Key:        []samtemplate.KeyElement{{Name: "PK", Type: "HASH"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func options(t *testing.T, name string) reader.Options {
	t.Helper()
	return reader.Options{
		Endpoint: dynamotest.Endpoint(t), Table: name, Region: dynamotest.Region, Account: "000000000000", Credentials: dynamotest.Credentials(t),
	}
}

func mustOpen(t *testing.T, name string) *reader.Reader {
	t.Helper()
	r, err := reader.Open(t.Context(), options(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustShard(t *testing.T, r *reader.Reader) reader.Shard {
	t.Helper()
	shards, err := r.Shards(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(shards) != 1 || shards[0].Closed {
		t.Fatalf("shards %v, want an open one", shards)
	}
	return shards[0]
}

func mustRead(t *testing.T, r *reader.Reader, shard, after string) reader.Page {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	page, err := r.Read(ctx, shard, after)
	if err != nil {
		t.Error(err)
	}
	return page
}

func item(key string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: key}}
}

func mustPut(t *testing.T, name string, item map[string]types.AttributeValue) {
	t.Helper()
	_, err := dynamotest.Client(t).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(name), Item: item})
	if err != nil {
		t.Fatal(err)
	}
}
