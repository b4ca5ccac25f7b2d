package iam

import (
	"regexp"
	"strings"
)

// item is a map of attributes in DynamoDB's protocol: {"PK": {"S": "a"}}.
type item map[string]attribute

type attribute map[string]any

// addKey adds the value of a partition key, which the protocol encodes as a string
// whatever its type. Other values are not added: the engine refuses them.
func (c *call) addKey(a attribute) bool {
	for _, value := range a {
		if text, ok := value.(string); ok {
			c.keys = append(c.keys, text)
			return true
		}
	}
	return false
}

// query has the members of a Query that identify its partition. The legacy
// parameter KeyConditions is not supported.
type query struct {
	KeyConditionExpression    string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues item
}

// equality is a comparison in a key condition: name = :value. The partition key is
// always compared in this form.
var equality = regexp.MustCompile(`(#?[\w.-]+)\s*=\s*(:[\w.-]+)`)

// addPartition adds the attribute's value in the expression, and reports whether
// it was found.
func (q query) addPartition(c *call, attribute string) bool {
	for _, found := range equality.FindAllStringSubmatch(q.KeyConditionExpression, -1) {
		name, value := found[1], found[2]
		if strings.HasPrefix(name, "#") {
			name = q.ExpressionAttributeNames[name]
		}
		if name == attribute {
			return c.addKey(q.ExpressionAttributeValues[value])
		}
	}
	return false
}
