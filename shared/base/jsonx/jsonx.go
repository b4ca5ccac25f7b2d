// Package jsonx reads JSON member by member, with faults that name the member, and
// writes it without escaping HTML, so that users' texts stay unchanged byte for byte.
package jsonx

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal without the escapes for <, > and &.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// UnmarshalExact is json.Unmarshal for values that contain any: numbers in these are
// json.Number, so that each digit is kept.
func UnmarshalExact(raw []byte, into any) error {
	if !json.Valid(raw) {
		return json.Unmarshal(raw, into) // the error
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(into)
}

// Canonical decodes a JSON value so that values which differ only in white space,
// escapes and the order of members are equal. It returns nil for invalid JSON.
func Canonical(raw []byte) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}
