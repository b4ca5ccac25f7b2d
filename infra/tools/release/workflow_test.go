package main_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const workflowFile = root + "/.github/workflows/release.yml"

type workflow struct {
	On          map[string]any
	Permissions map[string]string
	Jobs        map[string]job
}

type job struct {
	Permissions map[string]string
	Environment string
	Needs       any
	Steps       []struct {
		Run, Uses string
		With      map[string]any
	}
}

// TestWorkflow checks what actionlint, which `make workflows` runs, does not.
func TestWorkflow(t *testing.T) {
	text := mustRead(t, workflowFile)
	t.Run("has no violations", func(t *testing.T) {
		for _, v := range violations(t, text) {
			t.Error(v)
		}
		uses := strings.Count(text, "uses: ")
		if t.Logf("%d uses of actions", uses); uses < 10 {
			t.Errorf("only %d uses of actions", uses)
		}
	})
	mutations := map[string][2]string{
		"an action that is not pinned by hash":  {"@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "@v7"},
		"a hash without its version":            {"81273ba90b1 # v7.0.1", "81273ba90b1"},
		"permissions for all jobs":              {"permissions: {}\n\nconcurrency", "permissions: {contents: read}\n\nconcurrency"},
		"a job that publishes without approval": {"    environment: pypi\n", ""},
		"a job that builds and may publish":     {"      contents: read\n", "      contents: read\n      id-token: write\n"},
		"a job that may write packages":         {"      contents: write #", "      packages: write #"},
		"an incomplete `make ci`":               {"- run: CI_ALL=1 make ci\n", "- run: make ci\n"},
		"no `make release`":                     {"make release VERSION", "make build VERSION"},
		"a token that stays in the checkout":    {"persist-credentials: false", "persist-credentials: true"},
		"a cache":                               {"          cache: false # nothing", "          cache: true # nothing"},
		"files that are published unchecked":    {"      - run: sha256sum --check --strict SHA256SUMS\n      - run: mkdir", "      - run: mkdir"},
		"a start without a tag":                 {"    tags: [\"v[0-9]+.[0-9]+.[0-9]+\"]", "    branches: [main]"},
		"a text from outside in a command":      {"make release VERSION=\"${GITHUB_REF_NAME#v}\"", "make release VERSION=${{ github.ref_name }}"},
		"npm without provenance":                {" --provenance", ""},
	}
	for name, m := range mutations {
		t.Run("refuses "+name, func(t *testing.T) {
			if changed := strings.Replace(text, m[0], m[1], 1); changed == text || len(violations(t, changed)) == 0 {
				t.Error("it passed")
			}
		})
	}
}

// violations returns what a workflow does that it must not.
func violations(t *testing.T, text string) []string {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	var out []string
	add := func(violated bool, what string) {
		if violated {
			out = append(out, what)
		}
	}
	pinned := regexp.MustCompile(`^\s+- uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for line := range strings.Lines(text) {
		add(strings.Contains(line, "uses:") && !pinned.MatchString(strings.TrimRight(line, "\n")), "not pinned: "+line)
	}
	push, _ := w.On["push"].(map[string]any)
	add(len(w.On) != 1 || len(push) != 1 || push["tags"] == nil, "it does not start with tags only")
	add(w.Permissions == nil || len(w.Permissions) > 0, "all jobs have permissions")
	add(!strings.Contains(text, " --provenance"), "npm publishes without provenance")
	allowed := map[string]string{"contents": "read", "id-token": "write", "attestations": "write"}
	for name, j := range w.Jobs {
		commands := ""
		for _, step := range j.Steps {
			commands += step.Run + "\n"
			add(strings.Contains(step.Run, "${{"), name+": an expression in a command")
			add(step.With["cache"] == true, name+": a cache")
			add(strings.Contains(step.Uses, "actions/checkout") && step.With["persist-credentials"] != false, name+": the token stays")
		}
		writes := slices.Contains(slices.Collect(maps.Values(j.Permissions)), "write")
		for permission, level := range j.Permissions {
			add(allowed[permission] != level && (name != "github" || permission != "contents"), name+": "+permission)
		}
		add(writes && j.Environment == "" && name != "attest", name+": no approval")
		add(name == "build" && (writes || !strings.Contains(commands, "CI_ALL=1 make ci\n") || !strings.Contains(commands, "make release ")), "the build")
		add(name != "build" && name != "go" && !strings.Contains(commands, "sha256sum --check --strict SHA256SUMS"), name+": unchecked files")
	}
	return out
}
