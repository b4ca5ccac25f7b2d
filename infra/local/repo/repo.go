// Package repo finds the root folder of the repository, which contains
// template.yaml, the build folder and the Maven project, and builds its programs.
package repo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNotFound means that neither the folder nor one above it is the root.
var ErrNotFound = errors.New("no go.mod in this folder or above: run inside the repository")

// Root returns the nearest folder, from dir upwards, that contains a go.mod. An
// empty dir means the working directory.
func Root(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the repository root: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(abs, "go.mod")); err == nil {
			return abs, nil
		}
		parent := filepath.Dir(abs)
		if parent == abs {
			return "", ErrNotFound
		}
		abs = parent
	}
}
