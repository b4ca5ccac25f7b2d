package samtemplate

import "gopkg.in/yaml.v3"

// choose is Fn::If.
func (r *resolver) choose(arg *yaml.Node) (*yaml.Node, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 3 {
		return nil, at(arg, "If wants a condition and two values")
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

// holds looks a named condition up.
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
	if r.depth > deepest {
		return false, at(node, "conditions go in a circle or too deep")
	}
	if name := field(node, "Condition"); name != nil && len(node.Content) == 2 {
		return r.holds(name)
	}
	call, ok := readIntrinsic(node)
	if !ok {
		return false, at(node, "a condition is wanted here")
	}
	switch call.name {
	case "Condition":
		return r.holds(call.arg)
	case "Equals":
		return r.equals(call.arg)
	case "Not":
		holds, err := r.tally(call.arg, 1, 1)
		return holds == 0, err
	case "And":
		holds, err := r.tally(call.arg, 2, 10)
		return holds == len(call.arg.Content), err
	case "Or":
		holds, err := r.tally(call.arg, 2, 10)
		return holds > 0, err
	default:
		return false, at(call.node, "condition function %s is not supported", call.name)
	}
}

func (r *resolver) equals(arg *yaml.Node) (bool, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 2 {
		return false, at(arg, "Equals wants two values")
	}
	left, err := r.evalText(arg.Content[0])
	if err != nil {
		return false, err
	}
	right, err := r.evalText(arg.Content[1])
	return left == right, err
}

// tally counts the conditions of a list that hold.
func (r *resolver) tally(arg *yaml.Node, least, most int) (int, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) < least || len(arg.Content) > most {
		return 0, at(arg, "a list of %d to %d conditions is wanted", least, most)
	}
	count := 0
	for _, item := range arg.Content {
		holds, err := r.test(item)
		if err != nil {
			return 0, err
		}
		if holds {
			count++
		}
	}
	return count, nil
}
