// Package plan says which steps the proof of a tree has.
package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/rethread/rethread/infra/tools/steps/play"
)

var errBudget = errors.New("the budget is wrong")

// Budgeted is a step in the file of budgets.
type Budgeted struct {
	Name   string    `json:"name"`
	Kind   play.Kind `json:"kind"`
	CPU    float64   `json:"cpu"`
	Cases  int       `json:"cases"`
	Inputs []string  `json:"inputs"` // it runs if one of them differs from when it last passed; without any, always
}

// Budgets reads the file of budgets.
func Budgets(file string) ([]Budgeted, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the budgets: %w", err)
	}
	var all []Budgeted
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("read the budgets: %w", err)
	}
	for _, b := range all {
		if b.Name == "" || b.CPU <= 0 || b.Kind != play.First && b.Kind != play.Computes && b.Kind != play.Waits {
			return nil, fmt.Errorf("%w: %+v", errBudget, b)
		}
	}
	return all, nil
}
