package samtemplate

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// decode fills target from a resolved node. Unlike yaml's own decoding, it refuses
// keys that target's structs do not declare, with their line. Properties that the
// local host ignores are declared with type any.
func decode(node *yaml.Node, what string, target any) error {
	if node == nil {
		return nil
	}
	if err := refuseUnknown(node, what, reflect.TypeOf(target).Elem()); err != nil {
		return err
	}
	err := node.Decode(target)
	var wrong *yaml.TypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return wrongType(node, what, wrong.Errors[0])
	default:
		return at(node, "%s: %v", what, err)
	}
}

// wrongType removes the line from yaml's own message, "line 7: cannot …".
func wrongType(node *yaml.Node, what, message string) error {
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, reason, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			return &Error{Line: line, Reason: what + ": " + reason}
		}
	}
	return at(node, "%s: %s", what, message)
}

func refuseUnknown(node *yaml.Node, what string, typ reflect.Type) error {
	switch typ.Kind() { //nolint:exhaustive // only containers have keys
	case reflect.Pointer:
		return refuseUnknown(node, what, typ.Elem())
	case reflect.Slice:
		for _, item := range node.Content {
			if err := refuseUnknown(item, what, typ.Elem()); err != nil {
				return err
			}
		}
	case reflect.Map:
		for key, value := range pairs(node) {
			if err := refuseUnknown(value, what+"."+key.Value, typ.Elem()); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return refuseUnknownFields(node, what, typ)
	}
	return nil
}

func refuseUnknownFields(node *yaml.Node, what string, typ reflect.Type) error {
	if typ == reflect.TypeFor[yaml.Node]() {
		return nil
	}
	declared := map[string]reflect.Type{}
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("yaml"), ",")
		declared[name] = typ.Field(i).Type
	}
	for key, value := range pairs(node) {
		fieldType, ok := declared[key.Value]
		if !ok {
			return at(key, "%s: property %s is not supported", what, key.Value)
		}
		if err := refuseUnknown(value, what+"."+key.Value, fieldType); err != nil {
			return err
		}
	}
	return nil
}
