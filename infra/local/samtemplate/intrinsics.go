package samtemplate

import (
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// intrinsic is a call of an intrinsic function: its name without "Fn::" and
// what it is applied to.
type intrinsic struct {
	name string
	node *yaml.Node
	arg  *yaml.Node
}

// readIntrinsic recognises both forms: !Sub x and {Fn::Sub: x}.
func readIntrinsic(node *yaml.Node) (intrinsic, bool) {
	if strings.HasPrefix(node.Tag, "!") && !strings.HasPrefix(node.Tag, "!!") {
		arg := *node
		arg.Tag = ""
		return intrinsic{name: node.Tag[1:], node: node, arg: &arg}, true
	}
	if node.Kind != yaml.MappingNode || len(node.Content) != 2 {
		return intrinsic{}, false
	}
	key, arg := node.Content[0], node.Content[1]
	if name, ok := strings.CutPrefix(key.Value, "Fn::"); ok {
		return intrinsic{name: name, node: key, arg: arg}, true
	}
	if key.Value == "Ref" {
		return intrinsic{name: "Ref", node: key, arg: arg}, true
	}
	return intrinsic{}, false
}

func (r *resolver) apply(call intrinsic) (*yaml.Node, error) {
	switch call.name {
	case "Ref":
		return r.ref(call.arg)
	case "Sub":
		return r.sub(call.arg)
	case "GetAtt":
		return r.getAtt(call.arg)
	case "If":
		return r.choose(call.arg)
	case "Join":
		return r.join(call.arg)
	case "Split":
		return r.split(call.arg)
	case "Select":
		return r.pick(call.arg)
	case "Equals", "Not", "And", "Or", "Condition":
		return nil, at(call.node, "%s belongs under Conditions", call.name)
	default:
		return nil, at(call.node, "intrinsic function %s is not supported", call.name)
	}
}

func (r *resolver) ref(arg *yaml.Node) (*yaml.Node, error) {
	if arg.Kind != yaml.ScalarNode {
		return nil, at(arg, "Ref wants a name")
	}
	if arg.Value == "AWS::NoValue" {
		return nil, nil // the documented meaning of NoValue
	}
	if value, ok := r.pseudo(arg.Value); ok {
		return text(arg, value), nil
	}
	if value, ok := r.parameters[arg.Value]; ok {
		return value, nil
	}
	value, err := r.identify(arg, arg.Value)
	if err != nil {
		return nil, err
	}
	return text(arg, value), nil
}

func (r *resolver) pseudo(name string) (string, bool) {
	switch name {
	case "AWS::Region":
		return r.opts.Region, true
	case "AWS::AccountId":
		return r.opts.Account, true
	case "AWS::StackName":
		return r.opts.Stack, true
	case "AWS::Partition":
		return "aws", true
	case "AWS::URLSuffix":
		return "amazonaws.com", true
	default:
		return "", false
	}
}

func (r *resolver) getAtt(arg *yaml.Node) (*yaml.Node, error) {
	name, attribute, ok := strings.Cut(arg.Value, ".")
	if arg.Kind == yaml.SequenceNode && len(arg.Content) == 2 {
		name, attribute, ok = arg.Content[0].Value, arg.Content[1].Value, true
	}
	if !ok {
		return nil, at(arg, "GetAtt wants a resource and an attribute")
	}
	value, err := r.attribute(arg, name, attribute)
	if err != nil {
		return nil, err
	}
	return text(arg, value), nil
}

// sub fills ${Name}, ${Resource.Attribute} and the call's own variables in;
// ${!Literal} stays as ${Literal}.
func (r *resolver) sub(arg *yaml.Node) (*yaml.Node, error) {
	pattern, variables := arg, (*yaml.Node)(nil)
	if arg.Kind == yaml.SequenceNode {
		if len(arg.Content) != 2 {
			return nil, at(arg, "Sub wants a string, or a string and its variables")
		}
		pattern, variables = arg.Content[0], arg.Content[1]
	}
	var failure error
	filled := regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllStringFunc(pattern.Value, func(hole string) string {
		name := strings.TrimSpace(hole[2 : len(hole)-1])
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			return "${" + literal + "}"
		}
		value, err := r.variable(text(pattern, name), variables)
		if err != nil && failure == nil {
			failure = err
		}
		return value
	})
	return text(arg, filled), failure
}

func (r *resolver) variable(name, variables *yaml.Node) (string, error) {
	if own := field(variables, name.Value); own != nil {
		return r.evalText(own)
	}
	lookup := r.ref
	if strings.Contains(name.Value, ".") {
		lookup = r.getAtt
	}
	value, err := lookup(name)
	if err != nil {
		return "", err
	}
	if value == nil || value.Kind != yaml.ScalarNode {
		return "", at(name, "%s is not a single value", name.Value)
	}
	return value.Value, nil
}

func (r *resolver) join(arg *yaml.Node) (*yaml.Node, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 2 {
		return nil, at(arg, "Join wants a separator and a list")
	}
	list, err := r.eval(arg.Content[1])
	if err != nil {
		return nil, err
	}
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil, at(arg.Content[1], "Join wants a list")
	}
	var words []string
	for _, item := range list.Content {
		words = append(words, item.Value)
	}
	return text(arg, strings.Join(words, arg.Content[0].Value)), nil
}

func (r *resolver) split(arg *yaml.Node) (*yaml.Node, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 2 {
		return nil, at(arg, "Split wants a separator and a string")
	}
	whole, err := r.evalText(arg.Content[1])
	if err != nil {
		return nil, err
	}
	var items []*yaml.Node
	for item := range strings.SplitSeq(whole, arg.Content[0].Value) {
		items = append(items, text(arg, item))
	}
	return sequence(arg, items), nil
}

func (r *resolver) pick(arg *yaml.Node) (*yaml.Node, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 2 {
		return nil, at(arg, "Select wants an index and a list")
	}
	word, err := r.evalText(arg.Content[0])
	if err != nil {
		return nil, err
	}
	index, err := strconv.Atoi(word)
	if err != nil {
		return nil, at(arg.Content[0], "Select wants a whole number, not %s", word)
	}
	list, err := r.eval(arg.Content[1])
	if err != nil {
		return nil, err
	}
	if list == nil || index < 0 || index >= len(list.Content) {
		return nil, at(arg, "Select: the list has no item %d", index)
	}
	return list.Content[index], nil
}
