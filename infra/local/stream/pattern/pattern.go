// Package pattern decides which records of a stream an event source mapping
// hands to its function: it compiles filter patterns as far as template.yaml uses
// them (exact strings and truth values, prefix, exists) and matches JSON values
// against them. What else Lambda knows is an error, never a silent miss.
package pattern

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrPattern says that a pattern is not one that Lambda understands.
var ErrPattern = errors.New("bad filter pattern")

// Pattern is a compiled filter pattern.
type Pattern struct{ root node }

// node is a part of a pattern.
type node interface {
	// matches is asked about a field's value; nil means that it is not there.
	matches(value *any) bool
}

// Compile reads a pattern, a JSON object. Errors wrap ErrPattern.
func Compile(text string) (*Pattern, error) {
	parsed, err := Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPattern, err)
	}
	fields, ok := parsed.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w: it must be an object", ErrPattern)
	}
	root, err := compileObject(fields)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPattern, err)
	}
	return &Pattern{root: root}, nil
}

// Match reports whether a JSON value, as Decode reads it, has what the pattern
// asks for.
func (p *Pattern) Match(value any) bool { return p.root.matches(&value) }

// Decode reads a JSON value as Match wants it: its numbers as json.Number.
func Decode(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, errors.New("more than one JSON value")
	}
	return value, nil
}

func compileObject(fields map[string]any) (node, error) {
	var parts all
	for name, value := range fields {
		part, err := compileField(name, value)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func compileField(name string, value any) (node, error) {
	switch value := value.(type) {
	case map[string]any:
		inner, err := compileObject(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return field{name: name, inner: inner}, nil
	case []any:
		if name == "$or" {
			return nil, errors.New("$or is not supported here")
		}
		inner, err := compileLeaf(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return field{name: name, inner: inner}, nil
	default:
		return nil, fmt.Errorf("%s: an object or a list of values is wanted", name)
	}
}

func compileLeaf(wanted []any) (node, error) {
	if len(wanted) == 0 {
		return nil, errors.New("an empty list matches nothing")
	}
	var l leaf
	for _, value := range wanted {
		if rule, ok := value.(map[string]any); ok && isExists(rule) {
			exists, ok := rule["exists"].(bool)
			if !ok {
				return nil, errors.New("exists wants true or false")
			}
			l.present, l.absent = l.present || exists, l.absent || !exists
			continue
		}
		test, err := compileTest(value)
		if err != nil {
			return nil, err
		}
		l.tests = append(l.tests, test)
	}
	return l, nil
}

func isExists(rule map[string]any) bool {
	_, ok := rule["exists"]
	return ok && len(rule) == 1
}
