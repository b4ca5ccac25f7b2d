// Command peers has Rethread and other conversation stores keep the same conversations in
// the same engine, and counts the capacity units that each of them needs. It writes
// docs/benchmarks/peers.json, and the plots and the part of docs/costs.md made of it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/bench/peers/play"
	"github.com/rethread/rethread/infra/bench/peers/record"
	"github.com/rethread/rethread/infra/bench/price"
	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
	"github.com/rethread/rethread/infra/local/repo"
)

func main() {
	quick := flag.Bool("quick", false, "store 10 turns, and record nothing: shows that each peer works")
	page := flag.Bool("page", false, "only write the page and the plots from the recorded measures")
	only := flag.String("only", "", "part of the keys of the peers to measure; nothing is recorded")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *quick, *page, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, quick, page bool, only string) error {
	root, err := repo.Root("")
	if err != nil {
		return err
	}
	folder := filepath.Join(root, record.Folder)
	if page {
		r, err := record.ReadFile(filepath.Join(folder, record.DataFile))
		if err != nil {
			return err
		}
		return write(r, root)
	}
	plan := play.Full()
	if quick {
		plan = play.Quick()
	}
	r, err := measure(ctx, out, root, plan, only)
	if err != nil || quick || only != "" {
		return err
	}
	if err := r.WriteFile(filepath.Join(folder, record.DataFile)); err != nil {
		return err
	}
	return write(r, root)
}

// write writes the plots, and the page of costs from all records.
func write(r record.Record, root string) error {
	if err := r.WritePlots(root); err != nil {
		return err
	}
	return price.Write(root)
}

// measure plays the plan with the chosen peers, all in one engine. Units do not depend on
// time, so that peers are measured beside each other, except those of an answer that
// Rethread's worker stores as it comes: that is measured when the others are done.
func measure(ctx context.Context, out io.Writer, root string, plan record.Plan, only string) (record.Record, error) {
	r := record.Record{Date: time.Now().UTC().Format(time.DateOnly), Engine: "DynamoDB Local", Plan: plan}
	engine, err := dynamodblocal.Start(ctx, dynamodblocal.Options{Root: root, Separate: true})
	if err != nil {
		return r, err
	}
	defer engine.Stop()
	bench := play.Bench{Root: root, Engine: engine.Endpoint()}
	entries := slices.DeleteFunc(play.Entries(), func(e play.Entry) bool { return !strings.Contains(e.Key, only) })
	r.Peers = make([]record.Peer, len(entries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	var others sync.WaitGroup
	for _, entry := range entries {
		if !entry.Timed {
			others.Add(1)
		}
	}
	for i, entry := range entries {
		wait := func() {}
		if entry.Timed {
			wait = others.Wait
		}
		group.Go(func() error {
			if !entry.Timed {
				defer others.Done()
			}
			began := time.Now()
			var err error
			if r.Peers[i], err = one(ctx, entry, bench, plan, wait); err != nil {
				return fmt.Errorf("%s: %w", entry.Key, err)
			}
			return report(out, r.Peers[i], time.Since(began))
		})
	}
	return r, group.Wait()
}

// atOnce is how many peers are measured at the same time.
const atOnce = 4

var errUncounted = errors.New("no units were counted")

// one measures a peer.
func one(ctx context.Context, entry play.Entry, bench play.Bench, plan record.Plan, wait func()) (result record.Peer, err error) {
	packages, err := entry.Packages(bench.Root)
	if err != nil {
		return result, err
	}
	peer, err := entry.Start(ctx, bench)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, peer.Close()) }()
	if result, err = play.Play(ctx, peer, plan, wait); err != nil {
		return result, err
	}
	result.Name, result.Short, result.Packages, result.How = entry.Name, entry.Short, packages, entry.How
	first := plan.Turns[0]
	written, stored := result.At(first)
	loaded, read := result.LoadAt(first)
	if !stored || !read || written.Writes == 0 || loaded.Reads == 0 {
		return result, fmt.Errorf("%d turns, written and loaded: %w (%v)", first, errUncounted, result.Failed)
	}
	return result, entry.Check(result)
}

func report(out io.Writer, p record.Peer, took time.Duration) error {
	last := p.Curve[len(p.Curve)-1]
	_, err := fmt.Fprintf(out, "%s: %d turns %v W %v R; rewind %v, fork %v, streamed answer %v; in %v\n", p.Name,
		last.Turns, last.Usage.Writes, last.Usage.Reads, p.Rewind, p.Fork, p.Stream, took.Round(time.Second))
	if err == nil && p.Failed != nil {
		_, err = fmt.Fprintf(out, "  turn %d failed: %s\n", p.Failed.Turn, p.Failed.Error)
	}
	return err
}
