package play_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/bench/meter"
	"github.com/rethread/rethread/infra/bench/peers/play"
	"github.com/rethread/rethread/infra/bench/peers/record"
)

// lists is a store in memory: each text written is a write unit, each read a read unit.
type lists struct {
	threads map[string][]string
	usage   meter.Usage
	most    int   // texts of a thread; more fail
	longest int   // texts that a load returns; 0 for all
	broken  error // of every operation
	garbled bool  // a stored text reads differently
}

func newLists() *lists { return &lists{threads: map[string][]string{}, most: 1000} }

func (l *lists) set(thread string, texts []string) error {
	if len(texts) > l.most {
		return fmt.Errorf("%w: too large\nat a line of its program", play.ErrFailed)
	}
	l.usage.Requests++
	l.usage.Writes += float64(max(0, len(texts)-len(l.threads[thread])))
	l.threads[thread] = texts
	return l.broken
}

func (l *lists) Turn(_ context.Context, thread, question, answer string) error {
	return l.set(thread, append(l.threads[thread], question, answer))
}

func (l *lists) Load(_ context.Context, thread string) ([]string, error) {
	l.usage.Reads += float64(len(l.threads[thread]))
	texts := append([]string{}, l.threads[thread]...)
	if l.longest > 0 {
		texts = texts[:min(len(texts), l.longest)]
	}
	if l.garbled {
		texts[0] = strings.ToUpper(texts[0])
	}
	return texts, nil
}

func (l *lists) Rewind(_ context.Context, thread string) error {
	return l.set(thread, l.threads[thread][:len(l.threads[thread])-2])
}

func (l *lists) Fork(_ context.Context, thread, into string) error {
	return l.set(into, append([]string{}, l.threads[thread][:len(l.threads[thread])-2]...))
}

func (l *lists) Stream(ctx context.Context, thread, question string, tokens []string) error {
	return l.Turn(ctx, thread, question, strings.Join(tokens, ""))
}

func (l *lists) Usage(context.Context) (meter.Usage, error) { return l.usage, nil }

func (l *lists) Close() error { return nil }

func plan() record.Plan {
	return record.Plan{Turns: []int{2, 6}, Step: 2, Branch: 3, Before: 2, Tokens: 20, Question: 30, Answer: 60}
}

func TestBound(t *testing.T) {
	measured := record.Peer{Curve: []record.Point{{Turns: 2, Usage: meter.Usage{Writes: 10}}, {Turns: 4, Usage: meter.Usage{Writes: 21}}}}
	for most, ok := range map[float64]bool{0: true, 5: false, 5.25: true} {
		if err := (play.Entry{MaxWrites: most}).Check(measured); (err == nil) != ok {
			t.Errorf("at most %v a turn: got %v", most, err)
		}
	}
}

func TestPlay(t *testing.T) {
	point := func(turns int, u meter.Usage) record.Point { return record.Point{Turns: turns, Usage: u} }
	t.Run("measures each step by itself", func(t *testing.T) {
		got, err := play.Play(t.Context(), newLists(), plan(), func() {})
		want := record.Peer{
			Curve: []record.Point{
				point(2, meter.Usage{Requests: 2, Writes: 4}), point(4, meter.Usage{Requests: 4, Writes: 8}), point(6, meter.Usage{Requests: 6, Writes: 12}),
			},
			Loads:  []record.Point{point(2, meter.Usage{Reads: 4}), point(6, meter.Usage{Reads: 12})},
			Fork:   record.Outcome{Usage: meter.Usage{Requests: 1, Writes: 4}},
			Rewind: record.Outcome{Usage: meter.Usage{Requests: 1}},
			Stream: record.Outcome{Usage: meter.Usage{Requests: 1, Writes: 2}},
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
	t.Run("records where a store fails, and goes on", func(t *testing.T) {
		l := newLists()
		l.most = 5 // two turns
		got, err := play.Play(t.Context(), l, plan(), func() {})
		want := record.Peer{
			Curve: []record.Point{point(2, meter.Usage{Requests: 2, Writes: 4})}, Loads: []record.Point{point(2, meter.Usage{Reads: 4})},
			Failed: &record.Failure{Turn: 3, Error: "too large"},
			Fork:   record.Outcome{Error: "turn 3 was not stored: too large"}, Rewind: record.Outcome{Error: "turn 3 was not stored: too large"},
			Stream: record.Outcome{Error: "too large"},
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
	t.Run("records a thread that is not loaded whole", func(t *testing.T) {
		l := newLists()
		l.longest = 8
		got, err := play.Play(t.Context(), l, plan(), func() {})
		if err != nil || got.Loads[0].Wrong != "" || !strings.Contains(got.Loads[1].Wrong, "8 texts") {
			t.Errorf("%v; loads: %+v", err, got.Loads)
		}
	})
	t.Run("fails if a store has other texts than it was given", func(t *testing.T) {
		l := newLists()
		l.garbled = true
		if _, err := play.Play(t.Context(), l, plan(), func() {}); err == nil || !strings.Contains(err.Error(), "other texts") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("fails if a store could not be asked", func(t *testing.T) {
		l := newLists()
		l.broken = errors.New("connection refused")
		if _, err := play.Play(t.Context(), l, plan(), func() {}); !errors.Is(err, l.broken) {
			t.Errorf("got %v", err)
		}
	})
}
