package samtemplate

import "gopkg.in/yaml.v3"

// ifFunction implements Fn::If.
func (r *resolver) ifFunction(arg *yaml.Node) (*yaml.Node, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 3 {
		return nil, at(arg, "If needs a condition and two values")
	}
	holds, err := r.holds(arg.Content[0])
	if err != nil {
		return nil, err
	}
	if holds {
		return r.eval(arg.Content[1])
	}
	return r.eval(arg.Content[2])
}

// holds evaluates a named condition.
func (r *resolver) holds(name *yaml.Node) (bool, error) {
	condition, ok := r.conditions[name.Value]
	if !ok {
		return false, at(name, "condition %s is not defined", name.Value)
	}
	return r.test(condition)
}

func (r *resolver) test(node *yaml.Node) (bool, error) {
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxDepth {
		return false, at(node, "conditions are circular or nested too deep")
	}
	call, ok := readIntrinsic(node)
	if !ok {
		return false, at(node, "a condition is required here")
	}
	function, ok := r.conditionFunctions()[call.name]
	if !ok {
		return false, at(call.node, "condition function %s is not supported by the local host", call.name)
	}
	return function(call.arg)
}

// conditionFunctions are the functions that may appear under Conditions.
func (r *resolver) conditionFunctions() map[string]func(*yaml.Node) (bool, error) {
	return map[string]func(*yaml.Node) (bool, error){"Equals": r.equals, "Not": r.not}
}

func (r *resolver) not(arg *yaml.Node) (bool, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 1 {
		return false, at(arg, "Not needs a list of one condition")
	}
	holds, err := r.test(arg.Content[0])
	return !holds, err
}

func (r *resolver) equals(arg *yaml.Node) (bool, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 2 {
		return false, at(arg, "Equals needs two values")
	}
	left, err := r.evalText(arg.Content[0])
	if err != nil {
		return false, err
	}
	right, err := r.evalText(arg.Content[1])
	return left == right, err
}
