package cost

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
)

// A model that streams 50 tokens a second, and the signs of life between.
const (
	tokensPerSecond = 50
	renewEvery      = 20 * time.Second
)

// runs measures whole runs: from the input to the end, with all that a worker
// writes in between. 150 ms is how often run.Pace stores by default.
func (m *measurement) runs(ctx context.Context) error {
	for _, c := range []struct {
		tokens int
		every  time.Duration
		most   float64
	}{
		{1000, 150 * time.Millisecond, 158},
		{1000, 250 * time.Millisecond, 105},
		{4000, 250 * time.Millisecond, 354},
	} {
		name := fmt.Sprintf("a run that streams %d tokens, %d a second, stored every %s", c.tokens, tokensPerSecond, c.every)
		if err := m.measure(name, 0, c.most, func() error { return m.stream(ctx, c.tokens, c.every) }); err != nil {
			return err
		}
	}
	if err := m.loadRuns(ctx); err != nil {
		return err
	}
	return m.watching(ctx)
}

// asked measures what the worker reads before it calls an agent: the session's
// whole history or, if the agent's configuration limits it, the newest turns.
func (m *measurement) asked(ctx context.Context) error {
	ref := run.Ref{UserID: m.user, SessionID: m.session, RunID: uuid.NewString()}
	if err := m.start(ctx, ref); err != nil {
		return err
	}
	read := func(limit run.HistoryLimit) func() error {
		return func() error {
			_, err := m.store.Runs.AsOfInput(ctx, ref, limit)
			return err
		}
	}
	if err := m.measure(WholeHistory(m.history), 0, 0, read(run.HistoryLimit{})); err != nil {
		return err
	}
	if m.history >= 100 {
		if err := m.measure(LimitedHistory, 30, 0, read(run.HistoryLimit{Turns: 20})); err != nil {
			return err
		}
	}
	_, err := m.store.Runs.End(ctx, ref, run.Completed, nil)
	return err
}

// start starts a run with the next question as its input.
func (m *measurement) start(ctx context.Context, ref run.Ref) error {
	m.turn++
	input, err := newEvent("", ref.RunID, "user", m.question(m.turn))
	if err != nil {
		return err
	}
	start := run.Start{Ref: ref, Agent: "assistant", Mode: run.Managed, Input: []session.Event{input}}
	if _, err := m.store.Runs.Start(ctx, start); err != nil {
		return err
	}
	_, err = m.store.Runs.Claim(ctx, ref, run.Claimant{Worker: "worker"})
	return err
}

// loadRuns loads 100 turns that runs made; what "load 100 turns" loads was
// appended. Once is enough, as the session is another one.
func (m *measurement) loadRuns(ctx context.Context) error {
	const turns, tokens = 100, 2000 / tokenBytes
	if m.history != turns {
		return nil
	}
	of := m.session
	if err := m.create(ctx, "runs"); err != nil {
		return err
	}
	for range turns {
		if err := m.stream(ctx, tokens, time.Second); err != nil {
			return err
		}
	}
	err := m.measure("load 100 turns that runs made", 30, 0, func() error { return m.load(ctx, 2*turns) })
	m.session = of
	return err
}

func (m *measurement) stream(ctx context.Context, tokens int, every time.Duration) error {
	ref := run.Ref{UserID: m.user, SessionID: m.session, RunID: uuid.NewString()}
	if err := m.start(ctx, ref); err != nil {
		return err
	}
	begun, err := newEvent("", ref.RunID, "assistant", "")
	if err != nil {
		return err
	}
	it, err := m.store.Runs.BeginItem(ctx, ref, begun)
	if err != nil {
		return err
	}
	words := m.tokens(tokens)
	if _, err := it.Flush(ctx, []content.Delta{{Text: words[0]}}); err != nil { // the first at once
		return err
	}
	flushes := int(time.Duration(tokens) * time.Second / tokensPerSecond / every)
	for n := range flushes {
		from, to := max(1, n*tokens/flushes), (n+1)*tokens/flushes
		if _, err := it.Flush(ctx, []content.Delta{{Text: strings.Join(words[from:to], "")}}); err != nil {
			return err
		}
		if n > 0 && n%int(renewEvery/every) == 0 {
			if err := m.store.Runs.Renew(ctx, ref); err != nil {
				return err
			}
		}
	}
	whole, err := newEvent("", ref.RunID, "assistant", strings.Join(words, ""))
	if err != nil {
		return err
	}
	if _, err := it.Complete(ctx, whole); err != nil {
		return err
	}
	_, err = m.store.Runs.End(ctx, ref, run.Completed, nil)
	return err
}

// tokens is prose in pieces of the length that tokens have.
func (m *measurement) tokens(n int) []string {
	var prose strings.Builder
	for i := 0; prose.Len() < n*tokenBytes; i++ {
		prose.WriteString(m.answer(i))
	}
	out := make([]string, n)
	for i := range out {
		out[i] = prose.String()[i*tokenBytes : (i+1)*tokenBytes]
	}
	return out
}

const tokenBytes = 5
