package samtemplate

import (
	"gopkg.in/yaml.v3"
)

const maxDepth = 64 // references nested deeper are considered circular

// resolver replaces intrinsic functions with their values.
type resolver struct {
	opts       Options
	parameters map[string]*yaml.Node
	conditions map[string]*yaml.Node
	resources  map[string]resource
	order      []string // logical ids in the template's order
	globals    *yaml.Node
	depth      int
}

// resource is an entry of Resources, unresolved.
type resource struct {
	typ        string
	node       *yaml.Node
	properties *yaml.Node
	condition  string
}

func newResolver(s sections, opts Options) (*resolver, error) {
	r := &resolver{opts: opts, globals: s.globals, conditions: map[string]*yaml.Node{}, resources: map[string]resource{}}
	var err error
	if r.parameters, err = readParameters(s.parameters, opts); err != nil {
		return nil, err
	}
	for key, value := range pairs(s.conditions) {
		r.conditions[key.Value] = value
	}
	for key, value := range pairs(s.resources) {
		entry, err := readResource(key, value)
		if err != nil {
			return nil, err
		}
		r.resources[key.Value] = entry
		r.order = append(r.order, key.Value)
	}
	return r, nil
}

func readResource(key, node *yaml.Node) (resource, error) {
	entry := resource{node: key}
	for k, value := range pairs(node) {
		switch k.Value {
		case "Type":
			entry.typ = value.Value
		case "Properties":
			entry.properties = value
		case "Condition":
			entry.condition = value.Value
		case "Metadata", "DependsOn", "DeletionPolicy", "UpdateReplacePolicy":
		default:
			return entry, at(k, "resource %s: attribute %s is not supported", key.Value, k.Value)
		}
	}
	if entry.typ == "" {
		return entry, at(key, "resource %s has no Type", key.Value)
	}
	return entry, nil
}

func readParameters(node *yaml.Node, opts Options) (map[string]*yaml.Node, error) {
	values := map[string]*yaml.Node{}
	for key, spec := range pairs(node) {
		value := field(spec, "Default")
		if override, ok := opts.Defaults[key.Value]; ok {
			value = text(key, override)
		}
		if override, ok := opts.Parameters[key.Value]; ok {
			if err := checkParameter(key.Value, spec, override); err != nil {
				return nil, err
			}
			value = text(key, override)
		}
		if value == nil {
			return nil, at(key, "parameter %s has no default and no value was given", key.Value)
		}
		kind := field(spec, "Type")
		switch {
		case kind == nil:
			return nil, at(key, "parameter %s has no Type", key.Value)
		case kind.Value == "String", kind.Value == "Number":
			values[key.Value] = text(value, value.Value)
		default:
			return nil, at(kind, "parameter type %s is not supported", kind.Value)
		}
	}
	for name := range opts.Parameters {
		if _, ok := values[name]; !ok {
			return nil, &Error{Line: 1, Reason: "the template has no parameter " + name}
		}
	}
	return values, nil
}

// eval returns node with every intrinsic function replaced. A nil node means
// AWS::NoValue: the caller omits it.
func (r *resolver) eval(node *yaml.Node) (*yaml.Node, error) {
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxDepth {
		return nil, at(node, "references are circular or nested too deep")
	}
	if call, ok := readIntrinsic(node); ok {
		return r.apply(call)
	}
	switch node.Kind {
	case yaml.AliasNode:
		return r.eval(node.Alias)
	case yaml.MappingNode:
		return r.evalMapping(node)
	case yaml.SequenceNode:
		items, err := r.evalItems(node)
		return sequence(node, items), err
	case yaml.ScalarNode, yaml.DocumentNode:
	}
	return node, nil
}

func (r *resolver) evalMapping(node *yaml.Node) (*yaml.Node, error) {
	var content []*yaml.Node
	for key, value := range pairs(node) {
		if key.Tag == "!!merge" {
			return nil, at(key, "YAML merge keys are not supported")
		}
		evaluated, err := r.eval(value)
		if err != nil {
			return nil, err
		}
		if evaluated != nil {
			content = append(content, key, evaluated)
		}
	}
	return mapping(node, content), nil
}

func (r *resolver) evalItems(node *yaml.Node) ([]*yaml.Node, error) {
	var items []*yaml.Node
	for _, item := range node.Content {
		evaluated, err := r.eval(item)
		if err != nil {
			return nil, err
		}
		if evaluated != nil {
			items = append(items, evaluated)
		}
	}
	return items, nil
}

func (r *resolver) evalText(node *yaml.Node) (string, error) {
	value, err := r.eval(node)
	if err != nil {
		return "", err
	}
	if value == nil || value.Kind != yaml.ScalarNode {
		return "", at(node, "a single value is required here")
	}
	return value.Value, nil
}
