package samtemplate

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// LeadingKeys is the one condition key that is read: the values of the partition
// keys that a request to a table names. An index has partition keys of its own.
const LeadingKeys = "dynamodb:LeadingKeys"

// Condition compares each of a request's LeadingKeys with some values.
type Condition struct {
	// Any asks for one key at least that is among the values (ForAnyValue).
	// Otherwise all must be (ForAllValues), which holds when there is none.
	Any bool
	// Like lets * and ? in the values stand for others (StringLike in place of
	// StringEquals).
	Like   bool
	Values []string
}

// buildConditions reads a statement's Condition: operators, and below each the
// keys that it compares.
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

// operators are those of conditions, as conditions without values.
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
		for _, value := range oneOrMany(node) {
			if value.Kind != yaml.ScalarNode || value.Tag == "!!null" || strings.Contains(value.Value, "${") {
				return nil, at(value, "%s: a condition compares with text that holds no variables", id)
			}
			values = append(values, value.Value)
		}
	}
	if values == nil {
		return nil, at(operator, "%s: condition operator %s compares with nothing", id, operator.Value)
	}
	return values, nil
}
