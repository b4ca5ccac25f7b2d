package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/content/contenttest"
	"github.com/rethread/rethread/shared/domain/run"
)

const (
	flushEvery = 250 * time.Millisecond
	flushBytes = 800
)

func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		mustExecute(t, newWorker(r, saysAlphabet))
		if diff := cmp.Diff([]string{"60ms a", "122.5ms b", "247.5ms cd", "497.5ms efgh", "747.5ms ijkl", "997.5ms mn"}, flushesOf(r)); diff != "" {
			t.Errorf("flushes (-want +got):\n%s", diff)
		}
		if begun := r.all("Begin"); len(begun) != 1 || string(begun[0].event.Fields["content"]) != `{"role":"model","parts":[]}` {
			t.Errorf("begun: %+v", begun)
		}
	})
}

func TestFlushWhileNobodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		r.unwatched = true
		mustExecute(t, newWorker(r, saysAlphabet))
		if diff := cmp.Diff([]string{"60ms a", "370ms bcdef", "670ms ghijk", "970ms lmn"}, flushesOf(r)); diff != "" {
			t.Errorf("flushes (-want +got):\n%s", diff)
		}
	})
}

// saysAlphabet says a letter each 60 ms, and is then silent: pending deltas must be
// stored all the same.
func saysAlphabet(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
	if err := says(ctx, emit, 60*time.Millisecond, strings.Split("abcdefghijklmn", "")...); err != nil {
		return err
	}
	return wait(ctx, time.Second)
}

// flushesOf returns when each flush was, and its text.
func flushesOf(r *recorder) []string {
	var got []string
	for _, o := range r.all("Flush") {
		got = append(got, fmt.Sprintf("%s %s", o.at, o.deltas[0].Text))
	}
	return got
}

func TestFlushWhenMuchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		texts := make([]string, 100)
		for i := range texts {
			texts[i] = strings.Repeat("x", 98) + "\n" // two bytes of JSON
		}
		mustExecute(t, newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
			return errors.Join(says(ctx, emit, 0, texts...), wait(ctx, flushEvery))
		}))
		var got []int
		for _, o := range r.all("Flush") {
			got = append(got, len(o.deltas[0].Text)*100/99)
		}
		want := []int{100, 800, 800, 800, 800, 800, 800, 800, 800, 800, 800, 800, 800, 300}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("bytes of the flushes (-want +got):\n%s", diff)
		}
	})
}

// spoken is a delta of an agent, and the silence before it.
type spoken struct {
	after time.Duration
	delta content.Delta
}

func TestAnyPaceIsFlushedInTime(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		script := drawScript(rt)
		takes := time.Duration(rapid.SampledFrom([]int{0, 0, 5, 80, 400}).Draw(rt, "a write takes ms")) * time.Millisecond
		var r *recorder
		var emitted []time.Duration
		synctest.Test(t, func(*testing.T) {
			r = newRecorder()
			r.takes = takes
			w := newWorker(r, func(ctx context.Context, _ run.Request, emit func(run.Output) error) error {
				if err := says(ctx, emit, 0); err != nil {
					return err
				}
				for _, s := range script {
					if err := wait(ctx, s.after); err != nil {
						return err
					}
					if err := emit(run.Output{Delta: &s.delta}); err != nil {
						return err
					}
					emitted = append(emitted, time.Since(r.start))
				}
				return toldError{} // a failure stores the pending deltas, a completion replaces them
			})
			if err := w.Execute(context.Background(), theRun); err != nil {
				rt.Errorf("execute: %v", err)
			}
		})
		checkFlushes(rt, r, script, emitted)
	})
}

func drawScript(rt *rapid.T) []spoken {
	deltas := contenttest.Deltas(rt)
	for range rapid.IntRange(0, 30).Draw(rt, "more") {
		d := content.Delta{Part: 0, Text: "first "}
		if len(deltas) > 0 {
			d = content.Delta{Part: deltas[0].Part, Thought: deltas[0].Thought}
			long := rapid.StringOfN(rapid.RuneFrom([]rune("aé😀\n")), 0, 500, -1).Draw(rt, "text")
			if deltas[0].Call != nil {
				d.Call = &content.CallDelta{ArgsText: long}
			} else {
				d.Text = long
			}
		}
		deltas = append(deltas, d)
	}
	script := make([]spoken, len(deltas))
	for i, d := range deltas {
		ms := rapid.SampledFrom([]int{0, 0, 1, 20, 62, 63, 125, 249, 250, 251, 1000}).Draw(rt, "pause ms")
		script[i] = spoken{time.Duration(ms) * time.Millisecond, d}
	}
	return script
}

// checkFlushes compares the flushes with what the agent emitted, and when.
func checkFlushes(t *rapid.T, r *recorder, script []spoken, emitted []time.Duration) {
	t.Helper()
	said, bytes := make([]content.Delta, len(script)), 0
	for i, s := range script {
		said[i] = s.delta
		bytes += mustSize(t, s.delta)
	}
	if diff := cmp.Diff(content.Coalesce(said), content.Coalesce(r.flushed())); diff != "" {
		t.Fatalf("what was stored is not what was said (-want +got):\n%s", diff)
	}
	flushes := r.all("Flush")
	if len(flushes) == 0 {
		return
	}
	if first := flushes[0].at; first != emitted[0]+2*r.takes { // a begin and a flush
		t.Errorf("the first delta came at %s and was stored at %s", emitted[0], first)
	}
	lasts := flushes[len(flushes)-1].at - flushes[0].at
	if most := 4 + int(lasts/flushEvery) + bytes/flushBytes; len(flushes) > most {
		t.Errorf("%d flushes in %s of %d bytes, want at most %d", len(flushes), lasts, bytes, most)
	}
	for i, stored := range storedAt(flushes, script) {
		if late := stored - emitted[i]; late > flushEvery+2*r.takes {
			t.Errorf("delta %d came at %s and was stored at %s", i, emitted[i], stored)
		}
	}
}

// mustSize returns the size of a delta as JSON, in bytes.
func mustSize(t *rapid.T, d content.Delta) int {
	t.Helper()
	raw, err := jsonx.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return len(raw)
}

// storedAt returns when each delta was completely stored. An empty one leaves no
// trace, so it counts with the previous one.
func storedAt(flushes []op, script []spoken) []time.Duration {
	out := make([]time.Duration, len(script))
	said, stored, f := 0, 0, -1
	for i, s := range script {
		said += s.delta.Size()
		for f < 0 || stored < said {
			f++
			for _, d := range flushes[f].deltas {
				stored += d.Size()
			}
		}
		out[i] = flushes[f].at
	}
	return out
}
