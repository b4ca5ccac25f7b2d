package samtemplate

import (
	"fmt"
	"os"

	"gopkg.in/yaml.v3"
)

// Options are the values that a deployment would provide.
type Options struct {
	// Parameters override the template's defaults. They must obey the template's rules.
	Parameters map[string]string
	// Defaults override the template's defaults, for the parameters that it has. The
	// rules do not hold for them: a local issuer, say, has no certificate.
	Defaults map[string]string
	// Region, Account and Stack are the values of the pseudo parameters; empty ones
	// have defaults.
	Region, Account, Stack string
}

// Load reads the template file at path.
func Load(path string, opts Options) (*Template, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the caller chooses the template
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	template, err := Parse(text, opts)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", path, err)
	}
	return template, nil
}

// Parse parses a template.
func Parse(text []byte, opts Options) (*Template, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("invalid YAML: %w", err)
	}
	if len(document.Content) == 0 {
		return nil, &Error{Line: 1, Reason: "the template is empty"}
	}
	sections, err := readSections(document.Content[0])
	if err != nil {
		return nil, err
	}
	r, err := newResolver(sections, withDefaults(opts))
	if err != nil {
		return nil, err
	}
	if err := r.checkAll(sections); err != nil {
		return nil, err
	}
	return build(r)
}

func withDefaults(opts Options) Options {
	if opts.Region == "" {
		opts.Region = "us-east-1"
	}
	if opts.Account == "" {
		opts.Account = "000000000000"
	}
	if opts.Stack == "" {
		opts.Stack = "local"
	}
	return opts
}

// sections are the parts of the document, unresolved. A missing part is nil.
type sections struct {
	transform  *yaml.Node
	globals    *yaml.Node
	parameters *yaml.Node
	conditions *yaml.Node
	resources  *yaml.Node
	outputs    *yaml.Node
}

func readSections(root *yaml.Node) (sections, error) {
	var s sections
	if root.Kind != yaml.MappingNode {
		return s, at(root, "the template is not a mapping")
	}
	targets := map[string]**yaml.Node{
		"Transform": &s.transform, "Globals": &s.globals, "Parameters": &s.parameters,
		"Conditions": &s.conditions, "Resources": &s.resources, "Outputs": &s.outputs,
	}
	for key, value := range pairs(root) {
		switch target, known := targets[key.Value]; {
		case known:
			*target = value
		case key.Value == "AWSTemplateFormatVersion", key.Value == "Description", key.Value == "Metadata":
		default:
			return s, at(key, "section %s is not supported", key.Value)
		}
	}
	if s.transform == nil || s.transform.Value != "AWS::Serverless-2016-10-31" {
		return s, at(root, "not a SAM template: Transform AWS::Serverless-2016-10-31 is missing")
	}
	if s.resources == nil {
		return s, at(root, "the template has no Resources")
	}
	return s, nil
}
