package stream_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/test/property"
)

// TestNothingIsLost checks that, whatever fails and however it is reported, every
// record that matches the filter is delivered at least once or sent to the failure
// destination, and that the records of one item are first delivered in order.
func TestNothingIsLost(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		settings := drawMapping(rt)
		items := rapid.SliceOfN(rapid.SampledFrom([]string{"a1", "a2", "a3", "b1"}), 0, 25).Draw(rt, "items")
		failures := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 0, 1, 3, 6}), len(items), len(items)).Draw(rt, "failures of each")
		f := &unreliable{settings: settings, failures: map[string]int{}, accepted: map[string]bool{}}
		f.moods = rapid.SliceOfN(rapid.IntRange(0, 9), 1, 20).Draw(rt, "moods")
		var wanted []string
		var lost []lostBatch
		var calls []call
		synctest.Test(t, func(t *testing.T) {
			log := newLog()
			for i, sequence := range log.add("shard", items...) {
				if f.failures[sequence] = failures[i]; items[i] != "b1" {
					wanted = append(wanted, sequence)
				}
			}
			log.end("shard")
			r := mustRun(t, log, settings, f.answer)
			time.Sleep(time.Hour)
			r.stop()
			lost, calls = mustLostBatches(t, r), r.invoker.all()
		})
		wantEach(rt, wanted, f, lost, calls)
		wantOrder(rt, calls)
	})
}

func drawMapping(rt *rapid.T) samtemplate.Stream {
	settings := mapping()
	settings.Filters = []string{`{"dynamodb":{"Keys":{"PK":{"S":[{"prefix":"a"}]}}}}`}
	settings.BatchSize = rapid.IntRange(1, 8).Draw(rt, "batch size")
	settings.MaxRetries = rapid.IntRange(-1, 3).Draw(rt, "retries")
	settings.ParallelizationFactor = rapid.IntRange(1, 4).Draw(rt, "lanes")
	settings.BisectOnError = rapid.Bool().Draw(rt, "bisect")
	settings.PartialBatchResponses = rapid.Bool().Draw(rt, "partial")
	settings.BatchWindow = rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(rt, "window")
	return settings
}

// unreliable fails as often as each record requires, in the way that its mood selects.
type unreliable struct {
	settings samtemplate.Stream
	moods    []int

	mu       sync.Mutex
	turn     int
	failures map[string]int
	accepted map[string]bool
}

func (f *unreliable) answer(_ context.Context, c call) (*lambda.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	mood := f.moods[f.turn%len(f.moods)]
	f.turn++
	first := slices.IndexFunc(c.sequences, func(s string) bool { return f.failures[s] > 0 })
	switch {
	case mood == 0 && f.turn < 100:
		return nil, lambda.ErrThrottled
	case first < 0:
		f.accept(c.sequences)
		return succeed()
	}
	f.failures[c.sequences[first]]--
	switch {
	case mood < 4 || !f.settings.PartialBatchResponses:
		return fail()
	case mood == 4:
		return report("")
	case mood == 5:
		return report("9999", c.sequences[first])
	default:
		f.accept(c.sequences[:first])
		return report(c.sequences[len(c.sequences)-1], c.sequences[first])
	}
}

func (f *unreliable) accept(sequences []string) {
	for _, s := range sequences {
		f.accepted[s] = true
	}
}

func wantEach(rt *rapid.T, wanted []string, f *unreliable, given []lostBatch, calls []call) {
	landed := map[string]bool{}
	for _, l := range given {
		for _, s := range abandonedRecords(calls, l) {
			landed[s] = true
		}
	}
	for _, s := range wanted {
		if !f.accepted[s] && !landed[s] {
			rt.Errorf("record %s was neither accepted nor abandoned: %v", s, calls)
		}
		if f.settings.MaxRetries < 0 && landed[s] {
			rt.Errorf("record %s was abandoned although retries never end", s)
		}
	}
	for _, c := range calls {
		if len(c.sequences) > f.settings.BatchSize || slices.Contains(c.items, "b1") {
			rt.Errorf("invalid batch: %v", c)
		}
	}
}

// abandonedRecords returns the records that a failure record describes: consecutive records
// of an invocation.
func abandonedRecords(calls []call, l lostBatch) []string {
	for _, c := range calls {
		start := slices.IndexFunc(c.sequences, func(s string) bool { return trim(s) == l.Start })
		end := slices.IndexFunc(c.sequences, func(s string) bool { return trim(s) == l.End })
		if start >= 0 && end >= 0 && end-start+1 == l.Size {
			return c.sequences[start : end+1]
		}
	}
	return nil
}

func wantOrder(rt *rapid.T, calls []call) {
	last := map[string]string{}
	seen := map[string]bool{}
	for _, c := range calls {
		for i, s := range c.sequences {
			if seen[s] {
				continue
			}
			seen[s] = true
			if s < last[c.items[i]] {
				rt.Errorf("%s was delivered after %s", s, last[c.items[i]])
			}
			last[c.items[i]] = s
		}
	}
}
