package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rethread/rethread/infra/tools/steps/play"
)

// Record is the file with what has passed. Each run in which nothing failed writes it.
const Record = "infra/tools/steps/passed.json"

// inFull is the number of trees among which one runs all steps.
const inFull = 5

// Passed are the inputs with which a step passed, and the commit before which.
type Passed struct {
	Inputs string `json:"inputs"`
	Since  string `json:"since"`
}

// Plan is what a run does with a tree.
type Plan struct {
	Seed   uint32 // of what differs from tree to tree
	Steps  []play.Step
	root   string
	before map[string]Passed // as recorded
	passed map[string]Passed // once the steps have passed
}

// Make plans a run in the checkout at root. Steps whose inputs have passed run as well
// if all is set, and for one in five trees.
func Make(ctx context.Context, root, commit string, budgets []Budgeted, all bool) (Plan, error) {
	p := Plan{root: root, passed: map[string]Passed{}}
	tree, err := Hash(ctx, root, []string{"."})
	if err != nil {
		return p, err
	}
	p.Seed = Seed(tree)
	if p.before, err = read(filepath.Join(root, Record)); err != nil {
		return p, err
	}
	for _, b := range budgets {
		s := play.Step{Name: b.Name, Kind: b.Kind, CPU: b.CPU, Cases: b.Cases}
		if len(b.Inputs) > 0 {
			inputs, err := Hash(ctx, root, b.Inputs)
			if err != nil {
				return p, err
			}
			p.passed[b.Name] = Passed{Inputs: inputs, Since: commit}
			if last, ok := p.before[b.Name]; ok && last.Inputs == inputs {
				p.passed[b.Name] = last
				if !all && p.Seed%inFull != 0 {
					s.Unchanged = last.Since
				}
			}
		}
		p.Steps = append(p.Steps, s)
	}
	return p, nil
}

// Seed returns a number from 1 on for the hash of a tree.
func Seed(tree string) uint32 {
	n, _ := strconv.ParseUint(tree[:6], 16, 32) // hexadecimal digits only
	return uint32(n)/2 + 1
}

// Keep records that the plan's steps have passed; what others have passed with stays, unless
// no budget with inputs names them.
func (p Plan) Keep() error {
	record := map[string]Passed{}
	for name := range p.passed {
		if last, ok := p.before[name]; ok {
			record[name] = last
		}
	}
	for _, s := range p.Steps {
		if passed, ok := p.passed[s.Name]; ok {
			record[s.Name] = passed
		}
	}
	text, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return fmt.Errorf("record what has passed: %w", err)
	}
	if err := os.WriteFile(filepath.Join(p.root, filepath.FromSlash(Record)), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("record what has passed: %w", err)
	}
	return nil
}

func read(file string) (passed map[string]Passed, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &passed)
	}
	if err != nil {
		return nil, fmt.Errorf("read what has passed: %w", err)
	}
	return passed, nil
}
