package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rethread/rethread/shared/domain/ids"
)

// Invocations returns the ids that metadata.kagent_invocation_id names anywhere in
// the bubbles, at any depth, in order and without duplicates.
func Invocations(bubbles json.RawMessage) ([]string, error) {
	const name = "kagent_invocation_id"
	// The name may be written with escapes; without either there is nothing to
	// find.
	if !bytes.Contains(bubbles, []byte(name)) && !bytes.Contains(bubbles, []byte(`\u`)) {
		return nil, nil
	}
	var found []string
	err := walkStrings(bubbles, func(parent, key, value string) error {
		if parent != "metadata" || key != name || value == "" || slices.Contains(found, value) {
			return nil
		}
		found = append(found, value)
		return ids.Check("/message_bubbles", value)
	})
	return found, err
}

// CheckedInvocations is Invocations for bubbles that are to be saved: a new task's
// invocations must have names that a request can give.
func CheckedInvocations(bubbles json.RawMessage) ([]string, error) {
	invocations, err := Invocations(bubbles)
	for _, id := range invocations {
		if err == nil {
			err = ids.CheckSegment("/message_bubbles", id)
		}
	}
	return invocations, err
}

// walkStrings visits the strings that are members of objects in document order,
// with their name and the name of the member that contains their object.
func walkStrings(raw json.RawMessage, visit func(parent, key, value string) error) error {
	w := walker{visit: visit}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("walk JSON: %w", err)
		}
		if err := w.take(token); err != nil {
			return err
		}
	}
}

// level is an object or array that the walker is in.
type level struct {
	name    string // of the member that contains it; "" in an array
	object  bool
	key     string // of the member being read
	pending bool   // a key was read and its value follows
}

type walker struct {
	visit  func(parent, key, value string) error
	levels []level
}

func (w *walker) take(token json.Token) error {
	var top *level
	if n := len(w.levels); n > 0 {
		top = &w.levels[n-1]
	}
	if delim, ok := token.(json.Delim); ok {
		w.nest(delim, top)
		return nil
	}
	if top == nil || !top.object {
		return nil
	}
	text, isText := token.(string)
	if !top.pending {
		top.key, top.pending = text, true
		return nil
	}
	top.pending = false
	if !isText {
		return nil
	}
	return w.visit(top.name, top.key, text)
}

func (w *walker) nest(delim json.Delim, top *level) {
	if delim == '}' || delim == ']' {
		w.levels = w.levels[:len(w.levels)-1]
		return
	}
	next := level{object: delim == '{'}
	if top != nil && top.object {
		next.name, top.pending = top.key, false
	}
	w.levels = append(w.levels, next)
}
