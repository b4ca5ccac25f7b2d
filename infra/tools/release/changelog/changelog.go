// Package changelog reads and moves the sections of docs/changelog.md: one for each
// version, and Unreleased above them.
package changelog

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// File is the changelog, relative to the root of the repository.
	File = "docs/changelog.md"
	// Unreleased is the section of changes that no version has yet.
	Unreleased = "Unreleased"
)

var (
	// ErrMissing means that the changelog has no section of that name.
	ErrMissing = errors.New("the changelog has no such section")
	// ErrEmpty means that a section has no entries.
	ErrEmpty = errors.New("the section of the changelog is empty")
	// ErrUnreleased means that changes have no version although one is released.
	ErrUnreleased = errors.New("the changelog has entries under Unreleased, which belong to the version")
)

// Section returns the entries of a version or of Unreleased. It returns ErrMissing or
// ErrEmpty if there are none.
func Section(text, name string) (string, error) {
	_, rest, found := strings.Cut(text, "\n## "+name+"\n")
	if !found {
		return "", fmt.Errorf("## %s: %w", name, ErrMissing)
	}
	entries, _, _ := strings.Cut(rest, "\n## ")
	if entries = strings.TrimSpace(entries); entries == "" {
		return "", fmt.Errorf("## %s: %w", name, ErrEmpty)
	}
	return entries, nil
}

// Check returns an error unless the version has entries, and all entries a version.
func Check(text, version string) error {
	_, err := Section(text, version)
	if _, none := Section(text, Unreleased); none == nil {
		err = errors.Join(err, ErrUnreleased)
	}
	return err
}

// Release returns the changelog with the entries of Unreleased as those of version.
func Release(text, version string) (string, error) {
	if _, err := Section(text, Unreleased); err != nil {
		return "", err
	}
	return strings.Replace(text, "\n## "+Unreleased+"\n", "\n## "+version+"\n", 1), nil
}
