// Package check decides whether a version may be released from a checkout.
package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rethread/rethread/infra/tools/release/changelog"
	"github.com/rethread/rethread/infra/tools/release/checkout"
	"github.com/rethread/rethread/infra/tools/release/version"
)

// ErrOther means that another version than that of the file VERSION was asked for.
var ErrOther = errors.New("the file " + version.File + " has another version: make version VERSION=… changes it")

// Versions returns an error unless v is the repository's version, everywhere.
func Versions(root, v string) error {
	if err := version.Validate(v); err != nil {
		return err
	}
	current, err := version.Read(root)
	if err != nil {
		return err
	}
	if v != current {
		return fmt.Errorf("%s instead of %s: %w", v, current, ErrOther)
	}
	return version.Check(root, v)
}

// Release returns every reason why v cannot be released from the checkout at root, and
// the checkout's state.
func Release(ctx context.Context, root, v string) (checkout.State, error) {
	state, err := checkout.Read(ctx, root)
	if err != nil {
		return state, err
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(changelog.File)))
	if err != nil {
		return state, fmt.Errorf("read the changelog: %w", err)
	}
	return state, errors.Join(Versions(root, v), changelog.Check(string(text), v), state.Clean(), state.Free(ctx, root, "v"+v))
}
