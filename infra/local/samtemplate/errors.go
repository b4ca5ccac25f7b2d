package samtemplate

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// Error is a mistake in the template, or a part of it that is not supported.
type Error struct {
	Line   int
	Reason string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

func at(node *yaml.Node, format string, args ...any) error {
	return &Error{Line: node.Line, Reason: fmt.Sprintf(format, args...)}
}
