package price

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rethread/rethread/infra/bench/coldstart"
	"github.com/rethread/rethread/infra/bench/meter/scenario"
	peers "github.com/rethread/rethread/infra/bench/peers/record"
)

// MeasuresFile has what operations of the store cost.
func MeasuresFile(root string) string {
	return filepath.Join(root, "infra", "bench", "price", "measures.json")
}

// MeterFile has what whole requests cost.
func MeterFile(root string) string { return filepath.Join(root, peers.Folder, "meter.json") }

// Write writes docs/costs.md and the tables of the README, docs/search.md and
// docs/operation.md from what was measured.
func Write(root string) error {
	measures, err := ReadFile(MeasuresFile(root))
	if err != nil {
		return err
	}
	record, err := scenario.ReadFile(MeterFile(root))
	if err != nil {
		return err
	}
	others, err := peers.ReadFile(filepath.Join(root, peers.Folder, peers.DataFile))
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := Page(&page, measures, record, others); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "docs", "costs.md"), page.Bytes(), 0o644); err != nil { //nolint:gosec // all may read it
		return fmt.Errorf("write the page of costs: %w", err)
	}
	err = rewrite(filepath.Join(root, "docs", "search.md"), func(text string) (string, error) {
		return scenario.SearchPage(text, record)
	})
	if err != nil {
		return err
	}
	err = rewrite(filepath.Join(root, "docs", "operation.md"), func(text string) (string, error) {
		return coldstart.Page(text, measures.Functions)
	})
	if err != nil {
		return err
	}
	return rewrite(filepath.Join(root, "README.md"), func(text string) (string, error) {
		return Summary(text, measures, record)
	})
}

// rewrite replaces the tables of a page.
func rewrite(name string, replaced func(string) (string, error)) error {
	text, err := os.ReadFile(name) //nolint:gosec // the repository's own
	if err != nil {
		return fmt.Errorf("write the costs in %s: %w", name, err)
	}
	page, err := replaced(string(text))
	if err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(page), 0o644); err != nil { //nolint:gosec // all may read it
		return fmt.Errorf("write the costs in %s: %w", name, err)
	}
	return nil
}
