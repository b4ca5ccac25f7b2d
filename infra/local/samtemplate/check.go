package samtemplate

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// checkAll resolves the whole template once, including parts that the local host
// does not use, so that a mistake in an alarm or an output is found before a
// deployment.
func (r *resolver) checkAll(s sections) error {
	for _, condition := range r.conditions {
		if _, err := r.test(condition); err != nil {
			return err
		}
	}
	for _, id := range r.order {
		entry := r.resources[id]
		if !slices.Contains(supportedTypes(), entry.typ) {
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

// supportedTypes lists the resource types that the local host runs, and those that it may
// ignore.
func supportedTypes() []string {
	return []string{
		typeFunction, typeTable, typeHTTPAPI, typeRESTAPI, typeWebSocketAPI, typeQueue, typeManagedPolicy,
		"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "AWS::Events::EventBus", "AWS::IAM::Role",
		"AWS::Logs::LogGroup", "AWS::Logs::MetricFilter", "AWS::ApiGateway::Account",
	}
}
