package samtemplate

import (
	"cmp"

	"gopkg.in/yaml.v3"
)

// managedPolicyProperties omits Groups, Roles and Users: functions name their
// policies, so that a function's permissions are visible in one place.
type managedPolicyProperties struct {
	Description any       `yaml:"Description"`
	Document    yaml.Node `yaml:"PolicyDocument"`
}

// buildManagedPolicy reads what a managed policy allows and denies.
func buildManagedPolicy(r *resolver, id string, entry resource) ([]Permission, error) {
	var p managedPolicyProperties
	if err := r.properties(id, entry, "", &p); err != nil {
		return nil, err
	}
	if p.Document.Kind != yaml.MappingNode {
		return nil, at(entry.node, "%s has no PolicyDocument", id)
	}
	permissions, err := buildDocument(id, &p.Document)
	if err != nil {
		return nil, err
	}
	if permissions == nil {
		return nil, at(entry.node, "%s: a managed policy needs a Statement", id)
	}
	return permissions, nil
}

// managedPolicy reads a managed policy in a function's list of policies.
func (r *resolver) managedPolicy(id string, node *yaml.Node) ([]Permission, error) {
	for _, policy := range r.order {
		entry := r.resources[policy]
		if entry.typ != typeManagedPolicy {
			continue
		}
		name, err := r.physicalName(policy, entry)
		if err != nil {
			return nil, err
		}
		if node.Value != r.policyARN(name) {
			continue
		}
		if wanted, err := r.isIncluded(entry); err != nil || !wanted {
			return nil, cmp.Or(err, at(node, "%s: the condition of policy %s is not met", id, policy))
		}
		return buildManagedPolicy(r, policy, entry)
	}
	return nil, at(node, "%s: policy %s is not supported: list its statements instead", id, node.Value)
}
