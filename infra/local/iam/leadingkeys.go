package iam

import (
	"regexp"
	"strings"
)

// item is attributes as DynamoDB's protocol has them: {"PK": {"S": "a"}}.
type item map[string]attribute

type attribute map[string]any

// addKey adds the value of a partition key, which is a text in the protocol
// whatever its type. What is no such value adds nothing: the engine refuses it.
func (c *call) addKey(a attribute) bool {
	for _, value := range a {
		if text, ok := value.(string); ok {
			c.keys = append(c.keys, text)
			return true
		}
	}
	return false
}

// query is what of a Query tells the partition that it reads. The parameter that
// was there before expressions, KeyConditions, is not understood.
type query struct {
	KeyConditionExpression    string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues item
}

// equality is a comparison in a key condition: name = :value. The one of the
// partition key is always such.
var equality = regexp.MustCompile(`(#?[\w.-]+)\s*=\s*(:[\w.-]+)`)

// addPartition adds the value that the expression wants of the attribute, and
// reports whether it could be told.
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
