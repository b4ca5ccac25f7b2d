package fault

import (
	"errors"
	"fmt"
	"slices"
)

// maxViolations bounds how many broken rules an answer lists.
const maxViolations = 100

// Broken collects the rules that a request breaks while it is read in one pass, so that
// the answer names all of them.
type Broken struct {
	fields []*Error
	other  error // the first error that is not about a field's form
}

// Add adds an error, and reports whether there was none. Of a field only the first
// broken rule is kept: a value of a wrong type often breaks the rules of values too.
func (b *Broken) Add(err error) bool {
	if err == nil {
		return true
	}
	var f *Error
	if !errors.As(err, &f) || len(f.Violations) == 0 || f.Kind != Malformed && f.Kind != Invalid {
		if b.other == nil {
			b.other = err
		}
		return false
	}
	fresh := slices.DeleteFunc(slices.Clone(f.Violations), b.has)
	if len(fresh) > 0 {
		added := *f
		added.Violations = fresh
		b.fields = append(b.fields, &added)
	}
	return false
}

func (b *Broken) has(one Violation) bool {
	return slices.ContainsFunc(b.fields, func(f *Error) bool {
		return slices.ContainsFunc(f.Violations, func(v Violation) bool { return v.Pointer == one.Pointer })
	})
}

// Err returns nil if nothing was added, and the only fault if there is one. Several
// become one, of the kind of the first. An error of another kind, such as Forbidden,
// comes first.
func (b *Broken) Err() error {
	switch {
	case b.other != nil:
		return b.other
	case len(b.fields) == 0:
		return nil
	case len(b.fields) == 1:
		return b.fields[0]
	}
	out := &Error{Kind: b.fields[0].Kind}
	for _, f := range b.fields {
		out.Violations = append(out.Violations, f.Violations...)
	}
	out.Detail = fmt.Sprintf("%s; %d rules are broken in all", b.fields[0].Detail, len(out.Violations))
	out.Violations = out.Violations[:min(len(out.Violations), maxViolations)]
	return out
}
