// Package store keeps what was installed, so that other clones get it by hard links.
package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Store is a folder with an entry for each key. Entries never change; several processes
// may use it at once.
type Store struct{ Folder string }

// Key returns a name for what versions of programs make of input files on this kind of
// machine.
func Key(version string, inputs []string) (string, error) {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s %s %q", runtime.GOOS, runtime.GOARCH, version)
	for _, name := range inputs {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read an input: %w", err)
		}
		_, _ = fmt.Fprintf(h, " %q %q", name, text)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:10]), nil
}

// Get replaces result by the entry, which it makes first if it is not there yet.
func (s Store) Get(entry, result string, makeIt func() error) error {
	kept := filepath.Join(s.Folder, entry)
	switch _, err := os.Lstat(kept); {
	case err == nil:
		return s.replace(result, kept)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look into the cache: %w", err)
	}
	if err := makeIt(); err != nil {
		return err
	}
	return s.keep(kept, result)
}

// replace makes the result complete before it gets its name.
func (s Store) replace(result, kept string) error {
	if err := os.MkdirAll(filepath.Dir(result), 0o750); err != nil {
		return fmt.Errorf("make the result's folder: %w", err)
	}
	scratch, err := os.MkdirTemp(filepath.Dir(result), ".new-")
	if err != nil {
		return fmt.Errorf("make the result: %w", err)
	}
	fresh := filepath.Join(scratch, "result")
	if err = link(kept, fresh); err == nil {
		if err = os.RemoveAll(result); err == nil {
			err = os.Rename(fresh, result)
		}
	}
	return errors.Join(err, os.RemoveAll(scratch))
}

// keep adds an entry. If another process has added it meanwhile, that one stays.
func (s Store) keep(kept, result string) error {
	if err := os.MkdirAll(s.Folder, 0o750); err != nil {
		return fmt.Errorf("make the cache: %w", err)
	}
	scratch, err := os.MkdirTemp(s.Folder, ".new-")
	if err != nil {
		return fmt.Errorf("add to the cache: %w", err)
	}
	fresh := filepath.Join(scratch, "entry")
	if err = link(result, fresh); err == nil {
		err = os.Rename(fresh, kept)
		if _, found := os.Lstat(kept); found == nil {
			err = nil // a folder is not renamed onto another one
		}
	}
	return errors.Join(err, os.RemoveAll(scratch))
}
