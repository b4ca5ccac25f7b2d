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

// poison fails whatever batch holds that item.
func poison(item string) func(context.Context, call) (*lambda.Result, error) {
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
		lost   []lost
	}{
		{
			"a batch that fails for good is given up after its retries",
			func(s *samtemplate.Stream) { s.MaxRetries = 2 },
			poison("b"),
			[][]string{{"1", "2", "3", "4"}, {"1", "2", "3", "4"}, {"1", "2", "3", "4"}},
			[]lost{{"RetryAttemptsExhausted", "1", "4", 4, 3, "Unhandled"}},
		},
		{
			"without retries at once",
			func(s *samtemplate.Stream) { s.MaxRetries = 0 },
			poison("b"),
			[][]string{{"1", "2", "3", "4"}},
			[]lost{{"RetryAttemptsExhausted", "1", "4", 4, 1, "Unhandled"}},
		},
		{
			"bisecting finds the one that is bad, and costs no retries",
			func(s *samtemplate.Stream) { s.MaxRetries, s.BisectOnError = 1, true },
			poison("b"),
			[][]string{{"1", "2", "3", "4"}, {"1", "2"}, {"1"}, {"2"}, {"2"}, {"3", "4"}},
			[]lost{{"RetryAttemptsExhausted", "2", "2", 1, 4, "Unhandled"}},
		},
		{
			"what comes before the lowest reported failure is done with",
			func(s *samtemplate.Stream) { s.MaxRetries, s.PartialBatchResponses = 1, true },
			func(_ context.Context, c call) (*lambda.Result, error) { return report("0004", "0003") },
			[][]string{{"1", "2", "3", "4"}, {"3", "4"}},
			[]lost{{"RetryAttemptsExhausted", "3", "4", 2, 2, ""}},
		},
		{
			"reports say where to bisect",
			func(s *samtemplate.Stream) { s.MaxRetries, s.PartialBatchResponses, s.BisectOnError = 0, true, true },
			func(_ context.Context, c call) (*lambda.Result, error) {
				if slices.Contains(c.items, "b") {
					return report("0002")
				}
				return succeed()
			},
			[][]string{{"1", "2", "3", "4"}, {"2", "3", "4"}, {"2"}, {"3", "4"}},
			[]lost{{"RetryAttemptsExhausted", "2", "2", 1, 3, ""}},
		},
		{
			"an empty id fails the whole batch",
			func(s *samtemplate.Stream) { s.MaxRetries, s.PartialBatchResponses = 0, true },
			func(context.Context, call) (*lambda.Result, error) { return report("0004", "") },
			[][]string{{"1", "2", "3", "4"}},
			[]lost{{"RetryAttemptsExhausted", "1", "4", 4, 1, ""}},
		},
		{
			"so does one that was not in it",
			func(s *samtemplate.Stream) { s.MaxRetries, s.PartialBatchResponses = 0, true },
			func(context.Context, call) (*lambda.Result, error) { return report("0009") },
			[][]string{{"1", "2", "3", "4"}},
			[]lost{{"RetryAttemptsExhausted", "1", "4", 4, 1, ""}},
		},
		{
			"null is success",
			func(s *samtemplate.Stream) { s.PartialBatchResponses = true },
			func(context.Context, call) (*lambda.Result, error) {
				return &lambda.Result{Payload: []byte("null")}, nil
			},
			[][]string{{"1", "2", "3", "4"}},
			nil,
		},
		{
			"reports are not asked for, not read",
			func(*samtemplate.Stream) {},
			func(context.Context, call) (*lambda.Result, error) { return report("0001") },
			[][]string{{"1", "2", "3", "4"}},
			nil,
		},
		{
			"nobody to tell",
			func(s *samtemplate.Stream) { s.MaxRetries, s.FailureDestination, s.BatchSize = 0, "", 2 },
			poison("b"),
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
				if diff := cmp.Diff(test.want, short(r.invoker.batches())); diff != "" {
					t.Errorf("batches (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.lost, mustLost(t, r)); diff != "" {
					t.Errorf("given up (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestPauses(t *testing.T) {
	t.Run("they double up to five seconds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			log := newLog()
			log.add("shard", "a")
			r := mustRun(t, log, mapping(), poison("a"))
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
	t.Run("an invocation that found no room is no try", func(t *testing.T) {
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
				t.Errorf("%d invocations, given up %v", got, r.destination.all())
			}
		})
	})
	t.Run("an invocation that cannot begin pauses as long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			log := newLog()
			log.add("shard", "a")
			r := mustRun(t, log, mapping(), func(context.Context, call) (*lambda.Result, error) {
				return nil, errors.New("gone")
			})
			defer r.stop()
			time.Sleep(20 * time.Second)
			if got := len(r.invoker.all()); got > 12 {
				t.Errorf("%d tries in 20 s", got)
			}
		})
	})
}

func TestRecordAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings, log := mapping(), newLog()
		settings.MaxRecordAge = time.Minute
		log.add("shard", "a", "b")
		r := mustRun(t, log, settings, poison("a"))
		defer r.stop()
		time.Sleep(30 * time.Second)
		log.add("shard", "c")
		time.Sleep(time.Minute)
		lostOnes := mustLost(t, r)
		if len(lostOnes) != 1 || lostOnes[0].Condition != "RecordAgeExceeded" || lostOnes[0].Size != 2 {
			t.Errorf("given up: %v", lostOnes)
		}
		batches := short(r.invoker.batches())
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
		r := mustRun(t, log, settings, poison("a"))
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

// lost is what matters of a failure record.
type lost struct {
	Condition, Start, End string
	Size, Invoked         int
	Error                 string
}

func mustLost(t testing.TB, r *rig) []lost {
	t.Helper()
	var all []lost
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
		all = append(all, lost{
			record.RequestContext.Condition, trim(record.Batch.Start), trim(record.Batch.End),
			record.Batch.Size, record.RequestContext.Invoked, record.ResponseContext.FunctionError,
		})
	}
	return all
}

// short leaves the leading zeros of sequence numbers out.
func short(batches [][]string) [][]string {
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
