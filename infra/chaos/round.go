package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/rethread/rethread/infra/chaos/agent"
	"github.com/rethread/rethread/infra/chaos/check"
	"github.com/rethread/rethread/infra/chaos/faults"
	"github.com/rethread/rethread/infra/chaos/system"
	"github.com/rethread/rethread/infra/chaos/users"
	"github.com/rethread/rethread/infra/local/table"
	"github.com/rethread/rethread/shared/base/retry"
)

const (
	devices = 2 // a person
	// finishTime limits repeating a request by its key after the faults have ended.
	finishTime = time.Minute
	// betweenKills and betweenHosts are the average intervals of kills.
	betweenKills = 3 * time.Second
	betweenHosts = 45 * time.Second
	// watchPace is how often the agent is looked at.
	watchPace = 20 * time.Millisecond
)

// people are the users of a round; the last one leaves halfway through it, and the
// one before is erased at the end.
func people() []string { return []string{"ada", "ben", "cleo", "dan", "eve", "finn"} }

// round is a system that is used for a while under faults, and then checked.
type round struct {
	seed  uint64
	lasts time.Duration
	root  string
	dir   string
	out   io.Writer

	plan     *faults.Plan
	agent    *agent.Agent
	sys      *system.System
	world    *users.World
	checker  *check.Checker
	repeated int // requests repeated by key after the faults
}

func (r *round) say(format string, args ...any) { _, _ = fmt.Fprintf(r.out, format+"\n", args...) }

func (r *round) run(ctx context.Context) (err error) {
	r.say("seed %d: %s of chaos; repeat with make chaos SEED=%d MINUTES=%g", r.seed, r.lasts, r.seed, r.lasts.Minutes())
	if err := errors.Join(os.RemoveAll(r.dir), os.MkdirAll(r.dir, 0o750)); err != nil {
		return err
	}
	r.plan = faults.New(r.seed, r.lasts)
	if r.agent, err = agent.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.agent.Close()) }()
	if r.sys, err = system.Start(ctx, system.Options{Root: r.root, Dir: r.dir, Plan: r.plan, Agents: r.agent.Config()}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.sys.Stop()) }()
	if r.world, err = users.New(ctx, r.sys, people()); err != nil {
		return err
	}
	defer r.world.Watchers.Close()
	if err := r.storm(ctx); err != nil {
		return err
	}
	lease, err := time.ParseDuration(system.Lease)
	if err != nil {
		return err
	}
	r.checker = check.New(r.world, r.agent.Calls, lease)
	if err := r.examine(ctx); err != nil {
		return err
	}
	return r.report()
}

// storm runs the users' actions under faults.
func (r *round) storm(ctx context.Context) error {
	killing, stop := context.WithCancel(ctx)
	defer stop()
	killed := make(chan error, 1)
	r.plan.Begin(time.Now())
	go func() { killed <- r.kill(killing) }()
	r.world.Run(ctx, r.seed, devices, r.lasts)
	stop()
	r.plan.End()
	if err := errors.Join(ctx.Err(), <-killed); err != nil {
		return err
	}
	return r.loseWorker(ctx)
}

// loseWorker kills the worker of a run that no user interrupts, so that another worker
// must continue it. In the storm, most lost runs are cancelled or replaced before that.
func (r *round) loseWorker(ctx context.Context) error {
	if err := r.world.AskLast(ctx, r.seed); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, finishTime)
	defer stop()
	for !r.agent.Speaking() {
		if err := retry.Sleep(ctx, watchPace); err != nil {
			return fmt.Errorf("the agent does not answer: %w", err)
		}
	}
	return r.sys.KillWorkers(ctx, system.Runner)
}

// kill kills processes at random intervals until ctx ends.
func (r *round) kill(ctx context.Context) error {
	random := rand.New(rand.NewPCG(r.seed, 2)) //nolint:gosec // kills are no secret
	host := time.Now().Add(time.Duration((0.3 + 0.5*random.Float64()) * float64(min(betweenHosts, r.lasts))))
	for retry.Sleep(ctx, time.Duration(random.Int64N(int64(2*betweenKills)))) == nil {
		if time.Now().After(host) {
			host = time.Now().Add(time.Duration((0.5 + random.Float64()) * float64(betweenHosts)))
			if err := r.sys.KillHost(context.WithoutCancel(ctx)); err != nil {
				return err
			}
			continue
		}
		if err := r.sys.KillWorkers(ctx, system.Victim(random)); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// examine checks everything after the faults have ended.
func (r *round) examine(ctx context.Context) error {
	began := time.Now()
	r.repeated = r.world.Finish(ctx, finishTime)
	if err := r.checker.Settle(ctx); err != nil {
		return err
	}
	r.checker.Count("repeats", r.world.Repeat(ctx))
	r.say("  settled after %s; %d requests were repeated", time.Since(began).Round(time.Second), r.repeated)
	if err := r.checker.Sessions(ctx); err != nil {
		return err
	}
	name, err := r.sys.Table(ctx)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(r.seed, 3)) //nolint:gosec // as above
	return r.checker.Deletes(ctx, table.NewClient(r.sys.Engine, table.AccessKey), name, random)
}
