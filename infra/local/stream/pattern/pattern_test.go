package pattern_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/local/stream/pattern"
)

const record = `{
	"eventName": "INSERT",
	"dynamodb": {
		"SizeBytes": 300,
		"Keys": {"PK": {"S": "S#1"}, "SK": {"S": "E#0001#02"}},
		"NewImage": {
			"status": {"S": "Open"}, "count": {"N": "12"}, "empty": {"S": ""}, "gone": {"NULL": true}, "on": {"BOOL": false},
			"tags": {"SS": ["red", "green"]},
			"list": {"L": [{"S": "a"}, {"M": {"x": {"S": "1"}, "y": {"S": "2"}}}]}
		}
	},
	"nothing": null,
	"none": []
}`

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		name, pattern string
		want          bool
	}{
		{"no fields match everything", `{}`, true},
		{"an exact string", `{"eventName": ["INSERT"]}`, true},
		{"another string", `{"eventName": ["REMOVE"]}`, false},
		{"another case", `{"eventName": ["insert"]}`, false},
		{"one of several", `{"eventName": ["REMOVE", "INSERT"]}`, true},
		{"all fields must match", `{"eventName": ["INSERT"], "dynamodb": {"Keys": {"PK": {"S": ["S#2"]}}}}`, false},
		{"a missing field", `{"color": ["red"]}`, false},
		{"a field of a string", `{"eventName": {"inner": ["INSERT"]}}`, false},
		{"a value for an object", `{"dynamodb": ["INSERT"]}`, false},
		{"the empty string", `{"dynamodb": {"NewImage": {"empty": {"S": [""]}}}}`, true},
		{"the empty string does not match any string", `{"dynamodb": {"NewImage": {"status": {"S": [""]}}}}`, false},
		{"a boolean", `{"dynamodb": {"NewImage": {"gone": {"NULL": [true]}, "on": {"BOOL": [false]}}}}`, true},
		{"another boolean", `{"dynamodb": {"NewImage": {"on": {"BOOL": [true]}}}}`, false},
		{"DynamoDB's numbers are strings", `{"dynamodb": {"NewImage": {"count": {"N": ["12"]}}}}`, true},
		{"one of a list", `{"dynamodb": {"NewImage": {"tags": {"SS": ["green"]}}}}`, true},
		{"none of a list", `{"dynamodb": {"NewImage": {"tags": {"SS": ["blue"]}}}}`, false},
		{"an object of a list", `{"dynamodb": {"NewImage": {"list": {"L": {"S": ["a"]}}}}}`, true},
		{"one object of a list matches all fields", `{"dynamodb": {"NewImage": {"list": {"L": {"M": {"x": {"S": ["1"]}, "y": {"S": ["2"]}}}}}}}`, true},
		{"two objects of a list do not match together", `{"dynamodb": {"NewImage": {"list": {"L": {"S": ["a"], "M": {"x": {"S": ["1"]}}}}}}}`, false},

		{"a prefix", `{"dynamodb": {"Keys": {"SK": {"S": [{"prefix": "E#"}]}}}}`, true},
		{"another prefix", `{"dynamodb": {"Keys": {"SK": {"S": [{"prefix": "T#"}]}}}}`, false},
		{"a prefix of a number", `{"dynamodb": {"SizeBytes": [{"prefix": "3"}]}}`, false},

		{"exists", `{"eventName": [{"exists": true}]}`, true},
		{"null exists", `{"nothing": [{"exists": true}]}`, true},
		{"a missing field does not exist", `{"color": [{"exists": true}]}`, false},
		{"an object does not count as existing", `{"dynamodb": [{"exists": true}]}`, false},
		{"a missing field is absent", `{"color": [{"exists": false}]}`, true},
		{"an existing field is not absent", `{"eventName": [{"exists": false}]}`, false},
		{"a field of a missing object is absent", `{"dynamodb": {"OldImage": {"status": {"S": [{"exists": false}]}}}}`, true},
		{"a field of an empty list is absent", `{"none": {"x": [{"exists": false}]}}`, true},
		{"absent or a value", `{"eventName": [{"exists": false}, "INSERT"]}`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			compiled, err := pattern.Compile(test.pattern)
			if err != nil {
				t.Fatal(err)
			}
			value, err := pattern.Decode([]byte(record))
			if err != nil {
				t.Fatal(err)
			}
			if got := compiled.Match(value); got != test.want {
				t.Errorf("%s: %v", test.pattern, got)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, test := range []struct{ name, pattern string }{
		{"invalid JSON", `{`},
		{"two values", `{} {}`},
		{"not an object", `["INSERT"]`},
		{"a value without its list", `{"eventName": "INSERT"}`},
		{"an empty list", `{"eventName": []}`},
		{"a list in a list", `{"eventName": [["INSERT"]]}`},
		{"an unsupported operator", `{"eventName": [{"wildcard": "IN*"}]}`},
		{"two operators at once", `{"eventName": [{"prefix": "I", "suffix": "T"}]}`},
		{"a prefix that is not a string", `{"eventName": [{"prefix": 1}]}`},
		{"null", `{"nothing": [null]}`},
		{"a number", `{"dynamodb": {"SizeBytes": [300]}}`},
		{"a suffix", `{"eventName": [{"suffix": "T"}]}`},
		{"alternatives", `{"$or": [{"eventName": ["INSERT"]}, {"eventName": ["REMOVE"]}]}`},
		{"exists with a string", `{"eventName": [{"exists": "yes"}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := pattern.Compile(test.pattern); !errors.Is(err, pattern.ErrPattern) {
				t.Errorf("got %v, want ErrPattern", err)
			}
		})
	}
}

// TestNothingIsUnused checks that template.yaml uses every supported operator.
func TestNothingIsUnused(t *testing.T) {
	text, err := os.ReadFile("../../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, operator := range pattern.Operators() {
		if !strings.Contains(string(text), `[{"`+operator+`": `) {
			t.Errorf("no filter of the template uses %s", operator)
		}
	}
}
