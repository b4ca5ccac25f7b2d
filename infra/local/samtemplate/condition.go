package samtemplate

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// LeadingKeys is the only supported condition key: the values of the partition
// keys in a request to a table. An index has partition keys of its own.
const LeadingKeys = "dynamodb:LeadingKeys"

// Condition compares the LeadingKeys of a request with values.
type Condition struct {
	// Any requires at least one key to be among the values (ForAnyValue). Otherwise
	// all must be (ForAllValues), which is also met without keys.
	Any bool
	// Like enables the wildcards * and ? in the values (StringLike instead of
	// StringEquals).
	Like   bool
	Values []string
}

// buildConditions reads a statement's Condition: operators, each with the keys
// that it compares.
func buildConditions(id string, node *yaml.Node) ([]Condition, error) {
	switch {
	case node.Kind == 0:
		return nil, nil
	case node.Kind != yaml.MappingNode || len(node.Content) == 0:
		return nil, at(node, "%s: a Condition needs an operator", id)
	}
	var conditions []Condition
	for operator, compared := range pairs(node) {
		c, err := readOperator(id, operator)
		if err != nil {
			return nil, err
		}
		if c.Values, err = comparedValues(id, operator, compared); err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
	}
	return conditions, nil
}

func readOperator(id string, operator *yaml.Node) (Condition, error) {
	c, ok := operators()[operator.Value]
	if !ok {
		return c, at(operator, "%s: condition operator %s is not supported", id, operator.Value)
	}
	return c, nil
}

// operators maps the supported operators to conditions without values.
func operators() map[string]Condition {
	return map[string]Condition{
		"ForAllValues:StringLike": {Like: true}, "ForAnyValue:StringLike": {Any: true, Like: true},
		"ForAnyValue:StringEquals": {Any: true},
	}
}

func comparedValues(id string, operator, compared *yaml.Node) ([]string, error) {
	if compared.Kind != yaml.MappingNode || len(compared.Content) == 0 {
		return nil, at(operator, "%s: condition operator %s needs a key", id, operator.Value)
	}
	var values []string
	for key, node := range pairs(compared) {
		if key.Value != LeadingKeys {
			return nil, at(key, "%s: condition key %s is not supported, only %s", id, key.Value, LeadingKeys)
		}
		for _, value := range listOf(node) {
			if value.Kind != yaml.ScalarNode || value.Tag == "!!null" || strings.Contains(value.Value, "${") {
				return nil, at(value, "%s: a condition's values must be strings with no variables", id)
			}
			values = append(values, value.Value)
		}
	}
	if values == nil {
		return nil, at(operator, "%s: condition operator %s needs a value", id, operator.Value)
	}
	return values, nil
}
