package feed_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/queue"
	"github.com/rethread/rethread/infra/local/queue/feed"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

func TestBatches(t *testing.T) {
	t.Run("batches the available messages up to the batch size", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, reserved := newFixture(), 1
			s.mapping.BatchSize, s.reserve = 2, &reserved
			s.send(t, "a", "b", "c")
			s.run(t, time.Second)
			wantLog(t, s, "0s a b", "0s c")
		})
	})
	t.Run("waits for more messages during the batching window", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newFixture()
			s.mapping.BatchWindow = time.Second
			time.AfterFunc(100*time.Millisecond, func() { s.send(t, "a") })
			time.AfterFunc(1*time.Second, func() { s.send(t, "b") })
			time.AfterFunc(2*time.Second, func() { s.send(t, "c") })
			s.run(t, 5*time.Second)
			wantLog(t, s, "1.1s a b", "3s c")
		})
	})
	t.Run("delivers a full batch before the window ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newFixture()
			s.mapping.BatchWindow, s.mapping.BatchSize = time.Minute, 2
			s.send(t, "a", "b")
			s.run(t, time.Second)
			wantLog(t, s, "0s a b")
		})
	})
	t.Run("limits a batch to 6 MB and returns the message that does not fit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, reserved := newFixture(), 1
			s.reserve = &reserved
			var bodies []string
			for i := range 8 {
				bodies = append(bodies, strconv.Itoa(i)+strings.Repeat("<", 1<<20-1))
			}
			s.send(t, bodies...)
			s.run(t, time.Second)
			if got := s.invoker.calls; len(got) != 2 || len(got[0].Events) != 5 || len(got[1].Events) != 3 {
				t.Fatalf("%d batches", len(got))
			}
			if got := s.invoker.calls[1].Events[0].Attributes["ApproximateReceiveCount"]; got != "1" {
				t.Errorf("received %s times", got)
			}
		})
	})
	t.Run("runs as many batches concurrently as the mapping allows", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newFixture()
			s.mapping.BatchSize, s.mapping.MaxConcurrency = 1, 2
			s.invoker.answer = succeedAfter(time.Second)
			s.send(t, "a", "b", "c")
			s.run(t, 5*time.Second)
			if got := s.invoker.log(); len(got) != 3 || s.invoker.maxConcurrent != 2 || !strings.HasPrefix(got[2], "1s") {
				t.Errorf("%d concurrent batches: %v", s.invoker.maxConcurrent, got)
			}
		})
	})
	t.Run("runs as many batches concurrently as the function's reserved concurrency", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, reserved := newFixture(), 1
			s.mapping.BatchSize, s.reserve = 1, &reserved
			s.invoker.answer = succeedAfter(time.Second)
			s.send(t, "a", "b")
			s.run(t, 5*time.Second)
			wantLog(t, s, "0s a", "1s b")
		})
	})
	t.Run("runs the groups of a FIFO queue concurrently, each in order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newFixture().fifo()
			s.mapping.BatchSize = 1
			s.invoker.answer = succeedAfter(time.Second)
			s.send(t, "a1", "a2", "b1")
			s.run(t, 5*time.Second)
			if got := s.invoker.log(); len(got) != 3 || s.invoker.maxConcurrent != 2 || got[2] != "1s a2" {
				t.Errorf("%d concurrent batches: %v", s.invoker.maxConcurrent, got)
			}
		})
	})
	t.Run("does nothing when the mapping is disabled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newFixture()
			s.mapping.Enabled = false
			s.send(t, "a")
			s.run(t, time.Minute)
			wantLog(t, s)
		})
	})
}

func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name    string
		partial bool
		answer  func(call) *lambda.Result
		again   string // messages delivered again
	}{
		{"an empty list of failures", true, func(call) *lambda.Result { return &lambda.Result{Payload: []byte(`{"batchItemFailures":[]}`)} }, ""},
		{"an empty answer", true, func(call) *lambda.Result { return &lambda.Result{} }, ""},
		{"null", true, func(call) *lambda.Result { return &lambda.Result{Payload: []byte(`null`)} }, ""},
		{"null for the failures", true, func(call) *lambda.Result { return &lambda.Result{Payload: []byte(`{"batchItemFailures":null}`)} }, ""},
		{"one failure", true, func(c call) *lambda.Result { return failing(c, "b") }, "b"},
		{"one failure without ReportBatchItemFailures", false, func(c call) *lambda.Result { return failing(c, "b") }, ""},
		{"an error", true, func(call) *lambda.Result { return &lambda.Result{FunctionError: "Unhandled", Payload: []byte(`{}`)} }, "a b c"},
		{"an error without ReportBatchItemFailures", false, func(call) *lambda.Result { return &lambda.Result{FunctionError: "Unhandled"} }, "a b c"},
		{"an answer that is not an object", true, func(call) *lambda.Result { return &lambda.Result{Payload: []byte(`"done"`)} }, "a b c"},
		{"a failure of an unknown message", true, func(call) *lambda.Result {
			return &lambda.Result{Payload: []byte(`{"batchItemFailures":[{"itemIdentifier":"x"}]}`)}
		}, "a b c"},
		{"a failure under another member name", true, func(c call) *lambda.Result {
			return &lambda.Result{Payload: []byte(`{"batchItemFailures":[{"id":"` + c.Events[0].MessageId + `"}]}`)}
		}, "a b c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFixture()
				s.mapping.PartialBatchResponses = test.partial
				s.invoker.answer = func(_ context.Context, c call) (*lambda.Result, error) {
					if c.at > 0 {
						return &lambda.Result{}, nil
					}
					return test.answer(c), nil
				}
				s.send(t, "a", "b", "c")
				s.run(t, time.Minute)
				want := []string{"0s a b c"}
				if test.again != "" {
					want = append(want, "10s "+test.again) // after the visibility timeout
				}
				wantLog(t, s, want...)
				if left := s.q.Messages(); len(left) != 0 {
					t.Errorf("remaining messages: %v", left)
				}
			})
		})
	}
	t.Run("redelivers a message at the time the function sets, and its group waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newFixture().fifo()
			s.invoker.answer = func(_ context.Context, c call) (*lambda.Result, error) {
				if c.at > 0 {
					return &lambda.Result{}, nil
				}
				for i, e := range c.Events {
					if err := s.q.Hide(e.ReceiptHandle, time.Duration(60-i)*time.Second); err != nil {
						return nil, err
					}
				}
				return failing(c, "a1", "a2"), nil
			}
			s.send(t, "a1", "a2")
			time.AfterFunc(time.Second, func() { s.send(t, "b1") })
			s.run(t, 2*time.Minute)
			wantLog(t, s, "0s a1 a2", "1s b1", "1m0s a1 a2")
		})
	})
	t.Run("deletes every message that the function does not report, like Lambda, even out of order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newFixture().fifo()
			s.invoker.answer = func(_ context.Context, c call) (*lambda.Result, error) { return failing(c, "a1"), nil }
			s.send(t, "a1", "a2")
			s.run(t, 11*time.Second)
			wantLog(t, s, "0s a1 a2", "10s a1")
		})
	})
	t.Run("slows down while the function cannot be invoked", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, reserved := newFixture(), 1
			s.mapping.BatchSize, s.reserve = 1, &reserved
			s.invoker.answer = func(context.Context, call) (*lambda.Result, error) { return nil, lambda.ErrThrottled }
			s.send(t, "a", "b")
			s.run(t, 5*time.Second)
			wantLog(t, s, "0s a", "1s b")
			if left := s.q.Messages(); len(left) != 2 {
				t.Errorf("remaining messages: %v", left)
			}
		})
	})
}

func TestStop(t *testing.T) {
	t.Run("stops invoking and keeps the messages being processed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newFixture()
			s.mapping.BatchSize, s.mapping.MaxConcurrency = 1, 2
			s.invoker.answer = func(ctx context.Context, _ call) (*lambda.Result, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			s.send(t, "a", "b", "c")
			s.run(t, time.Second)
			s.send(t, "d")
			time.Sleep(time.Hour)
			if got := s.invoker.log(); len(got) != 2 || len(s.q.Messages()) != 4 {
				t.Errorf("got %v, %d messages remain", got, len(s.q.Messages()))
			}
		})
	})
}

func TestEvent(t *testing.T) {
	t.Run("the event has Lambda's format", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newFixture().fifo()
			s.prepare()
			sent, err := s.q.Send(queue.Draft{
				Body: "a <body>", Group: "g", Deduplication: "d", Attributes: map[string]queue.Attribute{
					"text": {DataType: "String", StringValue: "x"}, "bytes": {DataType: "Binary", BinaryValue: []byte{1}},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			s.run(t, time.Second)
			if len(s.invoker.calls) != 1 {
				t.Fatalf("%d calls", len(s.invoker.calls))
			}
			got, text, millis := s.invoker.calls[0].Events[0], "x", strconv.FormatInt(sent.Sent.UnixMilli(), 10)
			want := events.SQSMessage{
				MessageId: sent.ID, ReceiptHandle: got.ReceiptHandle, Body: "a <body>",
				Md5OfBody: sent.BodyDigest(), Md5OfMessageAttributes: sent.AttributesDigest(),
				Attributes: map[string]string{
					"SenderId": "local", "SentTimestamp": millis, "ApproximateReceiveCount": "1", "ApproximateFirstReceiveTimestamp": millis,
					"MessageGroupId": "g", "MessageDeduplicationId": "d", "SequenceNumber": sent.Sequence,
				},
				MessageAttributes: map[string]events.SQSMessageAttribute{
					"text":  {StringValue: &text, DataType: "String", StringListValues: []string{}, BinaryListValues: [][]byte{}},
					"bytes": {BinaryValue: []byte{1}, DataType: "Binary", StringListValues: []string{}, BinaryListValues: [][]byte{}},
				},
				EventSource: "aws:sqs", EventSourceARN: queueARN, AWSRegion: "us-east-1",
			}
			if diff := cmp.Diff(want, got); diff != "" || got.ReceiptHandle == "" {
				t.Errorf("receipt %q (-want +got):\n%s", got.ReceiptHandle, diff)
			}
		})
	})
}

func TestNew(t *testing.T) {
	_, err := feed.New(feed.Options{
		Functions: []samtemplate.Function{{LogicalID: "F", Queues: []samtemplate.QueueMapping{{Name: "E", Queue: "None", Enabled: true}}}},
		Queues:    oneQueue{queue.New(samtemplate.Queue{LogicalID: "Q"})}, Log: slog.New(slog.DiscardHandler),
	})
	if !errors.Is(err, feed.ErrMapping) || !strings.Contains(err.Error(), "no queue None") {
		t.Errorf("got %v", err)
	}
}

// run runs the mapping for that long.
func (s *fixture) run(t *testing.T, so time.Duration) {
	t.Helper()
	s.start(t)
	time.Sleep(so)
	s.stop()
}

// succeedAfter returns a function that succeeds after a while.
func succeedAfter(so time.Duration) func(context.Context, call) (*lambda.Result, error) {
	return func(context.Context, call) (*lambda.Result, error) {
		time.Sleep(so)
		return &lambda.Result{}, nil
	}
}

func wantLog(t *testing.T, s *fixture, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.invoker.log()); diff != "" {
		t.Errorf("invocations (-want +got):\n%s", diff)
	}
}
