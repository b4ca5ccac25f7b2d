package adk

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode"
)

// shape describes which members of a JSON value belong to ADK's types, so that
// they are renamed and those of user data are not. ADK for Go writes camelCase;
// the API and ADK for Python use snake_case. A nil shape is user data.
type shape struct {
	byCamel, bySnake map[string]member // members of an object
	each             *shape            // elements of a list or values of a map
	bytes            bool              // base64 text
}

type member struct {
	name string // in the other notation
	of   *shape
}

// shapeOf derives the shape from a Go type. seen holds the shapes of the struct
// types met so far, because types may be recursive.
func shapeOf(t reflect.Type, seen map[reflect.Type]*shape) *shape {
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem(), seen)
	case reflect.Map:
		return eachOf(t.Elem(), seen)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &shape{bytes: true}
		}
		return eachOf(t.Elem(), seen)
	case reflect.Struct:
		return structShape(t, seen)
	default:
		return nil
	}
}

func eachOf(t reflect.Type, seen map[reflect.Type]*shape) *shape {
	if each := shapeOf(t, seen); each != nil {
		return &shape{each: each}
	}
	return nil
}

func structShape(t reflect.Type, seen map[reflect.Type]*shape) *shape {
	// JSON schemas, times and the like have their own encoding.
	if !strings.HasPrefix(t.PkgPath(), "google.golang.org/adk/") && t.PkgPath() != "google.golang.org/genai" {
		return nil
	}
	if known, ok := seen[t]; ok {
		return known
	}
	s := &shape{byCamel: map[string]member{}, bySnake: map[string]member{}}
	seen[t] = s
	for _, field := range reflect.VisibleFields(t) {
		camel, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous || !field.IsExported() || camel == "" || camel == "-" {
			continue
		}
		of := shapeOf(field.Type, seen)
		snake := snakeCase(camel)
		s.byCamel[camel] = member{snake, of}
		s.bySnake[snake] = member{camel, of}
	}
	return s
}

// snakeCase converts a camelCase name to snake_case.
func snakeCase(camel string) string {
	var out strings.Builder
	for _, r := range camel {
		if unicode.IsUpper(r) {
			out.WriteByte('_')
			r = unicode.ToLower(r)
		}
		out.WriteRune(r)
	}
	return out.String()
}

// toSnake renames the members of ADK's types in a value to snake_case; toCamel is
// the inverse. Members unknown to ADK keep their names.
func (s *shape) toSnake(v any) any {
	return s.rename(v, func(s *shape) map[string]member { return s.byCamel })
}

func (s *shape) toCamel(v any) any {
	return s.rename(v, func(s *shape) map[string]member { return s.bySnake })
}

func (s *shape) rename(v any, members func(*shape) map[string]member) any {
	if s == nil {
		return v
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			v[i] = s.each.rename(item, members)
		}
	case map[string]any:
		return s.renameObject(v, members)
	case string:
		if s.bytes { // Python writes URL-safe base64, Go reads the standard alphabet
			return strings.NewReplacer("-", "+", "_", "/").Replace(v)
		}
	}
	return v
}

func (s *shape) renameObject(object map[string]any, members func(*shape) map[string]member) any {
	if s.each != nil {
		for key, v := range object {
			object[key] = s.each.rename(v, members)
		}
		return object
	}
	known := members(s)
	out := make(map[string]any, len(object))
	for key, v := range object {
		if m, ok := known[key]; ok {
			out[m.name] = m.of.rename(v, members)
		} else if _, taken := out[key]; !taken {
			out[key] = v
		}
	}
	return out
}

// decodeTree decodes a JSON object and keeps the notation of its numbers.
func decodeTree(raw []byte) (map[string]any, error) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var tree map[string]any
	return tree, dec.Decode(&tree)
}
