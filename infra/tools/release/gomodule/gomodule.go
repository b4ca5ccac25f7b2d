// Package gomodule returns what Go's proxy and checksum database make of a commit.
package gomodule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

var (
	// ErrReplaced means that go.mod replaces a module of others, which has no effect
	// for those who use the module.
	ErrReplaced = errors.New("go.mod replaces a module")
	// ErrRequired means that go.mod requires another version of a module that is
	// released with this one.
	ErrRequired = errors.New("go.mod requires another version of a module of this repository")
)

// Sums returns the two lines that go.sum of a user gets for a version, from the module
// in a folder of the repository at a commit; the folder "" is the root.
func Sums(ctx context.Context, root, folder, commit, version string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(folder), "go.mod"))
	if err != nil {
		return "", fmt.Errorf("read the module: %w", err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return "", fmt.Errorf("read the module: %w", err)
	}
	v := module.Version{Path: mod.Module.Mod.Path, Version: "v" + version}
	if err := checkReplaced(mod, v.Version); err != nil {
		return "", err
	}
	whole, err := hash(ctx, root, folder, commit, v)
	if err != nil {
		return "", fmt.Errorf("pack the module: %w", err)
	}
	alone, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
	if err != nil {
		return "", fmt.Errorf("hash go.mod: %w", err)
	}
	return fmt.Sprintf("%[1]s %[2]s %[3]s\n%[1]s %[2]s/go.mod %[4]s\n", v.Path, v.Version, whole, alone), nil
}

// checkReplaced returns an error unless each replaced module is one above this one, which
// is released with it, and required in the same version.
func checkReplaced(mod *modfile.File, version string) error {
	for _, r := range mod.Replace {
		if !strings.HasPrefix(mod.Module.Mod.Path, r.Old.Path+"/") || r.New.Version != "" {
			return fmt.Errorf("%w: %s", ErrReplaced, r.Old.Path)
		}
		for _, required := range mod.Require {
			if required.Mod.Path == r.Old.Path && required.Mod.Version != version {
				return fmt.Errorf("%w: %s", ErrRequired, required.Mod)
			}
		}
	}
	return nil
}

// hash returns the hash of the module's archive. It packs a clone, because the archive
// cannot be made from a worktree.
func hash(ctx context.Context, root, folder, commit string, v module.Version) (string, error) {
	temporary, err := os.MkdirTemp("", "rethread-module-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temporary) //nolint:errcheck // it is temporary
	clone := filepath.Join(temporary, "clone")
	cmd := exec.CommandContext(ctx, "git", "clone", "--quiet", "--no-checkout", "--shared", root, clone)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("git clone: %w: %s", err, out)
	}
	archive, err := os.Create(filepath.Join(temporary, "module.zip"))
	if err != nil {
		return "", err
	}
	if err := errors.Join(zip.CreateFromVCS(archive, v, clone, commit, folder), archive.Close()); err != nil {
		return "", err
	}
	return dirhash.HashZip(archive.Name(), dirhash.Hash1)
}
