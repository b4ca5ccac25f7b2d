package stream_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// failItem fails every batch that contains the item.
func failItem(item string) func(context.Context, call) (*lambda.Result, error) {
	return func(_ context.Context, c call) (*lambda.Result, error) {
		if slices.Contains(c.items, item) {
			return fail()
		}
		return succeed()
	}
}

func TestDeliver(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*samtemplate.Stream)
		answer func(context.Context, call) (*lambda.Result, error)
		want   [][]string
		lost   []lostBatch
	}{
		{
			"abandons a batch after its retries",
			func(s *samtemplate.Stream) { s.MaxRetries = 2 },
			failItem("b"),
			[][]string{{"1", "2", "3", "4"}, {"1", "2", "3", "4"}, {"1", "2", "3", "4"}},
			[]lostBatch{{"RetryAttemptsExhausted", "1", "4", 4, 3, "Unhandled"}},
		},
		{
			"abandons a batch at once without retries",
			func(s *samtemplate.Stream) { s.MaxRetries = 0 },
			failItem("b"),
			[][]string{{"1", "2", "3", "4"}},
			[]lostBatch{{"RetryAttemptsExhausted", "1", "4", 4, 1, "Unhandled"}},
		},
		{
			"bisecting isolates a bad record without using retries",
			func(s *samtemplate.Stream) { s.MaxRetries, s.BisectOnError = 1, true },
			failItem("b"),
			[][]string{{"1", "2", "3", "4"}, {"1", "2"}, {"1"}, {"2"}, {"2"}, {"3", "4"}},
			[]lostBatch{{"RetryAttemptsExhausted", "2", "2", 1, 4, "Unhandled"}},
		},
		{
			"finishes the records before the lowest reported failure",
			func(s *samtemplate.Stream) { s.MaxRetries, s.PartialBatchResponses = 1, true },
			func(_ context.Context, c call) (*lambda.Result, error) { return report("0004", "0003") },
			[][]string{{"1", "2", "3", "4"}, {"3", "4"}},
			[]lostBatch{{"RetryAttemptsExhausted", "3", "4", 2, 2, ""}},
		},
		{
			"bisects at the reported failure",
			func(s *samtemplate.Stream) { s.MaxRetries, s.PartialBatchResponses, s.BisectOnError = 0, true, true },
			func(_ context.Context, c call) (*lambda.Result, error) {
				if slices.Contains(c.items, "b") {
					return report("0002")
				}
				return succeed()
			},
			[][]string{{"1", "2", "3", "4"}, {"2", "3", "4"}, {"2"}, {"3", "4"}},
			[]lostBatch{{"RetryAttemptsExhausted", "2", "2", 1, 3, ""}},
		},
		{
			"fails the whole batch for an empty id",
			func(s *samtemplate.Stream) { s.MaxRetries, s.PartialBatchResponses = 0, true },
			func(context.Context, call) (*lambda.Result, error) { return report("0004", "") },
			[][]string{{"1", "2", "3", "4"}},
			[]lostBatch{{"RetryAttemptsExhausted", "1", "4", 4, 1, ""}},
		},
		{
			"fails the whole batch for an unknown id",
			func(s *samtemplate.Stream) { s.MaxRetries, s.PartialBatchResponses = 0, true },
			func(context.Context, call) (*lambda.Result, error) { return report("0009") },
			[][]string{{"1", "2", "3", "4"}},
			[]lostBatch{{"RetryAttemptsExhausted", "1", "4", 4, 1, ""}},
		},
		{
			"treats null as success",
			func(s *samtemplate.Stream) { s.PartialBatchResponses = true },
			func(context.Context, call) (*lambda.Result, error) {
				return &lambda.Result{Payload: []byte("null")}, nil
			},
			[][]string{{"1", "2", "3", "4"}},
			nil,
		},
		{
			"ignores reports without ReportBatchItemFailures",
			func(*samtemplate.Stream) {},
			func(context.Context, call) (*lambda.Result, error) { return report("0001") },
			[][]string{{"1", "2", "3", "4"}},
			nil,
		},
		{
			"abandons a batch without a failure destination",
			func(s *samtemplate.Stream) { s.MaxRetries, s.FailureDestination, s.BatchSize = 0, "", 2 },
			failItem("b"),
			[][]string{{"1", "2"}, {"3", "4"}},
			nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				settings, log := mapping(), newLog()
				test.change(&settings)
				log.add("shard", "a", "b", "c", "d")
				r := mustRun(t, log, settings, test.answer)
				defer r.stop()
				time.Sleep(time.Minute)
				if diff := cmp.Diff(test.want, shortSequences(r.invoker.batches())); diff != "" {
					t.Errorf("batches (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.lost, mustLostBatches(t, r)); diff != "" {
					t.Errorf("abandoned (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestPauses(t *testing.T) {
	t.Run("doubles the pauses up to five seconds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			log := newLog()
			log.add("shard", "a")
			r := mustRun(t, log, mapping(), failItem("a"))
			defer r.stop()
			time.Sleep(20 * time.Second)
			var pauses []time.Duration
			calls := r.invoker.all()
			for i := range len(calls) - 1 {
				pauses = append(pauses, calls[i+1].at-calls[i].at)
			}
			ms := time.Millisecond
			want := []time.Duration{50 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5000 * ms, 5000 * ms}
			if diff := cmp.Diff(want, pauses); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	})
	t.Run("does not count a throttled invocation as an attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			settings, log := mapping(), newLog()
			settings.MaxRetries = 0
			log.add("shard", "a")
			refusals := 0
			r := mustRun(t, log, settings, func(context.Context, call) (*lambda.Result, error) {
				if refusals++; refusals < 10 {
					return nil, lambda.ErrThrottled
				}
				return succeed()
			})
			defer r.stop()
			time.Sleep(time.Minute)
			if got := len(r.invoker.all()); got != 10 || len(r.destination.all()) > 0 {
				t.Errorf("%d invocations, abandoned %v", got, r.destination.all())
			}
		})
	})
	t.Run("pauses after an invocation that cannot start", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			log := newLog()
			log.add("shard", "a")
			r := mustRun(t, log, mapping(), func(context.Context, call) (*lambda.Result, error) {
				return nil, errors.New("gone")
			})
			defer r.stop()
			time.Sleep(20 * time.Second)
			if got := len(r.invoker.all()); got > 12 {
				t.Errorf("%d attempts in 20 s", got)
			}
		})
	})
}

func TestRecordAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings, log := mapping(), newLog()
		settings.MaxRecordAge = time.Minute
		log.add("shard", "a", "b")
		r := mustRun(t, log, settings, failItem("a"))
		defer r.stop()
		time.Sleep(30 * time.Second)
		log.add("shard", "c")
		time.Sleep(time.Minute)
		lostOnes := mustLostBatches(t, r)
		if len(lostOnes) != 1 || lostOnes[0].Condition != "RecordAgeExceeded" || lostOnes[0].Size != 2 {
			t.Errorf("abandoned: %v", lostOnes)
		}
		batches := shortSequences(r.invoker.batches())
		if diff := cmp.Diff([]string{"3"}, batches[len(batches)-1]); diff != "" {
			t.Errorf("last batch (-want +got):\n%s", diff)
		}
	})
}

func TestFailureRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings, log := mapping(), newLog()
		settings.MaxRetries = 1
		log.add("shard", "a", "b")
		r := mustRun(t, log, settings, failItem("a"))
		defer r.stop()
		time.Sleep(time.Minute)
		want := `{"version":"1.0","timestamp":"2000-01-01T00:00:00.050Z","requestContext":{"requestId":"request","functionArn":"arn:aws:lambda:us-east-1:0:function:function",` +
			`"condition":"RetryAttemptsExhausted","approximateInvokeCount":2},` +
			`"responseContext":{"statusCode":200,"executedVersion":"$LATEST","functionError":"Unhandled"},` +
			`"DDBStreamBatchInfo":{"shardId":"shard","startSequenceNumber":"0001","endSequenceNumber":"0002",` +
			`"approximateArrivalOfFirstRecord":"2000-01-01T00:00:00Z","approximateArrivalOfLastRecord":"2000-01-01T00:00:00Z",` +
			`"batchSize":2,"streamArn":"` + streamARN + `"}}`
		if diff := cmp.Diff([]string{want}, r.destination.all()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// lostBatch is the relevant part of a failure record.
type lostBatch struct {
	Condition, Start, End string
	Size, Invoked         int
	Error                 string
}

func mustLostBatches(t testing.TB, r *rig) []lostBatch {
	t.Helper()
	var all []lostBatch
	for _, body := range r.destination.all() {
		var record struct {
			RequestContext struct {
				Condition string
				Invoked   int `json:"approximateInvokeCount"`
			}
			ResponseContext struct{ FunctionError string }
			Batch           struct {
				Start string `json:"startSequenceNumber"`
				End   string `json:"endSequenceNumber"`
				Size  int    `json:"batchSize"`
			} `json:"DDBStreamBatchInfo"`
		}
		if err := json.Unmarshal([]byte(body), &record); err != nil {
			t.Fatal(err)
		}
		all = append(all, lostBatch{
			record.RequestContext.Condition, trim(record.Batch.Start), trim(record.Batch.End),
			record.Batch.Size, record.RequestContext.Invoked, record.ResponseContext.FunctionError,
		})
	}
	return all
}

// shortSequences removes the leading zeros of sequence numbers.
func shortSequences(batches [][]string) [][]string {
	var out [][]string
	for _, batch := range batches {
		var shorter []string
		for _, sequence := range batch {
			shorter = append(shorter, trim(sequence))
		}
		out = append(out, shorter)
	}
	return out
}

func trim(sequence string) string {
	for len(sequence) > 1 && sequence[0] == '0' {
		sequence = sequence[1:]
	}
	return sequence
}
