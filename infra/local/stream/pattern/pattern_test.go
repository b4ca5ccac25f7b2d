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
		{"fields join", `{"eventName": ["INSERT"], "dynamodb": {"Keys": {"PK": {"S": ["S#2"]}}}}`, false},
		{"a field that is not there", `{"color": ["red"]}`, false},
		{"a field of a string", `{"eventName": {"inner": ["INSERT"]}}`, false},
		{"a value where an object is", `{"dynamodb": ["INSERT"]}`, false},
		{"the empty string", `{"dynamodb": {"NewImage": {"empty": {"S": [""]}}}}`, true},
		{"the empty string is not any", `{"dynamodb": {"NewImage": {"status": {"S": [""]}}}}`, false},
		{"a truth value", `{"dynamodb": {"NewImage": {"gone": {"NULL": [true]}, "on": {"BOOL": [false]}}}}`, true},
		{"another truth value", `{"dynamodb": {"NewImage": {"on": {"BOOL": [true]}}}}`, false},
		{"DynamoDB's numbers are strings", `{"dynamodb": {"NewImage": {"count": {"N": ["12"]}}}}`, true},
		{"one of a list", `{"dynamodb": {"NewImage": {"tags": {"SS": ["green"]}}}}`, true},
		{"none of a list", `{"dynamodb": {"NewImage": {"tags": {"SS": ["blue"]}}}}`, false},
		{"an object of a list", `{"dynamodb": {"NewImage": {"list": {"L": {"S": ["a"]}}}}}`, true},
		{"one object of a list has it all", `{"dynamodb": {"NewImage": {"list": {"L": {"M": {"x": {"S": ["1"]}, "y": {"S": ["2"]}}}}}}}`, true},
		{"not two together", `{"dynamodb": {"NewImage": {"list": {"L": {"S": ["a"], "M": {"x": {"S": ["1"]}}}}}}}`, false},

		{"a prefix", `{"dynamodb": {"Keys": {"SK": {"S": [{"prefix": "E#"}]}}}}`, true},
		{"no prefix", `{"dynamodb": {"Keys": {"SK": {"S": [{"prefix": "T#"}]}}}}`, false},
		{"a prefix of a number", `{"dynamodb": {"SizeBytes": [{"prefix": "3"}]}}`, false},

		{"exists", `{"eventName": [{"exists": true}]}`, true},
		{"exists, null too", `{"nothing": [{"exists": true}]}`, true},
		{"exists not", `{"color": [{"exists": true}]}`, false},
		{"an object does not count as existing", `{"dynamodb": [{"exists": true}]}`, false},
		{"is absent", `{"color": [{"exists": false}]}`, true},
		{"is not absent", `{"eventName": [{"exists": false}]}`, false},
		{"is absent with all that holds it", `{"dynamodb": {"OldImage": {"status": {"S": [{"exists": false}]}}}}`, true},
		{"is absent from an empty list", `{"none": {"x": [{"exists": false}]}}`, true},
		{"is absent or has a value", `{"eventName": [{"exists": false}, "INSERT"]}`, true},
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
		{"no JSON", `{`},
		{"two values", `{} {}`},
		{"no object", `["INSERT"]`},
		{"a value without its list", `{"eventName": "INSERT"}`},
		{"an empty list", `{"eventName": []}`},
		{"a list in a list", `{"eventName": [["INSERT"]]}`},
		{"an operator that filters do not have", `{"eventName": [{"wildcard": "IN*"}]}`},
		{"two operators at once", `{"eventName": [{"prefix": "I", "suffix": "T"}]}`},
		{"a prefix that is no string", `{"eventName": [{"prefix": 1}]}`},
		{"null", `{"nothing": [null]}`},
		{"a number", `{"dynamodb": {"SizeBytes": [300]}}`},
		{"a suffix", `{"eventName": [{"suffix": "T"}]}`},
		{"alternatives", `{"$or": [{"eventName": ["INSERT"]}, {"eventName": ["REMOVE"]}]}`},
		{"exists with something else", `{"eventName": [{"exists": "yes"}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := pattern.Compile(test.pattern); !errors.Is(err, pattern.ErrPattern) {
				t.Errorf("got %v, want ErrPattern", err)
			}
		})
	}
}

// TestNothingIsUnused holds the operators to those that template.yaml has.
func TestNothingIsUnused(t *testing.T) {
	text, err := os.ReadFile("../../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, operator := range pattern.Operators() {
		if !strings.Contains(string(text), `[{"`+operator+`": `) {
			t.Errorf("no filter of the template has %s", operator)
		}
	}
}
