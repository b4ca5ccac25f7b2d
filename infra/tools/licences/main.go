// Command licences fails if a deployed dependency has a licence that is not
// allowed: a module of the functions, or a package of the console's page.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/rethread/rethread/infra/tools/licences/npm"
)

// allowed are licences that require only attribution and, for MPL-2.0, the
// publication of changed files of the library itself.
func allowed() []string {
	return []string{
		"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "Python-2.0", "Unlicense", "Zlib",
	}
}

func main() {
	checker := flag.String("checker", ".tools/supply/go-licenses", "the program go-licenses")
	lock := flag.String("lock", "functions/console/web/package-lock.json", "lock file of the page")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *checker, *lock, flag.Args(), os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

var (
	errFound = errors.New("deployed dependencies have licences that infra/tools/licences does not allow")
	errBlind = errors.New("go-licenses reported no problem although no licence was allowed: it checked nothing")
)

// run checks Go packages, by their patterns, and a package-lock.json.
func run(ctx context.Context, checker, lock string, packages []string, out io.Writer) error {
	text, err := os.ReadFile(lock)
	if err != nil {
		return fmt.Errorf("read the page's lock file: %w", err)
	}
	faults, shipped, err := npm.Check(text, allowed())
	if err != nil {
		return err
	}
	found, err := modules(ctx, checker, allowed(), packages)
	if err != nil {
		return err
	}
	if faults = append(found, faults...); faults != nil {
		return fmt.Errorf("%w:\n%s", errFound, strings.Join(faults, "\n"))
	}
	// It prints nothing if all is well, and also if it found no module: so it must
	// report this package when nothing is allowed.
	if found, err = modules(ctx, checker, []string{"none"}, []string{"./infra/tools/licences"}); err != nil {
		return err
	} else if found == nil {
		return errBlind
	}
	_, err = fmt.Fprintf(out, "the functions' modules and the page's %d packages have allowed licences\n", shipped)
	return err
}

// modules returns a line for each Go module in the packages, built for Lambda,
// that has another licence.
func modules(ctx context.Context, checker string, allowed, packages []string) ([]string, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output() // its packages have no licence file
	if err != nil {
		return nil, fmt.Errorf("find Go's own packages: %w", err)
	}
	args := append([]string{"check", "--allowed_licenses=" + strings.Join(allowed, ",")}, packages...)
	cmd := exec.CommandContext(ctx, checker, args...)
	cmd.Env = append(os.Environ(), "GOROOT="+strings.TrimSpace(string(root)), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=-tags=lambda.norpc")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	var found []string
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, "icense") && strings.Contains(line, " library ") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	if err != nil && found == nil {
		return nil, fmt.Errorf("%w\n%s", err, said.String())
	}
	return found, nil
}
