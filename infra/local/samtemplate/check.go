package samtemplate

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// checkAll resolves everything once, the parts that nothing here uses too, so
// that a mistake in an alarm or an output shows before a deployment does.
func (r *resolver) checkAll(s sections) error {
	for _, condition := range r.conditions {
		if _, err := r.test(condition); err != nil {
			return err
		}
	}
	for _, id := range r.order {
		entry := r.resources[id]
		if !slices.Contains(known(), entry.typ) {
			return at(entry.node, "resource type %s is not supported", entry.typ)
		}
		if err := r.checkNode(entry.properties); err != nil {
			return err
		}
	}
	return r.checkNode(s.outputs)
}

func (r *resolver) checkNode(node *yaml.Node) error {
	if node == nil {
		return nil
	}
	_, err := r.eval(node)
	return err
}

// known lists the resource types that run here and those that have no part in
// a run outside of AWS.
func known() []string {
	return []string{
		typeFunction, typeTable, typeHTTPAPI, typeRESTAPI, typeWebSocketAPI, typeQueue, typeManagedPolicy,
		"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "AWS::Events::EventBus", "AWS::IAM::Role",
		"AWS::Logs::LogGroup", "AWS::ApiGateway::Account",
	}
}
