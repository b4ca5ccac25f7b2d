package adk

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"

	adk "google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

// deepest is the depth up to which values are searched for numbers, since they may be
// cyclic.
const deepest = 1000

// marshal encodes an event. JSON has no NaN and no infinity: they become the strings
// "NaN", "Infinity" and "-Infinity", as in JSON of Protocol Buffers and in the Python
// package, so that the event is not lost.
func marshal(e *adk.Event) ([]byte, error) {
	raw, err := json.Marshal(e)
	var unsupported *json.UnsupportedValueError
	if errors.As(err, &unsupported) {
		return json.Marshal(finiteEvent(e))
	}
	return raw, err
}

// finiteEvent returns a copy of an event whose values of unknown types have only numbers
// that JSON has.
func finiteEvent(e *adk.Event) *adk.Event {
	out := *e
	out.Output = finite(e.Output, 0)
	out.Actions.StateDelta = finiteMap(e.Actions.StateDelta)
	out.CustomMetadata = finiteMap(e.CustomMetadata)
	if e.Content == nil {
		return &out
	}
	content := *e.Content
	content.Parts = slices.Clone(content.Parts)
	for i, part := range content.Parts {
		content.Parts[i] = finitePart(part)
	}
	out.Content = &content
	return &out
}

func finitePart(part *genai.Part) *genai.Part {
	if part == nil {
		return nil
	}
	out := *part
	if part.FunctionCall != nil {
		call := *part.FunctionCall
		call.Args = finiteMap(call.Args)
		out.FunctionCall = &call
	}
	if part.FunctionResponse != nil {
		response := *part.FunctionResponse
		response.Response = finiteMap(response.Response)
		out.FunctionResponse = &response
	}
	return &out
}

func finiteMap(members map[string]any) map[string]any {
	out := maps.Clone(members)
	for name, v := range out {
		out[name] = finite(v, 0)
	}
	return out
}

// finite returns a value with strings for the numbers in it that JSON lacks. Fields of
// structs are not searched.
func finite(v any, depth int) any {
	value := reflect.ValueOf(v)
	if depth == deepest {
		return v
	}
	switch value.Kind() { //nolint:exhaustive // other kinds have no numbers in them
	case reflect.Float32, reflect.Float64:
		return finiteNumber(v, value.Float())
	case reflect.Map:
		if value.IsNil() || value.Type().Key().Kind() != reflect.String {
			return v
		}
		out := make(map[string]any, value.Len())
		for _, key := range value.MapKeys() {
			out[key.String()] = finite(value.MapIndex(key).Interface(), depth+1)
		}
		return out
	case reflect.Slice, reflect.Array:
		if value.Kind() == reflect.Slice && value.IsNil() || value.Type().Elem().Kind() == reflect.Uint8 {
			return v
		}
		out := make([]any, value.Len())
		for i := range out {
			out[i] = finite(value.Index(i).Interface(), depth+1)
		}
		return out
	}
	return v
}

func finiteNumber(v any, number float64) any {
	switch {
	case math.IsNaN(number):
		return "NaN"
	case math.IsInf(number, 1):
		return "Infinity"
	case math.IsInf(number, -1):
		return "-Infinity"
	}
	return v
}
