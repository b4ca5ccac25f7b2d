// Command release does the parts of `make release` that are more than a call of
// another program. Its first argument is one of the commands in run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/rethread/rethread/infra/tools/release/bundle"
	"github.com/rethread/rethread/infra/tools/release/check"
	"github.com/rethread/rethread/infra/tools/release/checkout"
	"github.com/rethread/rethread/infra/tools/release/gomodule"
)

var errUsage = errors.New("usage: release check|set|notes|time|module|bundle|seal -version x.y.z …")

type options struct {
	root, version, output, programs string
	dry                             bool
	rest                            []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	var o options
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&o.root, "root", ".", "root of the repository")
	flags.StringVar(&o.version, "version", "", "the version, such as 1.2.3")
	flags.StringVar(&o.output, "output", "", "the file to write, or the folder to seal")
	flags.StringVar(&o.programs, "programs", "", "folder with a program for each function")
	flags.BoolVar(&o.dry, "dry", false, "check only that the version is the same everywhere")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	o.rest = flags.Args()
	commands := map[string]func(context.Context, options, io.Writer) error{
		"check": checkRelease, "set": set, "notes": notes, "time": printTime, "module": printModule, "bundle": writeBundle, "seal": seal,
	}
	command, known := commands[args[0]]
	if !known {
		return errUsage
	}
	return command(ctx, o, out)
}

// checkRelease fails if the version cannot be released from the checkout.
func checkRelease(ctx context.Context, o options, _ io.Writer) error {
	if o.dry {
		return check.Versions(o.root, o.version)
	}
	_, err := check.Release(ctx, o.root, o.version)
	return err
}

// printTime prints the commit's time, in seconds since 1970, for SOURCE_DATE_EPOCH.
func printTime(ctx context.Context, o options, out io.Writer) error {
	state, err := checkout.Read(ctx, o.root)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, state.Time)
	return err
}

// printModule prints what go.sum of users gets.
func printModule(ctx context.Context, o options, out io.Writer) error {
	state, err := checkout.Read(ctx, o.root)
	if err != nil {
		return err
	}
	for _, folder := range modules() {
		sums, err := gomodule.Sums(ctx, o.root, folder, state.Commit, o.version)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(out, sums); err != nil {
			return err
		}
	}
	return nil
}

// modules are the folders of the Go modules that others install.
func modules() []string { return []string{"clients/go", "clients/go/adk"} }

// writeBundle packs the functions, the template, and the files named as arguments.
func writeBundle(ctx context.Context, o options, _ io.Writer) error {
	state, err := checkout.Read(ctx, o.root)
	if err != nil {
		return err
	}
	file, err := os.Create(o.output)
	if err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	err = bundle.Write(file, bundle.Options{
		Template: o.root + "/template.yaml", Programs: o.programs, Others: o.rest,
		Folder: "rethread-" + o.version, Time: time.Unix(state.Time, 0).UTC(),
	})
	return errors.Join(err, file.Close())
}
