package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/bench/meter"
	"github.com/rethread/rethread/infra/bench/peers/record"
	"github.com/rethread/rethread/infra/bench/prose"
)

const (
	// TokensPerSecond is how fast models write.
	TokensPerSecond = 50
	// LossWindow is how much of an answer a crash may lose.
	LossWindow = 250 * time.Millisecond

	tokenBytes = 5
)

// Full is the plan of `make bench-peers`, and Quick that of its smoke test.
func Full() record.Plan {
	return record.Plan{Turns: []int{10, 100, 400}, Step: 10, Branch: 100, Before: 10, Tokens: 1000, Question: 300, Answer: 2000}
}

// Quick is a plan of some seconds.
func Quick() record.Plan {
	return record.Plan{Turns: []int{10}, Step: 10, Branch: 10, Before: 10, Tokens: 50, Question: 300, Answer: 2000}
}

// player plays the scenarios with one peer.
type player struct {
	Peer
	record.Plan

	out record.Peer
}

// Play measures a peer. What a peer fails to do, and a long thread that it does not load whole,
// is part of the result; an error means that a fork, a rewind or a streamed answer left other
// texts than it should, or that the peer could not be measured. wait is called
// before the answer that is streamed.
func Play(ctx context.Context, peer Peer, plan record.Plan, wait func()) (record.Peer, error) {
	p := &player{Peer: peer, Plan: plan}
	for _, part := range []func(context.Context) error{p.grow, p.branch} {
		if err := part(ctx); err != nil {
			return p.out, err
		}
	}
	wait()
	return p.out, p.answer(ctx)
}

func (p *player) turn(n int) (question, answer string) {
	return prose.Text(n, p.Question), prose.Text(-n, p.Answer)
}

// texts returns those of the first turns.
func (p *player) texts(turns int) []string {
	var all []string
	for n := 1; n <= turns; n++ {
		question, answer := p.turn(n)
		all = append(all, question, answer)
	}
	return all
}

// fill stores turns; failed is the turn that the peer could not store, and why.
func (p *player) fill(ctx context.Context, thread string, from, to int) (failed *record.Failure, err error) {
	for n := from; n <= to; n++ {
		question, answer := p.turn(n)
		err := p.Turn(ctx, thread, question, answer)
		if errors.Is(err, ErrFailed) {
			return &record.Failure{Turn: n, Error: reason(err)}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("store turn %d: %w", n, err)
		}
	}
	return nil, nil
}

// grow measures the turns of a thread, and loads it on the way.
func (p *player) grow(ctx context.Context) error {
	const thread = "growing"
	var written meter.Usage
	for done := 0; done < slices.Max(p.Turns); done += p.Step {
		var failed *record.Failure
		usage, err := p.cost(ctx, func() error {
			var err error
			failed, err = p.fill(ctx, thread, done+1, done+p.Step)
			return err
		})
		if p.out.Failed = failed; failed != nil || err != nil {
			return err
		}
		turns := done + p.Step
		written = written.Plus(usage)
		p.out.Curve = append(p.out.Curve, record.Point{Turns: turns, Usage: written})
		if !slices.Contains(p.Turns, turns) {
			continue
		}
		load := record.Point{Turns: turns}
		load.Usage, err = p.cost(ctx, func() error {
			err := p.holds(ctx, thread, p.texts(turns))
			if errors.Is(err, errOther) {
				load.Wrong = reason(err)
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("load %d turns: %w", turns, err)
		}
		p.out.Loads = append(p.out.Loads, load)
	}
	return nil
}

// branch measures a fork and a rewind.
func (p *player) branch(ctx context.Context) error {
	const thread, into = "branching", "forked"
	failed, err := p.fill(ctx, thread, 1, p.Branch)
	if err != nil {
		return err
	}
	if failed != nil {
		reason := fmt.Sprintf("turn %d was not stored: %s", failed.Turn, failed.Error)
		p.out.Fork.Error, p.out.Rewind.Error = reason, reason
		return nil
	}
	kept := p.texts(p.Branch - 1)
	if p.out.Fork, err = p.outcome(ctx, func() error { return p.Fork(ctx, thread, into) }); err != nil {
		return err
	}
	if p.out.Fork.Error == "" {
		if err := p.holds(ctx, into, kept); err != nil {
			return fmt.Errorf("the fork: %w", err)
		}
	}
	if p.out.Rewind, err = p.outcome(ctx, func() error { return p.Rewind(ctx, thread) }); err != nil || p.out.Rewind.Error != "" {
		return err
	}
	if err := p.holds(ctx, thread, kept); err != nil {
		return fmt.Errorf("after the rewind: %w", err)
	}
	return nil
}

// answer measures a streamed answer.
func (p *player) answer(ctx context.Context) error {
	const thread = "streaming"
	failed, err := p.fill(ctx, thread, 1, p.Before)
	if err != nil {
		return err
	}
	if failed != nil {
		p.out.Stream.Error = fmt.Sprintf("turn %d was not stored: %s", failed.Turn, failed.Error)
		return nil
	}
	question, _ := p.turn(p.Before + 1)
	answer := prose.Text(-p.Before-1, p.Tokens*tokenBytes)
	var tokens []string
	for token := range slices.Chunk([]byte(answer), tokenBytes) {
		tokens = append(tokens, string(token))
	}
	p.out.Stream, err = p.outcome(ctx, func() error { return p.Stream(ctx, thread, question, tokens) })
	if err != nil || p.out.Stream.Error != "" {
		return err
	}
	if err := p.holds(ctx, thread, append(p.texts(p.Before), question, answer)); err != nil {
		return fmt.Errorf("after the streamed answer: %w", err)
	}
	return nil
}

// holds fails unless a thread has these texts.
func (p *player) holds(ctx context.Context, thread string, want []string) error {
	got, err := p.Load(ctx, thread)
	if err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%w: %d texts, %d characters; %d and %d were stored", errOther,
			len(got), len(strings.Join(got, "")), len(want), len(strings.Join(want, "")))
	}
	return nil
}

// outcome measures an operation that may fail.
func (p *player) outcome(ctx context.Context, work func() error) (record.Outcome, error) {
	var failed error
	usage, err := p.cost(ctx, func() error {
		if failed = work(); !errors.Is(failed, ErrFailed) {
			return failed
		}
		return nil
	})
	out := record.Outcome{Usage: usage}
	if failed != nil {
		out.Error = reason(failed)
	}
	return out, err
}

func (p *player) cost(ctx context.Context, work func() error) (meter.Usage, error) {
	before, err := p.Usage(ctx)
	if err != nil {
		return meter.Usage{}, err
	}
	if err := work(); err != nil {
		return meter.Usage{}, err
	}
	after, err := p.Usage(ctx)
	return meter.Usage{
		Requests: after.Requests - before.Requests, Reads: after.Reads - before.Reads, Writes: after.Writes - before.Writes,
	}, err
}
