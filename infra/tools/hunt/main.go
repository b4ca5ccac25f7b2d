// Command hunt runs the random tests of the module with other seeds, again and
// again for a time. It fails with the first seed that finds a fault, and if a
// package draws no cases or there are fewer packages than expected.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/tools/hunt/random"
)

// minPackages is the expected number of packages, so that a lost one is noticed.
const minPackages = 20

var (
	errFew   = errors.New("packages are missing")
	errIdle  = errors.New("no cases were drawn")
	errFound = errors.New("a random test failed")
)

func main() {
	minutes := flag.Float64("minutes", 10, "how long to hunt")
	only := flag.String("only", "", "a regular expression that selects packages by folder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	h := &hunt{end: time.Now().Add(time.Duration(*minutes * float64(time.Minute))), out: os.Stdout}
	err := h.run(ctx, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hunt:", err)
		os.Exit(1)
	}
}

// hunt ends the tests that run at its end. They have found no fault.
type hunt struct {
	end time.Time
	out io.Writer
}

// program is the compiled tests of a package.
type program struct {
	random.Package
	path string
}

func (h *hunt) run(ctx context.Context, only string) error {
	programs, err := h.compile(ctx, only)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithDeadline(ctx, h.end)
	defer cancel()
	cases, rounds := 0, 0
	for ; ; rounds++ {
		for _, p := range programs {
			seed := rand.Uint64()>>1 | 1 //nolint:gosec // no secret
			n, err := h.play(ctx, p, seed)
			if cases += n; ctx.Err() != nil {
				return h.report(cases, rounds, ctx.Err())
			}
			if err != nil {
				return err
			}
		}
	}
}

// report is the end of a hunt without a fault: its time is over, or it was
// interrupted.
func (h *hunt) report(cases, rounds int, ended error) error {
	if cases == 0 {
		return fmt.Errorf("%w: %w", errIdle, ended)
	}
	_, err := fmt.Fprintf(h.out, "hunt: %d cases in %d whole rounds found no fault\n", cases, rounds)
	return err
}

func (h *hunt) compile(ctx context.Context, only string) (programs []program, err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("read the option only: %w", err)
	}
	all, err := random.Find(".")
	if err != nil {
		return nil, err
	}
	if len(all) < minPackages {
		return nil, fmt.Errorf("%w: found %d of %d", errFew, len(all), minPackages)
	}
	folder, err := filepath.Abs("build/random")
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if !wanted.MatchString(p.Dir) {
			continue
		}
		path := filepath.Join(folder, strings.ReplaceAll(p.Dir, "/", "_")+".test")
		if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", path, "./"+p.Dir).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("compile %s: %w\n%s", p.Dir, err, out)
		}
		programs = append(programs, program{p, path})
	}
	return programs, nil
}

// play runs the tests of a package with a seed, and returns their number of cases.
func (h *hunt) play(ctx context.Context, p program, seed uint64) (cases int, err error) {
	began, pattern := time.Now(), "^("+strings.Join(p.Tests, "|")+")$"
	cmd := exec.CommandContext(ctx, p.path, "-test.run="+pattern, "-test.v", "-test.timeout=1h", "-rapid.nofailfile")
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", property.Variable, seed))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	cases = random.Cases(said.Bytes())
	switch {
	case ctx.Err() != nil:
		return cases, ctx.Err()
	case err != nil:
		return cases, fmt.Errorf("%w: %w\n%s\nto repeat: %s=%d go test -v -run '%s' ./%s",
			errFound, err, said.String(), property.Variable, seed, pattern, p.Dir)
	case cases == 0:
		return 0, fmt.Errorf("%s: %w", p.Dir, errIdle)
	}
	_, err = fmt.Fprintf(h.out, "%-36s %s=%-20d %6d cases %6.1f s\n", p.Dir, property.Variable, seed, cases, time.Since(began).Seconds())
	return cases, err
}
