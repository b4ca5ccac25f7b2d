// Package pattern decides which records of a stream an event source mapping
// delivers. It compiles the kinds of filter patterns that template.yaml uses
// (exact strings and booleans, prefix, exists) and matches JSON values against
// them. Lambda's other kinds are errors, never silently ignored.
package pattern

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrPattern means that a filter pattern is invalid or not supported.
var ErrPattern = errors.New("invalid filter pattern")

// Pattern is a compiled filter pattern.
type Pattern struct{ root node }

// node is a part of a pattern.
type node interface {
	// matches is called with a field's value, or nil if the field is missing.
	matches(value *any) bool
}

// Compile compiles a pattern, a JSON object. Errors wrap ErrPattern.
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

// Match reports whether a JSON value, as decoded by Decode, matches the pattern.
func (p *Pattern) Match(value any) bool { return p.root.matches(&value) }

// Decode decodes a JSON value for Match, with numbers as json.Number.
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
			return nil, errors.New("$or is not supported by the local host")
		}
		inner, err := compileLeaf(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return field{name: name, inner: inner}, nil
	default:
		return nil, fmt.Errorf("%s: an object or a list of values is required", name)
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
				return nil, errors.New("exists needs true or false")
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
