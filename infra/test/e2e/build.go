package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/rethread/rethread/infra/local/repo"
)

// Program returns the path of a program that build has made, beside the functions and
// the host: demo, doctor or redrive.
func (s *System) Program(name string) string {
	return filepath.Join(s.Root, "build", "programs", name)
}

// build puts the local host and every function's bootstrap into dir. All tests
// share the programs that `make build` links into the build folder; the go command
// does not rebuild what is up to date.
func build(ctx context.Context, root, dir string) error {
	made := filepath.Join(root, "build", "programs")
	if err := os.MkdirAll(made, 0o750); err != nil {
		return fmt.Errorf("make the folder of programs: %w", err)
	}
	lock := flock.New(made + ".lock")
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return fmt.Errorf("wait for other tests that build: %w", err)
	}
	defer lock.Close() //nolint:errcheck // the lock goes with the file
	if err := repo.Build(ctx, root, made+"/", "./functions/...", "./infra/local", "./infra/demo", "./infra/ops/doctor", "./infra/ops/redrive"); err != nil {
		return err
	}
	return install(root, made, dir)
}

// install links the programs into the folder of a host.
func install(root, programs, dir string) error {
	functions, err := filepath.Glob(filepath.Join(root, "functions", "*", "main.go"))
	if err != nil {
		return fmt.Errorf("list the functions: %w", err)
	}
	places := map[string]string{"local": filepath.Join(dir, "local")}
	for _, main := range functions {
		name := filepath.Base(filepath.Dir(main))
		places[name] = filepath.Join(dir, "functions", name, "bootstrap")
	}
	for name, place := range places {
		if err := os.MkdirAll(filepath.Dir(place), 0o750); err != nil {
			return fmt.Errorf("install %s: %w", name, err)
		}
		if err := os.Symlink(filepath.Join(programs, name), place); err != nil {
			return fmt.Errorf("install %s: %w", name, err)
		}
	}
	return nil
}
