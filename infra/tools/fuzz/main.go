// Command fuzz runs the fuzz targets of the module for a time, one after the other, or
// only each third of them, from a seed on, and prints the number of inputs of each. It
// fails if a target finds a fault or runs only its seeds, or if there are fewer targets
// than expected.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rethread/rethread/infra/tools/fuzz/outcome"
)

// minTargets is the expected number of targets, so that a lost one is noticed.
const minTargets = 24

var (
	errFew   = errors.New("targets are missing")
	errIdle  = errors.New("a target ran only its seeds")
	errFound = errors.New("a target found a fault; the input is stored in the testdata of its package")
)

func main() {
	each := flag.Duration("each", 10*time.Second, "time for each target")
	only := flag.String("only", "", "a regular expression that selects targets by name")
	one := flag.Int("one-in", 1, "run one in so many targets")
	seed := flag.Int("seed", 0, "which of them: targets whose number has the same remainder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *each, *only, turn{*one, *seed}, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

// turn is one in so many targets.
type turn struct{ oneIn, seed int }

func (t turn) has(number int) bool { return (number+t.seed)%max(1, t.oneIn) == 0 }

func run(ctx context.Context, each time.Duration, only string, now turn, out io.Writer) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("read the option only: %w", err)
	}
	all, err := find(".")
	if err != nil {
		return err
	}
	if len(all) < minTargets {
		return fmt.Errorf("%w: found %d of %d", errFew, len(all), minTargets)
	}
	tried, inputs := 0, int64(0)
	for i, t := range all {
		if !wanted.MatchString(t.name) || !now.has(i) {
			continue
		}
		n, err := t.try(ctx, each, out)
		if err != nil {
			return fmt.Errorf("%s in %s: %w", t.name, t.dir, err)
		}
		tried, inputs = tried+1, inputs+n
	}
	_, err = fmt.Fprintf(out, "fuzz: %d targets ran %d inputs and found no fault\n", tried, inputs)
	return err
}

// target is a fuzz test: the folder of its package and its name.
type target struct{ dir, name string }

var declared = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(f \*testing\.F\)`)

// find lists the targets below a folder.
func find(root string) (targets []target, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == "node_modules" || name == "build" || len(name) > 1 && name[0] == '.') {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // the module's own files
		if err != nil {
			return err
		}
		for _, m := range declared.FindAllSubmatch(text, -1) {
			targets = append(targets, target{"./" + filepath.ToSlash(filepath.Dir(path)), string(m[1])})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for targets: %w", err)
	}
	return targets, nil
}

// try fuzzes one target and returns the number of inputs.
func (t target) try(ctx context.Context, each time.Duration, out io.Writer) (int64, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "test", "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime="+each.String(), t.dir)
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	n := executed(&said)
	if err != nil && !outcome.OutOfTime(said.Bytes()) {
		return n, fmt.Errorf("%w: %w\n%s", errFound, err, said.String())
	}
	if n == 0 {
		return 0, fmt.Errorf("%w:\n%s", errIdle, said.String())
	}
	_, err = fmt.Fprintf(out, "%-20s %-28s %10d inputs\n", t.name, t.dir, n)
	return n, err
}

var execs = regexp.MustCompile(`^fuzz: elapsed: .*, execs: (\d+) `)

// executed is the last count of inputs in go test's output.
func executed(said *bytes.Buffer) (n int64) {
	for lines := bufio.NewScanner(bytes.NewReader(said.Bytes())); lines.Scan(); {
		if m := execs.FindStringSubmatch(lines.Text()); m != nil {
			if count, err := strconv.ParseInt(m[1], 10, 64); err == nil {
				n = count
			}
		}
	}
	return n
}
