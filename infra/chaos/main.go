// Command chaos uses a whole system at random while its database fails and its
// processes are killed, and checks its promises: `make chaos`. A seed determines
// the faults and the users' actions, but not how they interleave.
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
	"time"

	"github.com/rethread/rethread/infra/local/repo"
)

var errBroken = errors.New("promises were broken")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// longestRound limits the sessions of a round, so that each can be checked
// closely.
const longestRound = 2 * time.Minute

// mostRounds limits the rounds, as a multiple of the requested time.
const mostRounds = 5

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	seed := flags.Uint64("seed", 1, "seed of the first round; each further round uses the next number")
	minutes := flags.Float64("minutes", 2, "total duration of the users' actions, in rounds of at most two minutes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := repo.Root("")
	if err != nil {
		return err
	}
	all, lasts := newTotal(), time.Duration(*minutes*float64(time.Minute))
	// A slow machine needs more rounds for as many checks.
	for spent := time.Duration(0); spent < lasts || spent < mostRounds*lasts && all.checkFloors(lasts) != nil; spent += longestRound {
		left := lasts - spent
		if left <= 0 {
			left = lasts
		}
		r := &round{seed: *seed, lasts: min(left, longestRound), root: root, out: out, dir: filepath.Join(root, "build", "chaos", fmt.Sprint(*seed))}
		if err := r.run(ctx); err != nil {
			return fmt.Errorf("seed %d: %w", *seed, err)
		}
		all.add(r)
		*seed++
	}
	return all.close(out, lasts)
}
