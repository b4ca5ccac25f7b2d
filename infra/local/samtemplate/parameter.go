package samtemplate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"
)

// parameterRules are what a template demands of a parameter's value.
type parameterRules struct {
	Type                  string   `yaml:"Type"`
	AllowedPattern        string   `yaml:"AllowedPattern"`
	AllowedValues         []string `yaml:"AllowedValues"`
	MinValue              *float64 `yaml:"MinValue"`
	MaxValue              *float64 `yaml:"MaxValue"`
	MinLength             int      `yaml:"MinLength"`
	MaxLength             *int     `yaml:"MaxLength"`
	ConstraintDescription string   `yaml:"ConstraintDescription"`
}

// checkParameter refuses a value that CloudFormation would refuse, so that no system
// starts whose functions cannot.
func checkParameter(name string, spec *yaml.Node, value string) error {
	var rules parameterRules
	if err := spec.Decode(&rules); err != nil {
		return at(spec, "parameter %s: %v", name, err)
	}
	broken, err := rules.broken(value)
	if err != nil {
		return at(spec, "parameter %s: %v", name, err)
	}
	if broken == "" {
		return nil
	}
	if rules.ConstraintDescription != "" {
		broken = rules.ConstraintDescription
	}
	return at(spec, "parameter %s cannot be %q: it must be %s", name, value, broken)
}

// broken says what the value must be, "" if it obeys all rules.
func (r parameterRules) broken(value string) (string, error) {
	if r.AllowedPattern != "" {
		pattern, err := regexp.Compile(`^(?:` + r.AllowedPattern + `)$`)
		if err != nil {
			return "", fmt.Errorf("AllowedPattern: %w", err)
		}
		if !pattern.MatchString(value) {
			return "text that matches " + r.AllowedPattern, nil
		}
	}
	if r.AllowedValues != nil && !slices.Contains(r.AllowedValues, value) {
		return fmt.Sprintf("one of %q", r.AllowedValues), nil
	}
	if length := len([]rune(value)); length < r.MinLength || r.MaxLength != nil && length > *r.MaxLength {
		return "of another length", nil
	}
	if r.Type != "Number" {
		return "", nil
	}
	number, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil:
		return "a number", nil //nolint:nilerr // the value is what is wrong
	case r.MinValue != nil && number < *r.MinValue:
		return fmt.Sprintf("at least %v", *r.MinValue), nil
	case r.MaxValue != nil && number > *r.MaxValue:
		return fmt.Sprintf("at most %v", *r.MaxValue), nil
	}
	return "", nil
}
