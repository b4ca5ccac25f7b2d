// Package pick extracts single values from JSON, byte for byte.
package pick

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrAbsent means that there is no value at the path.
var ErrAbsent = errors.New("nothing there")

// Raw returns the value at a path such as data.0.id, $.data[0].id or $ itself.
func Raw(body []byte, path string) (json.RawMessage, error) {
	at := json.RawMessage(body)
	for _, step := range steps(path) {
		next, err := into(at, step)
		if err != nil {
			return nil, fmt.Errorf("%s of %.200s: %w", path, body, err)
		}
		at = next
	}
	var out bytes.Buffer
	if err := json.Compact(&out, at); err != nil {
		return nil, fmt.Errorf("%s of %.200s: %w", path, body, err)
	}
	return out.Bytes(), nil
}

// Text returns the value at the path as text: a string without its quotes, other
// values as JSON.
func Text(body []byte, path string) (string, error) {
	raw, err := Raw(body, path)
	if err != nil {
		return "", err
	}
	var s string
	if raw[0] != '"' {
		return string(raw), nil
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func steps(path string) []string {
	path = strings.NewReplacer("[", ".", "]", "").Replace(strings.TrimPrefix(path, "$"))
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' })
}

func into(at json.RawMessage, step string) (json.RawMessage, error) {
	if i, err := strconv.Atoi(step); err == nil && bytes.HasPrefix(bytes.TrimSpace(at), []byte("[")) {
		var items []json.RawMessage
		if err := json.Unmarshal(at, &items); err != nil {
			return nil, fmt.Errorf("read an array: %w", err)
		}
		if i < 0 {
			i += len(items)
		}
		if i < 0 || i >= len(items) {
			return nil, fmt.Errorf("entry %s of %d: %w", step, len(items), ErrAbsent)
		}
		return items[i], nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(at, &members); err != nil {
		return nil, fmt.Errorf("member %s: %w", step, err)
	}
	value, ok := members[step]
	if !ok {
		return nil, fmt.Errorf("member %s: %w", step, ErrAbsent)
	}
	return value, nil
}
