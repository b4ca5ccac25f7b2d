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

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// ErrReplaced means that go.mod replaces modules, which has no effect for others who
// use the module.
var ErrReplaced = errors.New("go.mod replaces modules")

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
	if len(mod.Replace) > 0 {
		return "", ErrReplaced
	}
	v := module.Version{Path: mod.Module.Mod.Path, Version: "v" + version}
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
