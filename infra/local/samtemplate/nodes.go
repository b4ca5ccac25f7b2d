package samtemplate

import (
	"iter"

	"gopkg.in/yaml.v3"
)

// pairs yields a mapping's keys and values, and nothing for any other node.
func pairs(node *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(*yaml.Node, *yaml.Node) bool) {
		if node == nil || node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i], node.Content[i+1]) {
				return
			}
		}
	}
}

// field returns the value of a mapping's key, or nil.
func field(node *yaml.Node, name string) *yaml.Node {
	for key, value := range pairs(node) {
		if key.Value == name {
			return value
		}
	}
	return nil
}

// text returns a string in place of node.
func text(node *yaml.Node, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: node.Line, Column: node.Column}
}

func sequence(node *yaml.Node, items []*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items, Line: node.Line, Column: node.Column}
}

func mapping(node *yaml.Node, content []*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: content, Line: node.Line, Column: node.Column}
}

// merge merges a resource's properties over the Globals of its type, like SAM:
// mappings are merged, lists concatenated, and other values replaced.
func merge(global, own *yaml.Node) *yaml.Node {
	switch {
	case global == nil:
		return own
	case own == nil:
		return global
	case global.Kind == yaml.MappingNode && own.Kind == yaml.MappingNode:
		return mergeMappings(global, own)
	case global.Kind == yaml.SequenceNode && own.Kind == yaml.SequenceNode:
		return sequence(own, append(append([]*yaml.Node{}, global.Content...), own.Content...))
	default:
		return own
	}
}

func mergeMappings(global, own *yaml.Node) *yaml.Node {
	var content []*yaml.Node
	for key, value := range pairs(global) {
		content = append(content, key, merge(value, field(own, key.Value)))
	}
	for key, value := range pairs(own) {
		if field(global, key.Value) == nil {
			content = append(content, key, value)
		}
	}
	return mapping(own, content)
}
