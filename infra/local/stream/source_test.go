package stream_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/local/stream"
	"github.com/rethread/rethread/infra/local/stream/reader"
)

func TestBatches(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*samtemplate.Stream)
		write  func(*fakeLog)
		want   [][]string
	}{
		{"batches the available records", nil, items("a", "b"), [][]string{{"0001", "0002"}}},
		{"limits batches to the batch size", func(s *samtemplate.Stream) { s.BatchSize = 2 }, items("a", "b", "c"), [][]string{{"0001", "0002"}, {"0003"}}},
		{
			"waits for more records during the batching window", func(s *samtemplate.Stream) { s.BatchWindow = time.Second },
			inTurn(600*time.Millisecond, "a", "b", "c"),
			[][]string{{"0001", "0002"}, {"0003"}},
		},
		{
			"delivers a full batch before the window ends",
			func(s *samtemplate.Stream) { s.BatchWindow, s.BatchSize = time.Hour, 2 },
			items("a", "b"),
			[][]string{{"0001", "0002"}},
		},
		{"delivers at once without a window", nil, inTurn(10*time.Millisecond, "a", "b"), [][]string{{"0001"}, {"0002"}}},
		{
			"limits a batch to 6 MB", nil,
			items("a", strings.Repeat("b", 3<<20), strings.Repeat("c", 3<<20), "d"),
			[][]string{{"0001", "0002"}, {"0003", "0004"}},
		},
		{
			"does not deliver filtered records",
			func(s *samtemplate.Stream) {
				s.Filters = []string{
					`{"dynamodb":{"Keys":{"PK":{"S":["b"]}}}}`, `{"dynamodb":{"Keys":{"PK":{"S":[{"prefix":"d"}]}}}}`,
				}
			},
			inTurn(time.Second, "a", "b", "c", "dd"),
			[][]string{{"0002"}, {"0004"}},
		},
		{"does nothing when the mapping is disabled", func(s *samtemplate.Stream) { s.Enabled = false }, items("a"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				settings, log := mapping(), newLog()
				if test.change != nil {
					test.change(&settings)
				}
				r := mustRun(t, log, settings, nil)
				defer r.stop()
				test.write(log)
				time.Sleep(5 * time.Second)
				if diff := cmp.Diff(test.want, r.invoker.batches()); diff != "" {
					t.Errorf("batches (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func items(items ...string) func(*fakeLog) {
	return func(l *fakeLog) { l.add("shard", items...) }
}

func inTurn(pause time.Duration, items ...string) func(*fakeLog) {
	return func(l *fakeLog) {
		for _, item := range items {
			l.add("shard", item)
			time.Sleep(pause)
		}
	}
}

func TestLanes(t *testing.T) {
	t.Run("a failing lane does not stop the others, and items keep their order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			settings := mapping()
			settings.ParallelizationFactor, settings.BatchSize = 10, 1
			log := newLog()
			for range 3 {
				for i := range 20 {
					log.add("shard", fmt.Sprint("item", i))
				}
			}
			r := mustRun(t, log, settings, func(_ context.Context, c call) (*lambda.Result, error) {
				if c.items[0] == "item0" {
					return fail()
				}
				return succeed()
			})
			defer r.stop()
			time.Sleep(time.Minute)
			seen := map[string][]string{}
			for _, c := range r.invoker.all() {
				seen[c.items[0]] = append(seen[c.items[0]], c.sequences...)
			}
			whole := 0
			for item, sequences := range seen {
				if item == "item0" {
					if sequences = slices.Compact(sequences); len(sequences) != 1 {
						t.Errorf("item0 continued with %v", sequences)
					}
					continue
				}
				if !slices.IsSorted(sequences) {
					t.Errorf("%s was delivered as %v", item, sequences)
				}
				if len(sequences) == 3 {
					whole++
				}
			}
			if whole < 10 { // some share item0's lane
				t.Errorf("%d items were delivered completely", whole)
			}
		})
	})
	t.Run("lanes run concurrently, but never for the same item", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			settings := mapping()
			settings.ParallelizationFactor = 10
			log := newLog()
			for i := range 200 {
				log.add("shard", fmt.Sprint("item", i))
			}
			r := mustRun(t, log, settings, func(context.Context, call) (*lambda.Result, error) {
				time.Sleep(time.Second)
				return succeed()
			})
			defer r.stop()
			synctest.Wait()
			if got := len(r.invoker.batches()); got != 10 {
				t.Errorf("%d concurrent invocations, want 10", got)
			}
		})
	})
}

func TestStart(t *testing.T) {
	t.Run("LATEST skips existing records and misses no later one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			settings, log := mapping(), newLog(reader.Shard{ID: "old"}, reader.Shard{ID: "shard", Parent: "old"})
			settings.StartingPosition = samtemplate.StartLatest
			log.add("old", "a")
			log.add("shard", "b")
			log.end("old")
			r := mustRun(t, log, settings, nil) // New returns before Run begins
			defer r.stop()
			log.add("shard", "c")
			synctest.Wait()
			if diff := cmp.Diff([][]string{{"0003"}}, r.invoker.batches()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	})
	t.Run("reads child shards after their parent is finished", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			log := newLog(reader.Shard{ID: "parent", Parent: "long gone"})
			log.add("parent", "a")
			r := mustRun(t, log, mapping(), func(context.Context, call) (*lambda.Result, error) {
				time.Sleep(time.Minute)
				return succeed()
			})
			defer r.stop()
			log.end("parent", reader.Shard{ID: "left", Parent: "parent"}, reader.Shard{ID: "right", Parent: "parent"})
			log.add("left", "a")
			log.add("right", "b")
			time.Sleep(59 * time.Second)
			if got := r.invoker.batches(); len(got) != 1 {
				t.Errorf("before the parent is done: %v", got)
			}
			time.Sleep(2 * time.Second)
			if got := r.invoker.batches(); len(got) != 3 {
				t.Errorf("after it: %v", got)
			}
		})
	})
	t.Run("returns an error for invalid positions", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "streams.json")
		if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.New(t.Context(), options(file, newLog(), mapping(), &fakeInvoker{})); err == nil {
			t.Error("no error")
		}
	})
	t.Run("continues at the saved position after a restart", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "data", "streams.json")
		synctest.Test(t, func(t *testing.T) {
			log := newLog()
			log.add("shard", "a", "b")
			r := mustRunFrom(t, file, log, mapping(), func(ctx context.Context, c call) (*lambda.Result, error) {
				if slices.Contains(c.items, "c") {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return succeed()
			})
			synctest.Wait()
			log.add("shard", "c") // being delivered when the host stops
			synctest.Wait()
			r.stop()
			log.add("shard", "d") // while no host is running
			settings := mapping()
			settings.StartingPosition = samtemplate.StartLatest // no longer relevant
			again := mustRunFrom(t, file, log, settings, nil)
			defer again.stop()
			synctest.Wait()
			if diff := cmp.Diff([][]string{{"0003", "0004"}}, again.invoker.batches()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	})
	t.Run("stops promptly at any time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			settings, log := mapping(), newLog()
			settings.ParallelizationFactor = 2
			log.add("shard", "a", "b", "c", "d")
			r := mustRun(t, log, settings, func(ctx context.Context, c call) (*lambda.Result, error) {
				if slices.Contains(c.items, "a") {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return fail()
			})
			time.Sleep(time.Minute)
			began := time.Now()
			r.stop()
			if took := time.Since(began); took != 0 {
				t.Errorf("it took %s", took)
			}
		})
	})
}

func TestCheckpointsThatCannotBeSaved(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	log := newLog()
	log.add("shard", "a")
	source, err := stream.New(t.Context(), options(filepath.Join(folder, "streams.json"), log, mapping(), &fakeInvoker{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := source.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "save the positions") {
		t.Errorf("got %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*samtemplate.Stream)
	}{
		{"an invalid filter", func(s *samtemplate.Stream) { s.Filters = []string{`{"a":1}`} }},
		{"a batch size of 0", func(s *samtemplate.Stream) { s.BatchSize = 0 }},
		{"an unknown table", func(s *samtemplate.Stream) { s.Table = "Other" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			settings := mapping()
			test.change(&settings)
			_, err := stream.New(t.Context(), options("", newLog(), settings, &fakeInvoker{}))
			if !errors.Is(err, stream.ErrMapping) || !strings.Contains(err.Error(), "Changes") {
				t.Errorf("got %v, want ErrMapping of Changes", err)
			}
		})
	}
}
