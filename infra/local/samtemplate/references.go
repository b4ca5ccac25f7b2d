package samtemplate

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// nameProperties maps a resource type to the property with its physical name.
// Without that property the name is the logical id, where CloudFormation would
// generate a name.
func nameProperties() map[string]string {
	return map[string]string{
		typeTable: "TableName", "AWS::Events::EventBus": "Name", "AWS::Logs::LogGroup": "LogGroupName",
	}
}

func (r *resolver) physicalName(id string, entry resource) (string, error) {
	if node := field(entry.properties, nameProperties()[entry.typ]); node != nil {
		return r.evalText(node)
	}
	if fifo := field(entry.properties, "FifoQueue"); entry.typ == typeQueue && fifo != nil {
		is, err := r.evalText(fifo)
		if err == nil && strings.EqualFold(is, "true") {
			return id + fifoSuffix, nil // as in CloudFormation's generated names
		}
		return id, err
	}
	return id, nil
}

// identify returns what Ref returns for a resource.
func (r *resolver) identify(node *yaml.Node, id string) (string, error) {
	entry, ok := r.resources[id]
	if !ok {
		if r.generated(id) {
			return id, nil
		}
		return "", at(node, "%s is neither a parameter nor a resource", id)
	}
	name, err := r.physicalName(id, entry)
	if err != nil {
		return "", err
	}
	switch entry.typ {
	case typeQueue:
		return r.queueURL(name), nil
	case typeManagedPolicy:
		return r.policyARN(name), nil
	default:
		return name, nil
	}
}

// generated reports whether SAM adds the resource itself: a function's role.
func (r *resolver) generated(id string) bool {
	owner, ok := strings.CutSuffix(id, "Role")
	return ok && r.resources[owner].typ == "AWS::Serverless::Function"
}

// attribute returns what GetAtt returns.
func (r *resolver) attribute(node *yaml.Node, id, attribute string) (string, error) {
	entry, ok := r.resources[id]
	if !ok && r.generated(id) {
		entry = resource{typ: "AWS::IAM::Role"}
	} else if !ok {
		return "", at(node, "%s is not a resource", id)
	}
	name, err := r.physicalName(id, entry)
	if err != nil {
		return "", err
	}
	value, ok := r.attributes(name)[entry.typ+"."+attribute]
	if !ok {
		return "", at(node, "attribute %s of %s is not supported", attribute, entry.typ)
	}
	return value, nil
}

// attributes are GetAtt's values for a resource of that name, by type and
// attribute.
func (r *resolver) attributes(name string) map[string]string {
	return map[string]string{
		typeFunction + ".Arn":       r.arn("lambda", "function:"+name),
		typeTable + ".Arn":          r.arn("dynamodb", "table/"+name),
		typeTable + ".StreamArn":    r.arn("dynamodb", "table/"+name+"/stream/latest"),
		typeQueue + ".Arn":          r.arn("sqs", name),
		typeQueue + ".QueueName":    name,
		"AWS::Events::EventBus.Arn": r.arn("events", "event-bus/"+name),
		"AWS::Logs::LogGroup.Arn":   r.arn("logs", "log-group:"+name+":*"),
		"AWS::IAM::Role.Arn":        fmt.Sprintf("arn:aws:iam::%s:role/%s", r.opts.Account, name),
	}
}

func (r *resolver) arn(service, rest string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, r.opts.Region, r.opts.Account, rest)
}

// policyARN has no region, because IAM is global.
func (r *resolver) policyARN(name string) string {
	return fmt.Sprintf("arn:aws:iam::%s:policy/%s", r.opts.Account, name)
}

func (r *resolver) queueURL(name string) string {
	return fmt.Sprintf("https://sqs.%s.amazonaws.com/%s/%s", r.opts.Region, r.opts.Account, name)
}

// logicalID returns the resource of that type that a resolved value refers to by
// its name, its ARN or, for a table, its stream's ARN.
func (r *resolver) logicalID(node *yaml.Node, typ, value string) (string, error) {
	for _, id := range r.order {
		if r.resources[id].typ != typ {
			continue
		}
		name, err := r.physicalName(id, r.resources[id])
		if err != nil {
			return "", err
		}
		last := value[strings.LastIndex(value, ":")+1:]
		if last == name || last == "table/"+name || last == "table/"+name+"/stream/latest" {
			return id, nil
		}
	}
	return "", at(node, "%s is not an %s of this template", value, typ)
}
