package dynamo

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/store/table"
)

// expressions collects the names and values of the expressions of one request. The
// SDK's own builder is not used because it interprets brackets in a name as a list
// index.
type expressions struct {
	names   map[string]string // by placeholder
	holders map[string]string // placeholders by name
	values  table.Item
	err     error
}

func (e *expressions) name(name string) string {
	if holder, ok := e.holders[name]; ok {
		return holder
	}
	if e.names == nil {
		e.names, e.holders = map[string]string{}, map[string]string{}
	}
	holder := fmt.Sprintf("#n%d", len(e.names))
	e.names[holder], e.holders[name] = name, holder
	return holder
}

func (e *expressions) path(p table.Path) string {
	steps := make([]string, len(p))
	for i, name := range p {
		steps[i] = e.name(name)
	}
	return strings.Join(steps, ".")
}

func (e *expressions) value(v any) string {
	encoded, err := table.EncodeValue(v)
	if err != nil {
		e.err = err
		return ""
	}
	if e.values == nil {
		e.values = table.Item{}
	}
	holder := fmt.Sprintf(":v%d", len(e.values))
	e.values[holder] = encoded
	return holder
}

func (e *expressions) list(values []any) string {
	list, err := table.EncodeList(values)
	if err != nil {
		e.err = err
		return ""
	}
	return e.value(list)
}

// members returns the projection of some members; nil reads all.
func (e *expressions) members(names []string) *string {
	if names == nil {
		return nil
	}
	joined := make([]string, len(names))
	for i, name := range names {
		joined[i] = e.name(name)
	}
	return pointer(strings.Join(joined, ", "))
}

// condition returns a condition's expression; nil for none.
func (e *expressions) condition(c table.Condition) *string {
	if c == nil {
		return nil
	}
	return pointer(e.term(c))
}

// term writes a condition. Only nested conditions get parentheses, because DynamoDB
// refuses redundant ones.
func (e *expressions) term(c table.Condition) string {
	switch c := c.(type) {
	case table.Presence:
		if c.Present {
			return "attribute_exists(" + e.path(c.Path) + ")"
		}
		return "attribute_not_exists(" + e.path(c.Path) + ")"
	case table.Comparison:
		left := e.path(c.Path)
		if c.Size {
			left = "size(" + left + ")"
		}
		return left + operator(c.Op) + e.value(c.Value)
	case table.Containing:
		return "contains(" + e.path(c.Path) + ", " + e.value(c.Value) + ")"
	case table.Every:
		return e.joined(c.Of, " AND ")
	case table.Any:
		return e.joined(c.Of, " OR ")
	case table.Negation:
		return "NOT " + e.part(c.Of)
	}
	e.err = fmt.Errorf("%w: a condition of type %T", table.ErrInvalid, c)
	return ""
}

func (e *expressions) joined(of []table.Condition, by string) string {
	parts := make([]string, len(of))
	for i, c := range of {
		if len(of) == 1 {
			return e.term(c)
		}
		parts[i] = e.part(c)
	}
	return strings.Join(parts, by)
}

// part writes a condition that is nested in another.
func (e *expressions) part(c table.Condition) string {
	switch of := c.(type) {
	case table.Every:
		if len(of.Of) == 1 {
			return e.part(of.Of[0])
		}
	case table.Any:
		if len(of.Of) == 1 {
			return e.part(of.Of[0])
		}
	case table.Negation:
	default:
		return e.term(c)
	}
	return "(" + e.term(c) + ")"
}

func operator(op table.Operator) string {
	switch op {
	case table.OpEqual:
		return " = "
	case table.OpNotEqual:
		return " <> "
	case table.OpLess:
		return " < "
	case table.OpAtMost:
		return " <= "
	case table.OpGreater:
		return " > "
	case table.OpAtLeast:
		return " >= "
	}
	return ""
}

// changes returns the expression of an update; nil if it changes nothing.
func (e *expressions) changes(changes []table.Change) *string {
	clauses := map[string][]string{}
	for _, c := range changes {
		clause, text := e.change(c)
		clauses[clause] = append(clauses[clause], text)
	}
	var all []string
	for _, clause := range []string{"SET", "REMOVE", "ADD", "DELETE"} {
		if parts := clauses[clause]; parts != nil {
			all = append(all, clause+" "+strings.Join(parts, ", "))
		}
	}
	if all == nil {
		return nil
	}
	return pointer(strings.Join(all, " "))
}

func (e *expressions) change(c table.Change) (clause, text string) {
	switch c := c.(type) {
	case table.Setting:
		p, v := e.path(c.Path), e.value(c.Value)
		if c.IfAbsent {
			v = "if_not_exists(" + p + ", " + v + ")"
		}
		return "SET", p + " = " + v
	case table.Adding: // ADD does not support members of maps
		p := e.path(c.Path)
		return "SET", p + " = if_not_exists(" + p + ", " + e.value(0) + ") + " + e.value(c.N)
	case table.Appending:
		p := e.path(c.Path)
		return "SET", p + " = list_append(if_not_exists(" + p + ", " + e.list(nil) + "), " + e.list(c.Values) + ")"
	case table.SetChanging:
		clause = "ADD"
		if c.Out {
			clause = "DELETE"
		}
		return clause, e.path(c.Path) + " " + e.value(&types.AttributeValueMemberSS{Value: c.Values})
	case table.Removing:
		return "REMOVE", e.path(c.Path)
	}
	e.err = fmt.Errorf("%w: a change of type %T", table.ErrInvalid, c)
	return "", ""
}

func pointer[T any](v T) *T { return &v }
