// Package suite says which target of the Makefile runs which tests, by the list in
// suites.txt.
package suite

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rethread/rethread/infra/tools/suites/packages"
)

//go:embed suites.txt
var text string

// List is the content of suites.txt.
type List struct {
	Slow, DynamoDB, Memory, Sampled, Plain, Sequential, Late, Unhurried []string
}

// Load returns the list of this module.
func Load() (List, error) { return Parse(text) }

// Parse reads a list.
func Parse(text string) (l List, err error) {
	kinds := map[string]*[]string{
		"slow": &l.Slow, "dynamodb": &l.DynamoDB, "memory": &l.Memory, "sampled": &l.Sampled, "plain": &l.Plain, "sequential": &l.Sequential,
		"late": &l.Late, "unhurried": &l.Unhurried,
	}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		kind := kinds[words[0]]
		if kind == nil || len(words) != 2 {
			return List{}, fmt.Errorf("line %d of the list of suites: want a kind and what it is about: %s", i+1, line)
		}
		if _, err := regexp.Compile(words[1]); err != nil {
			return List{}, fmt.Errorf("line %d of the list of suites: %w", i+1, err)
		}
		*kind = append(*kind, words[1])
	}
	return l, nil
}

// Part is what one call of `go test` runs.
type Part struct {
	Race      bool
	Run, Skip *regexp.Regexp // of names, or nil
	Packages  []string
}

// Arguments are those of `go test`.
func (p Part) Arguments() (out []string) {
	if p.Race {
		// The race detector excludes DEFLATE, which has no goroutines: instrumenting
		// its reads took most of the tests' time.
		out = append(out, "-race", "-gcflags=compress/flate=-race=false")
	}
	if p.Run != nil {
		out = append(out, "-run="+p.Run.String())
	}
	if p.Skip != nil {
		out = append(out, "-skip="+p.Skip.String())
	}
	return append(out, p.Packages...)
}

// Selects reports whether the part runs a test, example or fuzz test.
func (p Part) Selects(pkg, test string) bool {
	return slices.Contains(p.Packages, pkg) && (p.Run == nil || p.Run.MatchString(test)) && (p.Skip == nil || !p.Skip.MatchString(test))
}

// Of returns the names of the parts of a target.
func Of(target string) []string {
	return map[string][]string{
		"check":     {"check"},
		"test":      {"plain", "race", "sequential"},
		"test-slow": {"slow", "slow-race", "late", "sampled", "dynamodb"},
	}[target]
}

// Again reports whether a part runs tests that another part has run, on another engine or
// with fewer cases.
func Again(part string) bool { return part == "dynamodb" || part == "sampled" }

// Names returns the names of all parts.
func Names() []string { return slices.Concat(Of("check"), Of("test"), Of("test-slow")) }

// Part returns a part by its name.
func (l List) Part(name string, all []packages.Package) (Part, error) {
	sequential, late, both := named(l.Sequential), named(l.Late), named(l.Sequential, l.Late)
	part, known := map[string]Part{
		"check": {Skip: both}, "plain": {Skip: late}, "race": {Race: true, Skip: both}, "sequential": {Run: sequential},
		"slow": {}, "slow-race": {Race: true}, "late": {Run: late}, "sampled": {Skip: late}, "dynamodb": {Skip: named(l.Memory)},
	}[name]
	if !known {
		return Part{}, fmt.Errorf("no part of the tests is %q, only %s", name, strings.Join(Names(), ", "))
	}
	for _, p := range all {
		in, err := l.contains(name, p, part.Run)
		if err != nil {
			return Part{}, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		switch {
		case in && p.ImportPath == packages.System: // it takes longest, so it begins first
			part.Packages = slices.Insert(part.Packages, 0, p.ImportPath)
		case in:
			part.Packages = append(part.Packages, p.ImportPath)
		}
	}
	return part, nil
}

// named matches the tests of lists; it is nil without any.
func named(lists ...[]string) *regexp.Regexp {
	names := slices.Concat(lists...)
	if len(names) == 0 {
		return nil
	}
	return regexp.MustCompile("^(" + strings.Join(names, "|") + ")$")
}

// contains reports whether a part has tests of a package; of those by name, where some
// are called so.
func (l List) contains(part string, p packages.Package, names *regexp.Regexp) (bool, error) {
	folder := strings.TrimPrefix(p.ImportPath, packages.Module+"/")
	slow := slices.Contains(l.Slow, folder)
	race, err := p.Shared()
	if err != nil {
		return false, err
	}
	race = race && !slices.Contains(l.Plain, folder)
	switch part {
	case "check":
		starts, err := p.Starts()
		return !slow && !starts && !slices.Contains(l.Unhurried, folder), err
	case "late", "sequential":
		if names == nil || slow || part == "sequential" && !race {
			return false, nil
		}
		return p.HasTest(names)
	case "dynamodb":
		return slices.Contains(l.DynamoDB, folder), nil
	case "sampled":
		return slices.Contains(l.Sampled, folder), nil
	case "slow":
		return slow && !race, nil
	case "slow-race":
		return slow && race, nil
	case "race":
		return !slow && race, nil
	default: // plain
		return !slow && !race, nil
	}
}
