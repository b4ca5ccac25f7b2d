package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rethread/rethread/infra/tools/release/changelog"
	"github.com/rethread/rethread/infra/tools/release/checkout"
	"github.com/rethread/rethread/infra/tools/release/provenance"
	"github.com/rethread/rethread/infra/tools/release/version"
)

// set writes the version everywhere, and moves the changelog's unreleased entries to it.
func set(_ context.Context, o options, _ io.Writer) error {
	name := filepath.Join(o.root, filepath.FromSlash(changelog.File))
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read the changelog: %w", err)
	}
	moved, err := changelog.Release(string(text), o.version)
	if err != nil {
		return err
	}
	if err := version.Set(o.root, o.version); err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(moved), 0o644); err != nil {
		return fmt.Errorf("write the changelog: %w", err)
	}
	return nil
}

// notes prints the version's section of the changelog; in a dry run that of
// Unreleased, if the version has none yet.
func notes(_ context.Context, o options, out io.Writer) error {
	text, err := os.ReadFile(filepath.Join(o.root, filepath.FromSlash(changelog.File)))
	if err != nil {
		return fmt.Errorf("read the changelog: %w", err)
	}
	entries, err := changelog.Section(string(text), o.version)
	if o.dry && errors.Is(err, changelog.ErrMissing) {
		entries, err = changelog.Section(string(text), changelog.Unreleased)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, entries)
	return err
}

// materials returns the files that pin what a release is built with.
func materials() []string {
	return []string{
		"go.mod", "go.sum", "clients/go/go.sum", "clients/go/adk/go.sum", "infra/tools/supply/go.sum", "clients/js/package-lock.json",
		"functions/console/web/package-lock.json", "clients/python/pyproject.toml", "infra/tools/release/requirements.txt",
	}
}

// seal writes the provenance of all files in the folder, and the digests of both.
func seal(ctx context.Context, o options, out io.Writer) error {
	state, err := checkout.Read(ctx, o.root)
	if err != nil {
		return err
	}
	subjects, err := provenance.Subjects(o.output)
	if err != nil {
		return err
	}
	tools := map[string]string{}
	for _, program := range [][]string{{"go", "env", "GOVERSION"}, {"node", "--version"}, {"npm", "--version"}} {
		said, err := exec.CommandContext(ctx, program[0], program[1:]...).Output()
		if err != nil {
			return fmt.Errorf("ask for the version of %s: %w", program[0], err)
		}
		tools[program[0]] = strings.TrimSpace(string(said))
	}
	statement, err := provenance.Statement(provenance.Build{
		Version: o.version, Commit: state.Commit, Root: o.root, Materials: materials(), Tools: tools,
	}, subjects)
	if err != nil {
		return err
	}
	name := "rethread-" + o.version + provenance.Suffix
	if err := os.WriteFile(filepath.Join(o.output, name), statement, 0o644); err != nil {
		return fmt.Errorf("seal the release: %w", err)
	}
	digest, err := provenance.Hash(filepath.Join(o.output, name))
	if err != nil {
		return err
	}
	sums := provenance.Checksums(append(subjects, provenance.Resource{Name: name, Digest: digest}))
	if err := os.WriteFile(filepath.Join(o.output, provenance.Sums), sums, 0o644); err != nil {
		return fmt.Errorf("seal the release: %w", err)
	}
	_, err = out.Write(sums)
	return err
}
