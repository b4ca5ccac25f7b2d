// Package version keeps the project's version in the file VERSION, and the files that
// repeat it equal to it. The contract in infra/openapi.yaml has a version of its own.
package version

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// File is the file with the version, relative to the root of the repository.
const File = "VERSION"

var (
	// ErrMalformed means that a version is not three numbers: npm, PyPI and Go write
	// everything else in different ways.
	ErrMalformed = errors.New("a version is three numbers, such as 1.2.3")
	// ErrUnequal means that a file names another version, or no longer names one.
	ErrUnequal = errors.New("it does not name the version of " + File)
)

// place is where a file repeats the version: the first group of pattern.
type place struct{ file, pattern string }

// places returns all files that repeat the version.
func places() []place {
	return []place{
		{"clients/js/package.json", `(?m)^  "version": "(.*)",$`},
		{"clients/js/package-lock.json", `\A\{\s+"name": "rethread",\s+"version": "(.*)",`},
		{"clients/js/package-lock.json", `"": \{\s+"name": "rethread",\s+"version": "(.*)",`},
		{"functions/console/web/package-lock.json", `"\.\./\.\./\.\./clients/js": \{\s+"name": "rethread",\s+"version": "(.*)",`},
		{"clients/python/src/rethread_client/__init__.py", `(?m)^__version__ = "(.*)"$`},
		{"clients/python/pyproject.toml", `(?m)^version = "(.*)"$`},
		{"clients/go/adk/go.mod", `(?m)^\tgithub\.com/rethread/rethread/clients/go v(\S+)`},
		{"go.mod", `(?m)^\tgithub\.com/rethread/rethread/clients/go v(\S+)`},
		{"shared/transport/console/entry.go", `(?m)^\tversion = "(.*)"$`},
		{"clients/js/README.md", `rethread-(\S+)\.tgz`},
		{"docs/clients.md", `rethread-(\S+)\.tgz`},
		{"docs/five-minutes.md", `rethread-(\S+)\.tgz`},
	}
}

// Files returns the files that repeat the version, relative to the root.
func Files() []string {
	var out []string
	for _, p := range places() {
		out = append(out, p.file)
	}
	return out
}

// Validate returns ErrMalformed unless v is a version.
func Validate(v string) error {
	if !regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`).MatchString(v) {
		return fmt.Errorf("version %q: %w", v, ErrMalformed)
	}
	return nil
}

// Read returns the version of the repository at root.
func Read(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, File))
	if err != nil {
		return "", fmt.Errorf("read the version: %w", err)
	}
	v := strings.TrimSpace(string(text))
	return v, Validate(v)
}

// Check returns an ErrUnequal for each place that does not name the version v.
func Check(root, v string) error {
	var all []error
	for _, p := range places() {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.file)))
		if err != nil {
			return fmt.Errorf("read a version: %w", err)
		}
		found := regexp.MustCompile(p.pattern).FindAllSubmatch(text, -1)
		if len(found) == 0 {
			all = append(all, fmt.Errorf("%s: %w: nothing matches %s", p.file, ErrUnequal, p.pattern))
		}
		for _, f := range found {
			if string(f[1]) != v {
				all = append(all, fmt.Errorf("%s: %w: %s instead of %s", p.file, ErrUnequal, f[1], v))
			}
		}
	}
	return errors.Join(all...)
}

// Set writes the version v to VERSION and to every place.
func Set(root, v string) error {
	if err := Validate(v); err != nil {
		return err
	}
	for _, p := range places() {
		name := filepath.Join(root, filepath.FromSlash(p.file))
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read a version: %w", err)
		}
		if err := write(name, replace(text, regexp.MustCompile(p.pattern), v)); err != nil {
			return err
		}
	}
	return write(filepath.Join(root, File), []byte(v+"\n"))
}

// replace returns text with v in the place of the first group of each match.
func replace(text []byte, pattern *regexp.Regexp, v string) []byte {
	var out []byte
	last := 0
	for _, at := range pattern.FindAllSubmatchIndex(text, -1) {
		out = append(append(out, text[last:at[2]]...), v...)
		last = at[3]
	}
	return append(out, text[last:]...)
}

func write(name string, text []byte) error {
	if err := os.WriteFile(name, text, 0o644); err != nil {
		return fmt.Errorf("write a version: %w", err)
	}
	return nil
}
