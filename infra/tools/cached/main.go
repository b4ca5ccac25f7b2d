// Command cached makes a file or a folder with a command, once for a user: `-result`
// appears by hard links from the cache if an earlier run with the same key has made it,
// in this clone or another one.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/rethread/rethread/infra/tools/cached/store"
)

func main() {
	cache := flag.String("cache", "", "the folder of the cache")
	result := flag.String("result", "", "the file or folder that the command makes")
	version := flag.String("version", "", "the versions of the programs that the result depends on")
	inputs := flag.String("inputs", "", "the files that the result depends on, separated by spaces")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *cache, *result, *version, strings.Fields(*inputs), flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cached:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cache, result, version string, inputs, command []string) error {
	key, err := store.Key(version, inputs)
	if err != nil {
		return err
	}
	s := store.Store{Folder: cache}
	return s.Get(filepath.Base(result)+"-"+key, result, func() error {
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
		}
		return nil
	})
}
