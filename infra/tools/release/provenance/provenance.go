// Package provenance states from what and how the files of a release were built: an
// in-toto statement with SLSA's predicate. It is not signed and has no times, so that
// the same build gives the same statement.
package provenance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

const (
	repository    = "https://github.com/rethread/rethread"
	page          = repository + "/blob/main/docs/releasing.md"
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://slsa.dev/provenance/v1"
	// Suffix ends the names of statements, which are not subjects themselves.
	Suffix = ".intoto.json"
	// Sums is the file with the digests of all files of a release.
	Sums = "SHA256SUMS"
)

// Digest is the digests of a file or a commit, by algorithm.
type Digest map[string]string

// Resource is a file or a repository with its digest.
type Resource struct {
	Name   string `json:"name,omitempty"`
	URI    string `json:"uri,omitempty"`
	Digest Digest `json:"digest"`
}

// Build is what a release was built from.
type Build struct {
	Version, Commit string
	Root            string            // of the repository
	Materials       []string          // files that pin dependencies, relative to Root
	Tools           map[string]string // versions of the programs that the bytes depend on
}

type statement struct {
	Type          string     `json:"_type"`
	Subject       []Resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

type predicate struct {
	BuildDefinition buildDefinition `json:"buildDefinition"`
	RunDetails      runDetails      `json:"runDetails"`
}

type buildDefinition struct {
	BuildType            string            `json:"buildType"`
	ExternalParameters   map[string]string `json:"externalParameters"`
	InternalParameters   map[string]string `json:"internalParameters"`
	ResolvedDependencies []Resource        `json:"resolvedDependencies"`
}

type runDetails struct {
	Builder struct {
		ID string `json:"id"`
	} `json:"builder"`
}

// Subjects returns the files in a folder with their digests, sorted by name, without
// SHA256SUMS and statements.
func Subjects(folder string) ([]Resource, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the release: %w", err)
	}
	var out []Resource
	for _, e := range entries {
		if e.Name() == Sums || strings.HasSuffix(e.Name(), Suffix) {
			continue
		}
		digest, err := Hash(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, Resource{Name: e.Name(), Digest: digest})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// Hash returns the digest of a file.
func Hash(name string) (Digest, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("hash a file: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return nil, fmt.Errorf("hash %s: %w", name, err)
	}
	return Digest{"sha256": hex.EncodeToString(sum.Sum(nil))}, nil
}

// Statement returns the statement for the subjects as JSON.
func Statement(b Build, subjects []Resource) ([]byte, error) {
	from := []Resource{{URI: "git+" + repository + "@refs/tags/v" + b.Version, Digest: Digest{"gitCommit": b.Commit}}}
	for _, name := range b.Materials {
		digest, err := Hash(filepath.Join(b.Root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		from = append(from, Resource{Name: name, Digest: digest})
	}
	s := statement{Type: statementType, Subject: subjects, PredicateType: predicateType}
	s.Predicate.BuildDefinition = buildDefinition{
		BuildType:            page + "#build-type",
		ExternalParameters:   map[string]string{"command": "make release VERSION=" + b.Version, "version": b.Version},
		InternalParameters:   b.Tools,
		ResolvedDependencies: from,
	}
	s.Predicate.RunDetails.Builder.ID = page + "#on-your-machine"
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the provenance: %w", err)
	}
	return append(text, '\n'), nil
}

// Checksums returns the subjects in the format of sha256sum.
func Checksums(subjects []Resource) []byte {
	var out strings.Builder
	for _, s := range subjects {
		out.WriteString(s.Digest["sha256"] + "  " + s.Name + "\n")
	}
	return []byte(out.String())
}
