package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/tools/steps/plan"
)

const root = "../../.."

func TestBudgets(t *testing.T) {
	t.Parallel()
	all, err := plan.Budgets("budget.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Errorf("only %d steps", len(all))
	}
	var rows []string
	makefile, inputs := mustRead(t, "Makefile"), 0
	for _, name := range []string{"build", "test", "bench", "release"} {
		makefile += mustRead(t, "infra/make/"+name+".mk")
	}
	for _, b := range all {
		if !strings.Contains(makefile, "\n"+b.Name+": ") {
			t.Errorf("the Makefile and infra/make have no target %s", b.Name)
		}
		for _, path := range b.Inputs {
			inputs++
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("an input of %s: %v", b.Name, err)
			}
		}
		when := string(b.Kind)
		if len(b.Inputs) > 0 {
			when += ", if changed"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %.0f | %d |", b.Name, when, b.CPU, b.Cases))
	}
	if inputs < 10 {
		t.Errorf("only %d inputs", inputs)
	}
	documented := regexp.MustCompile("(?m)^\\| `[a-z-]+` \\| (?:first|computes|waits).*\\|").FindAllString(mustRead(t, "docs/reliability.md"), -1)
	for i, row := range documented {
		documented[i] = strings.Join(strings.SplitAfterN(row, "|", 6)[:5], "")
	}
	if diff := cmp.Diff(rows, documented); diff != "" {
		t.Errorf("docs/reliability.md has another table (-want +got):\n%s", diff)
	}
}

func mustRead(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
