package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// ErrFlags means that the Makefile does not contain the flags for building
// functions.
var ErrFlags = errors.New("the Makefile has no line LAMBDA_ENV := CGO_ENABLED=0 GOFLAGS=\"…\"")

// Build builds packages, named relative to dir as for go build, into target, with
// the Makefile's flags for functions. The error contains go build's output.
func Build(ctx context.Context, dir, target string, packages ...string) error {
	root, err := Root(dir)
	if err != nil {
		return err
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile")) //nolint:gosec // the repository's own
	if err != nil {
		return fmt.Errorf("read the flags for building functions: %w", err)
	}
	flags := regexp.MustCompile(`(?m)^LAMBDA_ENV := CGO_ENABLED=0 GOFLAGS="(.*)"$`).FindSubmatch(makefile)
	if flags == nil {
		return ErrFlags
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", target}, packages...)...) //nolint:gosec // callers name what they build
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+string(flags[1]))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %v: %w\n%s", packages, err, out)
	}
	return nil
}
