package samtemplate

import "gopkg.in/yaml.v3"

// Permission is a statement of a function's policies: all its actions on all its
// resources. Both may contain * and ?.
type Permission struct {
	// Deny means that the statement denies instead of allows.
	Deny      bool
	Actions   []string
	Resources []string
	// Conditions must all be met for the statement to apply.
	Conditions []Condition
}

type policyDocument struct {
	Version   any       `yaml:"Version"`
	ID        any       `yaml:"Id"`
	Statement yaml.Node `yaml:"Statement"`
}

type policyStatement struct {
	Effect    string    `yaml:"Effect"`
	Action    yaml.Node `yaml:"Action"`
	Resource  yaml.Node `yaml:"Resource"`
	Condition yaml.Node `yaml:"Condition"`
}

// buildPermissions reads a function's Policies: documents, and Refs to the
// template's managed policies. AWS managed policies and SAM policy templates are
// refused, because the template does not show what they allow.
func (r *resolver) buildPermissions(id string, policies *yaml.Node) ([]Permission, error) {
	var permissions []Permission
	for _, policy := range listOf(policies) {
		read := buildDocument
		if policy.Kind != yaml.MappingNode {
			read = r.managedPolicy
		}
		more, err := read(id, policy)
		if err != nil {
			return nil, err
		}
		permissions = append(permissions, more...)
	}
	return permissions, nil
}

func buildDocument(id string, node *yaml.Node) ([]Permission, error) {
	var document policyDocument
	if err := decode(node, id+".Policies", &document); err != nil {
		return nil, err
	}
	var permissions []Permission
	for _, statement := range listOf(&document.Statement) {
		permission, err := buildPermission(id, statement)
		if err != nil {
			return nil, err
		}
		permissions = append(permissions, permission)
	}
	return permissions, nil
}

func buildPermission(id string, node *yaml.Node) (Permission, error) {
	var statement policyStatement
	if err := decode(node, id+".Policies.Statement", &statement); err != nil {
		return Permission{}, err
	}
	p := Permission{
		Deny:    statement.Effect == "Deny",
		Actions: words(&statement.Action), Resources: words(&statement.Resource),
	}
	switch {
	case !p.Deny && statement.Effect != "Allow":
		return p, at(node, "%s: a statement's Effect must be Allow or Deny", id)
	case p.Actions == nil || p.Resources == nil:
		return p, at(node, "%s: a statement needs an Action and a Resource", id)
	}
	var err error
	p.Conditions, err = buildConditions(id, &statement.Condition)
	return p, err
}

// listOf returns the items of a list, or a single item given without a list;
// nothing for a missing node.
func listOf(node *yaml.Node) []*yaml.Node {
	switch node.Kind {
	case 0:
		return nil
	case yaml.SequenceNode:
		return node.Content
	default:
		return []*yaml.Node{node}
	}
}

func words(node *yaml.Node) []string {
	var values []string
	for _, item := range listOf(node) {
		values = append(values, item.Value)
	}
	return values
}
