package play

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// own returns no packages: Rethread is what the benchmark is part of.
func own(string) ([]string, error) { return []string{"this repository"}, nil }

// ownWith returns what was used from this repository, and pinned packages of an environment.
func ownWith(environment string, packages ...string) func(string) ([]string, error) {
	return func(root string) ([]string, error) {
		found, err := pinnedIn(environment, packages...)(root)
		return append([]string{"this repository"}, found...), err
	}
}

func pinnedIn(environment string, packages ...string) func(string) ([]string, error) {
	return func(root string) ([]string, error) {
		return pinned(filepath.Join(root, Folder, "python", "requirements"+environment+".txt"), packages)
	}
}

var errUnpinned = errors.New("it is not pinned")

// pinned returns the lines of a requirements file for some packages.
func pinned(file string, packages []string) ([]string, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the repository's own
	if err != nil {
		return nil, fmt.Errorf("read the requirements: %w", err)
	}
	var found []string
	for _, name := range packages {
		line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `==\S+$`).FindString(string(text))
		if line == "" {
			return nil, fmt.Errorf("%s in %s: %w", name, filepath.Base(file), errUnpinned)
		}
		found = append(found, line)
	}
	return found, nil
}

// packagesOfNode returns the packages of package.json, without Node.js itself.
func packagesOfNode(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, Folder, "js", "package.json")) //nolint:gosec // the repository's own
	if err != nil {
		return nil, fmt.Errorf("read the packages: %w", err)
	}
	var list struct {
		Dependencies map[string]string `json:"devDependencies"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("read the packages: %w", err)
	}
	var found []string
	for name, version := range list.Dependencies {
		if strings.HasPrefix(name, "@mastra/") {
			found = append(found, name+"=="+version)
		}
	}
	slices.Sort(found)
	return found, nil
}
