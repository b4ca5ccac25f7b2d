package pattern

import (
	"errors"
	"fmt"
	"strings"
)

// test decides about a single value: a string, a number, a boolean or null.
type test func(value any) bool

func compileTest(wanted any) (test, error) {
	switch wanted := wanted.(type) {
	case map[string]any:
		return compileRule(wanted)
	case string, bool:
		return func(value any) bool { return value == wanted }, nil
	default:
		return nil, fmt.Errorf("%v: only strings, booleans and rules are supported by the local host", wanted)
	}
}

// rules are the operators with a string operand, that is, all except exists.
func rules() map[string]func(value, operand string) bool {
	return map[string]func(string, string) bool{"prefix": strings.HasPrefix}
}

// compileRule compiles an object with a single operator.
func compileRule(rule map[string]any) (test, error) {
	if len(rule) != 1 {
		return nil, errors.New("a rule has exactly one operator")
	}
	operator, operand := only(rule)
	holds, ok := rules()[operator]
	if !ok {
		return nil, fmt.Errorf("operator %s is not supported by the local host", operator)
	}
	want, ok := operand.(string)
	if !ok {
		return nil, fmt.Errorf("%s needs a string", operator)
	}
	return func(value any) bool {
		text, ok := value.(string)
		return ok && holds(text, want)
	}, nil
}

// only returns the single entry of a rule.
func only(rule map[string]any) (operator string, operand any) {
	for operator, operand = range rule {
		break
	}
	return operator, operand
}
