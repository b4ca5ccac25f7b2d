// Package jsonpatch applies JSON Patches (RFC 6902) that need not be well-formed. Numbers
// keep their digits.
package jsonpatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// Errors of patches. An error of Apply wraps one of them.
var (
	ErrMalformed = errors.New("must be a JSON Patch")
	ErrPath      = errors.New("does not exist")
	ErrTest      = errors.New("has another value")
	ErrTooLarge  = errors.New("copies too much")
)

// operation is one operation; a value that is absent is empty, unlike null.
type operation struct {
	Op    string          `json:"op"`
	Path  *string         `json:"path"`
	From  *string         `json:"from"`
	Value json.RawMessage `json:"value"`
}

// Apply returns the document after all operations. The values that the patch copies
// have at most limit bytes together.
func Apply(doc, patch []byte, limit int) ([]byte, error) {
	var operations []operation
	if !jsonx.IsArray(patch) || json.Unmarshal(patch, &operations) != nil {
		return nil, ErrMalformed
	}
	root, err := decode(doc)
	if err != nil {
		return nil, err
	}
	d := document{root, limit}
	for i, o := range operations {
		if err := d.apply(o); err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
	}
	return jsonx.Marshal(d.root)
}

func decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, ErrMalformed
	}
	return v, nil
}

// document is a decoded document; copies is how many bytes may still be copied.
type document struct {
	root   any
	copies int
}

func (d *document) apply(o operation) error {
	path, err := tokens(o.Path)
	if err != nil {
		return err
	}
	switch o.Op {
	case "add", "replace", "test":
		value, err := decode(o.Value)
		if err != nil {
			return err
		}
		return d.write(o.Op, path, value)
	case "remove":
		return d.remove(path)
	case "move", "copy":
		from, err := tokens(o.From)
		if err != nil {
			return err
		}
		return d.transfer(o.Op, from, path)
	}
	return ErrMalformed
}

// write adds or replaces the value at a path, or compares it.
func (d *document) write(op string, path []string, value any) error {
	if op != "add" {
		before, err := get(d.root, path)
		switch {
		case err != nil:
			return err
		case op == "test" && !equal(before, value):
			return ErrTest
		case op == "test":
			return nil
		}
	}
	if len(path) == 0 {
		d.root = value
		return nil
	}
	return d.edit(path, func(parent any, token string) (any, error) {
		return put(parent, token, value, op == "add")
	})
}

func (d *document) remove(path []string) error {
	if len(path) == 0 {
		d.root = nil
		return nil
	}
	return d.edit(path, without)
}

// transfer moves or copies the value at from to path.
func (d *document) transfer(op string, from, path []string) error {
	value, err := get(d.root, from)
	if err != nil {
		return err
	}
	if op == "copy" {
		if value, err = d.clone(value); err != nil {
			return err
		}
		return d.write("add", path, value)
	}
	if len(path) > len(from) && slices.Equal(path[:len(from)], from) {
		return fmt.Errorf("%w: a value cannot be moved into itself", ErrMalformed)
	}
	if err := d.remove(from); err != nil {
		return err
	}
	return d.write("add", path, value)
}

// clone copies a value, so that changes of one copy are not changes of the other.
func (d *document) clone(value any) (any, error) {
	raw, err := jsonx.Marshal(value)
	if err != nil {
		return nil, err
	}
	if d.copies -= len(raw); d.copies < 0 {
		return nil, ErrTooLarge
	}
	return decode(raw)
}
