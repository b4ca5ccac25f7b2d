package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
)

func TestBroken(t *testing.T) {
	odd := fault.Field(fault.Invalid, "/a", "is odd")
	reused := fault.Field(fault.InvalidReference, "/c", "leads nowhere")
	typed := fault.Field(fault.Malformed, "/b", "must be a string")
	denied := fault.Field(fault.RightRequired, "/d", "is the owner's")
	read := errors.New("read")
	many := make([]error, 150)
	for i := range many {
		many[i] = fault.Field(fault.Invalid, fmt.Sprintf("/a/%d", i), "is odd")
	}
	for name, c := range map[string]struct {
		added []error
		kind  fault.Kind
		code  fault.Code
		text  string
		rules int
	}{
		"one keeps its code":               {[]error{nil, reused}, fault.Invalid, fault.InvalidReference, "/c leads nowhere", 1},
		"several are listed in order":      {[]error{odd, reused}, fault.Invalid, fault.InvalidField, "/a is odd; 2 rules are broken in all", 2},
		"the first one decides the kind":   {[]error{typed, odd}, fault.Malformed, fault.MalformedField, "/b must be a string; 2 rules are broken in all", 2},
		"a field is named once":            {[]error{odd, fault.Field(fault.Invalid, "/a", "is long")}, fault.Invalid, fault.InvalidField, "/a is odd", 1},
		"a missing right comes first":      {[]error{odd, denied}, fault.Forbidden, fault.RightRequired, "/d is the owner's", 1},
		"no more than a hundred are named": {many, fault.Invalid, fault.InvalidField, "/a/0 is odd; 150 rules are broken in all", 100},
	} {
		t.Run(name, func(t *testing.T) {
			var broken fault.Broken
			for _, err := range c.added {
				if broken.Add(err) != (err == nil) {
					t.Errorf("%v was added", err)
				}
			}
			var f *fault.Error
			if !errors.As(broken.Err(), &f) {
				t.Fatalf("got %v", broken.Err())
			}
			if f.Kind != c.kind || fault.CodeOf(f) != c.code || len(f.Violations) != c.rules {
				t.Errorf("got %s with %d rules: %v", fault.CodeOf(f), len(f.Violations), f)
			}
			if diff := cmp.Diff(c.text, f.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	var none, failed fault.Broken
	failed.Add(odd)
	failed.Add(read)
	if none.Err() != nil || !errors.Is(failed.Err(), read) {
		t.Errorf("got %v and %v", none.Err(), failed.Err())
	}
}
