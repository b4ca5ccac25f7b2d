package samtemplate

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// intrinsic is a call of an intrinsic function: its name and its argument.
type intrinsic struct {
	name string
	node *yaml.Node
	arg  *yaml.Node
}

// readIntrinsic recognises the short form, !Sub x, the only one that the template
// uses. apply refuses the long form, {Fn::Sub: x}.
func readIntrinsic(node *yaml.Node) (intrinsic, bool) {
	if strings.HasPrefix(node.Tag, "!") && !strings.HasPrefix(node.Tag, "!!") {
		arg := *node
		arg.Tag = ""
		return intrinsic{name: node.Tag[1:], node: node, arg: &arg}, true
	}
	if node.Kind == yaml.MappingNode && len(node.Content) == 2 {
		key := node.Content[0]
		if strings.HasPrefix(key.Value, "Fn::") || key.Value == "Ref" {
			return intrinsic{name: "{" + key.Value + ": …}", node: key}, true
		}
	}
	return intrinsic{}, false
}

// intrinsics are the functions that return values; see conditionFunctions for the
// others.
func (r *resolver) intrinsics() map[string]func(*yaml.Node) (*yaml.Node, error) {
	return map[string]func(*yaml.Node) (*yaml.Node, error){
		"Ref": r.ref, "Sub": r.sub, "GetAtt": r.getAtt, "If": r.ifFunction, "Split": r.split,
	}
}

func (r *resolver) apply(call intrinsic) (*yaml.Node, error) {
	function, ok := r.intrinsics()[call.name]
	if !ok {
		return nil, at(call.node, "intrinsic function %s is not supported by the local host", call.name)
	}
	return function(call.arg)
}

func (r *resolver) ref(arg *yaml.Node) (*yaml.Node, error) {
	if arg.Kind != yaml.ScalarNode {
		return nil, at(arg, "Ref needs a name")
	}
	if arg.Value == "AWS::NoValue" {
		return nil, nil // the documented meaning of AWS::NoValue
	}
	if value, ok := r.pseudo()[arg.Value]; ok {
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

// pseudo are the values of pseudo parameters, except AWS::NoValue, which has none.
func (r *resolver) pseudo() map[string]string {
	return map[string]string{
		"AWS::Region": r.opts.Region, "AWS::AccountId": r.opts.Account, "AWS::StackName": r.opts.Stack,
		"AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com",
	}
}

func (r *resolver) getAtt(arg *yaml.Node) (*yaml.Node, error) {
	name, attribute, ok := strings.Cut(arg.Value, ".")
	if !ok {
		return nil, at(arg, "GetAtt needs a resource and an attribute")
	}
	value, err := r.attribute(arg, name, attribute)
	if err != nil {
		return nil, err
	}
	return text(arg, value), nil
}

// sub replaces ${Name} and ${Resource.Attribute}.
func (r *resolver) sub(arg *yaml.Node) (*yaml.Node, error) {
	if arg.Kind != yaml.ScalarNode {
		return nil, at(arg, "Sub needs a string")
	}
	var failure error
	filled := regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAllStringFunc(arg.Value, func(hole string) string {
		value, err := r.variable(text(arg, strings.TrimSpace(hole[2:len(hole)-1])))
		if err != nil && failure == nil {
			failure = err
		}
		return value
	})
	return text(arg, filled), failure
}

func (r *resolver) variable(name *yaml.Node) (string, error) {
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

func (r *resolver) split(arg *yaml.Node) (*yaml.Node, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 2 {
		return nil, at(arg, "Split needs a separator and a string")
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
