package batch_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/store/records"
)

// crowd is an audience with one connection per log, and the messages that it got.
type crowd struct {
	mu     sync.Mutex
	fails  string // the log that cannot be read
	stalls bool
	got    []string
}

func (c *crowd) Watchers(_ context.Context, log string) (string, []watch.Subscription, error) {
	if log == c.fails {
		return "", nil, errors.New("no table")
	}
	return log, []watch.Subscription{{SessionID: log, Connection: log}}, nil
}

func (c *crowd) Clear(context.Context, string, watch.Subscription) error { return nil }

func (c *crowd) Leave(context.Context, string, []string) error { return nil }

func (c *crowd) Push(ctx context.Context, _ string, message []byte) error {
	if c.stalls {
		<-ctx.Done()
		return ctx.Err()
	}
	var m struct {
		Session string `json:"session_id"`
		Cursor  string `json:"cursor"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, m.Session+" "+m.Cursor)
	return nil
}

func (c *crowd) Close(context.Context, string) error { return nil }

// records is records of the logs given, at positions from 1.
func batchOf(logs ...string) events.DynamoDBEvent {
	var event events.DynamoDBEvent
	for i, log := range logs {
		event.Records = append(event.Records, events.DynamoDBEventRecord{Change: events.DynamoDBStreamRecord{
			SequenceNumber: fmt.Sprint(100 + i),
			NewImage: map[string]events.DynamoDBAttributeValue{
				"log": events.NewStringAttribute(log), "seq": events.NewNumberAttribute(fmt.Sprint(i + 1)),
			},
		}})
	}
	return event
}

// readBatch reads the records of batch. A log's name determines the failure.
func readBatch(_ context.Context, c records.Change) (watch.LogUpdate, error) {
	var log, seq string
	if v, ok := c.New["log"].(*types.AttributeValueMemberS); ok {
		log = v.Value
	}
	if v, ok := c.New["seq"].(*types.AttributeValueMemberN); ok {
		seq = v.Value
	}
	switch log {
	case "odd":
		return watch.LogUpdate{}, errors.New("no sense in it")
	case "panic":
		panic("oops")
	case "down":
		return watch.LogUpdate{}, fmt.Errorf("read a chunk: %w", &smithy.OperationError{OperationName: "GetItem", Err: errors.New("503")})
	case "quiet":
		return watch.LogUpdate{}, nil
	}
	at, err := watch.ParseCursor("0." + seq + ".0")
	return watch.LogUpdate{Log: log, Messages: []watch.Message{{Type: watch.Status, Cursor: at}}}, err
}

func TestFanout(t *testing.T) {
	for name, test := range map[string]struct {
		logs, got, failed []string
		logged            string
	}{
		"sends messages to their watchers in order":     {[]string{"a", "b", "a"}, []string{"a 0.1.0", "a 0.3.0", "b 0.2.0"}, nil, ""},
		"ignores changes without messages":              {[]string{"quiet"}, nil, nil, ""},
		"skips and logs an unreadable record":           {[]string{"odd", "a"}, []string{"a 0.2.0"}, nil, "no sense in it"},
		"skips a record that makes the reader panic":    {[]string{"a", "panic"}, []string{"a 0.1.0"}, nil, "oops"},
		"repeats a record that cannot be read now":      {[]string{"a", "down", "b"}, []string{"a 0.1.0", "b 0.3.0"}, []string{"101"}, "503"},
		"repeats records whose watchers cannot be read": {[]string{"lost", "a", "lost"}, []string{"a 0.2.0"}, []string{"100", "102"}, "no table"},
		"accepts an empty batch":                        {nil, nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var text bytes.Buffer
			log, c := slog.New(slog.NewTextHandler(&text, nil)), &crowd{fails: "lost"}
			handle := batch.Fanout(readBatch, watch.NewFanout(c, c, log, time.Now), log)
			answer, err := handle(t.Context(), batchOf(test.logs...))
			if err != nil {
				t.Fatal(err)
			}
			wantFailed(t, answer, test.failed...)
			slices.SortStableFunc(c.got, func(a, b string) int { return cmp.Compare(a[:1], b[:1]) }) // by session
			if diff := gocmp.Diff(test.got, c.got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if !strings.Contains(text.String(), test.logged) || test.logged == "" && text.Len() > 0 {
				t.Errorf("the log: %s", text.String())
			}
		})
	}
	t.Run("reports failures before its time is up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			log, c := slog.New(slog.DiscardHandler), &crowd{stalls: true}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second+50*time.Millisecond)
			defer cancel()
			answer, err := batch.Fanout(readBatch, watch.NewFanout(c, c, log, time.Now), log)(ctx, batchOf("a"))
			if err != nil || ctx.Err() != nil {
				t.Fatalf("%v, %v", err, ctx.Err())
			}
			wantFailed(t, answer, "100")
		})
	})
}

func wantFailed(t *testing.T, answer events.DynamoDBEventResponse, want ...string) {
	t.Helper()
	got := []string{}
	for _, f := range answer.BatchItemFailures {
		got = append(got, f.ItemIdentifier)
	}
	if diff := gocmp.Diff(append([]string{}, want...), got); diff != "" {
		t.Errorf("records to repeat (-want +got):\n%s", diff)
	}
	if answer.BatchItemFailures == nil {
		t.Error("batchItemFailures is null")
	}
}

// Every type of attribute is converted to the store's form.
func TestFanoutReadsImages(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "fanout-types.json"))
	if err != nil {
		t.Fatal(err)
	}
	var event events.DynamoDBEvent
	if err := json.Unmarshal(text, &event); err != nil {
		t.Fatal(err)
	}
	var got records.Change
	log, c := slog.New(slog.DiscardHandler), &crowd{}
	read := func(_ context.Context, change records.Change) (watch.LogUpdate, error) {
		got = change
		return watch.LogUpdate{}, nil
	}
	if _, err := batch.Fanout(read, watch.NewFanout(c, c, log, time.Now), log)(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	want := records.Change{New: map[string]types.AttributeValue{
		"S": &types.AttributeValueMemberS{Value: "text"}, "N": &types.AttributeValueMemberN{Value: "1.50"},
		"B":  &types.AttributeValueMemberB{Value: []byte("bytes")},
		"SS": &types.AttributeValueMemberSS{Value: []string{"a", "b"}}, "NS": &types.AttributeValueMemberNS{Value: []string{"1"}},
		"BS": &types.AttributeValueMemberBS{Value: [][]byte{[]byte("bytes")}}, "BOOL": &types.AttributeValueMemberBOOL{Value: true},
		"NULL": &types.AttributeValueMemberNULL{Value: true},
		"L":    &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: "x"}}},
		"M":    &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"n": &types.AttributeValueMemberN{Value: "2"}}},
	}}
	if diff := gocmp.Diff(want, got, cmpopts.IgnoreUnexported(
		types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{},
		types.AttributeValueMemberSS{}, types.AttributeValueMemberNS{}, types.AttributeValueMemberBS{},
		types.AttributeValueMemberBOOL{}, types.AttributeValueMemberNULL{}, types.AttributeValueMemberL{}, types.AttributeValueMemberM{},
	)); diff != "" {
		t.Errorf("change (-want +got):\n%s", diff)
	}
}
