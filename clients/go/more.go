package rethread

import (
	"encoding/json"
	"reflect"
	"strings"
)

// More holds members of a JSON object that have no field of their own, by name.
type More map[string]json.RawMessage

// decodeMore decodes an object into a struct, and into more what has no field there.
func decodeMore(raw []byte, known any, more *More) error {
	*more = nil
	if err := json.Unmarshal(raw, known); err != nil {
		return err
	}
	var all More
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	for field := range reflect.TypeOf(known).Elem().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		delete(all, name)
	}
	if len(all) > 0 {
		*more = all
	}
	return nil
}

// encodeMore encodes a struct together with more. Fields have precedence.
func encodeMore(known any, more More) ([]byte, error) {
	own, err := encode(known)
	if err != nil || len(more) == 0 {
		return own, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(own, &fields); err != nil {
		return nil, err
	}
	all := make(More, len(more)+len(fields))
	for _, members := range []More{more, fields} {
		for name, value := range members {
			all[name] = value
		}
	}
	return encode(all)
}
