package pattern

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// test decides about a single value: a string, a number, a truth value or null.
type test func(value any) bool

func compileTest(wanted any) (test, error) {
	switch wanted := wanted.(type) {
	case map[string]any:
		return compileRule(wanted)
	case []any:
		return nil, errors.New("a list inside of a list")
	default:
		return compileExact(wanted)
	}
}

// compileExact compares numbers by value: 300, 300.0 and 3e2 are the same.
func compileExact(wanted any) (test, error) {
	number, ok := wanted.(json.Number)
	if !ok {
		return func(value any) bool { return value == wanted }, nil
	}
	want, err := readNumber(number)
	if err != nil {
		return nil, err
	}
	return onNumbers(func(value float64) bool { return value == want }), nil
}

// compileRule reads an object with a single operator.
func compileRule(rule map[string]any) (test, error) {
	if len(rule) != 1 {
		return nil, errors.New("a rule has exactly one operator")
	}
	operator, operand := only(rule)
	switch operator {
	case "anything-but":
		return compileAnythingBut(operand)
	case "numeric":
		return compileNumeric(operand)
	default:
		return compileText(operator, operand)
	}
}

// only returns the single entry of a rule.
func only(rule map[string]any) (operator string, operand any) {
	for operator, operand = range rule {
		break
	}
	return operator, operand
}

// compileText reads the operators whose operand is a string.
func compileText(operator string, operand any) (test, error) {
	want, ok := operand.(string)
	if !ok {
		return nil, fmt.Errorf("%s wants a string", operator)
	}
	switch operator {
	case "prefix":
		return onStrings(func(value string) bool { return strings.HasPrefix(value, want) }), nil
	case "suffix":
		return onStrings(func(value string) bool { return strings.HasSuffix(value, want) }), nil
	case "equals-ignore-case":
		return onStrings(func(value string) bool { return strings.EqualFold(value, want) }), nil
	default:
		return nil, fmt.Errorf("operator %s is not one of Lambda's filters", operator)
	}
}

// compileAnythingBut refuses values: one, some, or those that a text rule finds.
func compileAnythingBut(operand any) (test, error) {
	var refused []test
	switch operand := operand.(type) {
	case []any:
		for _, value := range operand {
			exact, err := compileScalar(value)
			if err != nil {
				return nil, err
			}
			refused = append(refused, exact)
		}
	case map[string]any:
		rule, err := compileRule(operand)
		if err != nil {
			return nil, fmt.Errorf("anything-but: %w", err)
		}
		refused = append(refused, rule)
	default:
		exact, err := compileScalar(operand)
		if err != nil {
			return nil, err
		}
		refused = append(refused, exact)
	}
	if len(refused) == 0 {
		return nil, errors.New("anything-but wants a value")
	}
	return func(value any) bool {
		for _, is := range refused {
			if is(value) {
				return false
			}
		}
		return true
	}, nil
}

func compileScalar(value any) (test, error) {
	switch value.(type) {
	case string, json.Number:
		return compileExact(value)
	default:
		return nil, errors.New("anything-but wants strings or numbers")
	}
}

// compileNumeric reads one comparison, or two that bound a range.
func compileNumeric(operand any) (test, error) {
	list, ok := operand.([]any)
	if !ok || (len(list) != 2 && len(list) != 4) {
		return nil, errors.New("numeric wants an operator and a number, once or twice")
	}
	var bounds []func(float64) bool
	for i := 0; i < len(list); i += 2 {
		bound, err := compileBound(list[i], list[i+1])
		if err != nil {
			return nil, err
		}
		bounds = append(bounds, bound)
	}
	return onNumbers(func(value float64) bool {
		for _, holds := range bounds {
			if !holds(value) {
				return false
			}
		}
		return true
	}), nil
}

func compileBound(operator, operand any) (func(float64) bool, error) {
	number, ok := operand.(json.Number)
	if !ok {
		return nil, errors.New("numeric wants a number after its operator")
	}
	want, err := readNumber(number)
	if err != nil {
		return nil, err
	}
	switch operator {
	case "=":
		return func(value float64) bool { return value == want }, nil
	case "<":
		return func(value float64) bool { return value < want }, nil
	case "<=":
		return func(value float64) bool { return value <= want }, nil
	case ">":
		return func(value float64) bool { return value > want }, nil
	case ">=":
		return func(value float64) bool { return value >= want }, nil
	default:
		return nil, fmt.Errorf("numeric knows =, <, <=, > and >=, not %v", operator)
	}
}

func onStrings(holds func(string) bool) test {
	return func(value any) bool {
		text, ok := value.(string)
		return ok && holds(text)
	}
}

// onNumbers looks at JSON numbers alone: the N of DynamoDB is a string, so no
// numeric rule ever holds for it, on AWS neither.
func onNumbers(holds func(float64) bool) test {
	return func(value any) bool {
		number, ok := value.(json.Number)
		if !ok {
			return false
		}
		read, err := number.Float64()
		return err == nil && holds(read)
	}
}

func readNumber(number json.Number) (float64, error) {
	value, err := number.Float64()
	if err != nil {
		return 0, fmt.Errorf("number %s is out of range", number)
	}
	return value, nil
}
