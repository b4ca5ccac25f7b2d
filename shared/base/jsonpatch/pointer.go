package jsonpatch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// tokens splits a JSON pointer (RFC 6901).
func tokens(pointer *string) ([]string, error) {
	switch {
	case pointer == nil, *pointer != "" && (*pointer)[0] != '/':
		return nil, ErrMalformed
	case *pointer == "":
		return nil, nil
	}
	out := strings.Split((*pointer)[1:], "/")
	for i, token := range out {
		out[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return out, nil
}

// get returns the value at a path.
func get(node any, path []string) (any, error) {
	for _, token := range path {
		switch parent := node.(type) {
		case map[string]any:
			value, ok := parent[token]
			if !ok {
				return nil, missing(token)
			}
			node = value
		case []any:
			i, err := index(token, len(parent))
			if err != nil {
				return nil, err
			}
			node = parent[i]
		default:
			return nil, missing(token)
		}
	}
	return node, nil
}

func missing(token string) error { return fmt.Errorf("%q %w", token, ErrPath) }

// index parses an index below length: digits without leading zeros.
func index(token string, length int) (int, error) {
	i, err := strconv.Atoi(token)
	if err != nil || strconv.Itoa(i) != token || i < 0 || i >= length {
		return 0, missing(token)
	}
	return i, nil
}

// edit replaces the parent of a path's value, and stores it where it was.
func (d *document) edit(path []string, change func(parent any, token string) (any, error)) error {
	at, last := path[:len(path)-1], path[len(path)-1]
	parent, err := get(d.root, at)
	if err != nil {
		return err
	}
	changed, err := change(parent, last)
	if err != nil {
		return err
	}
	if len(at) == 0 {
		d.root = changed
		return nil
	}
	holder, err := get(d.root, at[:len(at)-1])
	if err != nil {
		return err
	}
	_, err = put(holder, at[len(at)-1], changed, false)
	return err
}

// put sets a value in its parent, and returns the parent. In an array it is inserted or
// takes the place of another.
func put(parent any, token string, value any, insert bool) (any, error) {
	switch p := parent.(type) {
	case map[string]any:
		p[token] = value
		return p, nil
	case []any:
		if insert && token == "-" {
			return append(p, value), nil
		}
		length := len(p)
		if insert {
			length++
		}
		i, err := index(token, length)
		if err != nil {
			return nil, err
		}
		if insert {
			return slices.Insert(p, i, value), nil
		}
		p[i] = value
		return p, nil
	}
	return nil, missing(token)
}

// without removes a value from its parent, and returns the parent.
func without(parent any, token string) (any, error) {
	switch p := parent.(type) {
	case map[string]any:
		if _, ok := p[token]; !ok {
			return nil, missing(token)
		}
		delete(p, token)
		return p, nil
	case []any:
		i, err := index(token, len(p))
		if err != nil {
			return nil, err
		}
		return slices.Delete(p, i, i+1), nil
	}
	return nil, missing(token)
}

// equal compares values; numbers by their values as far as a float64 has them.
func equal(a, b any) bool {
	return reflect.DeepEqual(numbers(a), numbers(b))
}

// numbers returns a value whose numbers have one form for each value.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return v.String()
		}
		if f, err := v.Float64(); err == nil {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
		return v.String()
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = numbers(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = numbers(e)
		}
		return out
	}
	return v
}
