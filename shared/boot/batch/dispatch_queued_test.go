package batch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/boot/batch"
)

// Sessions whose queued runs do not begin delay the changes of a batch for a bounded
// time, however many they are.
func TestStartingQueuedTakesBoundedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var event events.DynamoDBEvent
		for i := range 100 {
			event.Records = append(event.Records, queuedMark("alice", fmt.Sprint("s", i)))
		}
		handle := func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
			return events.DynamoDBEventResponse{}, nil
		}
		start := func(ctx context.Context, _, _ string) (bool, error) {
			<-ctx.Done()
			return false, ctx.Err()
		}
		before := time.Now()
		if _, err := batch.StartingQueued(handle, start, slog.New(slog.DiscardHandler))(t.Context(), event); err != nil {
			t.Error(err)
		}
		if took := time.Since(before); took > 10*time.Second {
			t.Errorf("the batch took %s", took)
		}
	})
}

// queuedMark returns the change of a log entry that lets a session's queued run begin.
func queuedMark(user, session string) events.DynamoDBEventRecord {
	return events.DynamoDBEventRecord{Change: events.DynamoDBStreamRecord{
		NewImage: map[string]events.DynamoDBAttributeValue{
			"nq": events.NewBooleanAttribute(true), "tu": events.NewStringAttribute(user), "tn": events.NewStringAttribute(session),
		},
	}}
}

// The start of a queued run neither fails nor holds up the batch that lets it begin.
func TestStartingQueued(t *testing.T) {
	t.Parallel()
	event := batchOf("a", "b")
	mark := func(user, session string) { event.Records = append(event.Records, queuedMark(user, session)) }
	for _, session := range []string{"fails", "works", "panics", "works"} {
		mark("alice", session)
	}
	mark("bob", "works")
	mark("bob", "")
	event.Records = append(event.Records, events.DynamoDBEventRecord{}) // a removal

	var text bytes.Buffer
	var mu sync.Mutex
	var started []string
	start := func(_ context.Context, user, session string) (bool, error) {
		mu.Lock()
		started = append(started, user+" "+session)
		mu.Unlock()
		switch session {
		case "fails":
			return false, errors.New("no run is left")
		case "panics":
			panic("oops")
		}
		return true, nil
	}
	want := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{{ItemIdentifier: "101"}}}
	handle := func(_ context.Context, got events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		if len(got.Records) != len(event.Records) {
			t.Errorf("the handler got %d records", len(got.Records))
		}
		return want, nil
	}
	answer, err := batch.StartingQueued(handle, start, slog.New(slog.NewTextHandler(&text, nil)))(t.Context(), event)
	if err != nil || !gocmp.Equal(answer, want) {
		t.Errorf("got %v, %v", answer, err)
	}
	slices.Sort(started)
	if diff := gocmp.Diff([]string{"alice fails", "alice panics", "alice works", "bob works"}, started); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
	for _, reason := range []string{"no run is left", "panic: oops"} {
		if !strings.Contains(text.String(), reason) {
			t.Errorf("the log lacks %q: %s", reason, text.String())
		}
	}
}
