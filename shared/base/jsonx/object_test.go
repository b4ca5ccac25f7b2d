package jsonx_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

func TestObject(t *testing.T) {
	o, err := jsonx.ParseObject([]byte(` {"t":"x","b":true,"i":2.0,"a":[ 1 ],"s":["x"],"o":{"t":"y"},"n":null,"a/b":1}`), "/in")
	if err != nil {
		t.Fatal(err)
	}
	read := func(v any, err error) any {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		return v
	}
	inner, err := o.Object("o")
	if err != nil {
		t.Fatal(err)
	}
	none, err := o.Object("none")
	if err != nil {
		t.Fatal(err)
	}
	two, raw := int64(2), "[1]"
	compact, err := o.Raw("a")
	if err != nil {
		t.Fatal(err)
	}
	got := []any{
		read(o.Text("t")), read(o.Text("none")), read(o.RequiredText("t")), read(o.Boolean("b")), read(o.Boolean("none")),
		read(o.Integer("i")), read(o.Integer("none")), read(o.Texts("s")), read(inner.Text("t")), read(none.Text("t")), string(compact),
	}
	want := []any{"x", "", "x", true, false, &two, (*int64)(nil), []string{"x"}, "y", "", raw}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if inner.Pointer("a/b~") != "/in/o/a~1b~0" || none.At != "/in/none" || !o.Has("n") || o.Has("none") {
		t.Errorf("pointers %s, %s", inner.Pointer("a/b~"), none.At)
	}
}

func TestObject_faults(t *testing.T) {
	o, err := jsonx.ParseObject([]byte(`{"t":"x","i":2.5,"n":null,"s":["x",null],"o":{"t":1}}`), "")
	if err != nil {
		t.Fatal(err)
	}
	inner, err := o.Object("o")
	if err != nil {
		t.Fatal(err)
	}
	of := func(_ any, err error) error { return err }
	for want, err := range map[string]error{
		"/t must be an object":        of(o.Object("t")),
		"/t must be an array":         of(o.Array("t")),
		"/t must be a boolean":        of(o.Boolean("t")),
		"/n must be a string":         of(o.Text("n")),
		"/n must be an array of any":  o.Take("n", new([]any), "an array of any"),
		"/none is required":           of(o.RequiredText("none")),
		"/i must be an integer":       of(o.Integer("i")),
		"/n must be an integer":       of(o.Integer("n")),
		"/s/1 must be a string":       of(o.Texts("s")),
		"/o/t must be a string":       of(inner.Text("t")),
		"/s is not known here":        o.Only("t", "i", "n", "o"),
		"/at must be an object":       of(jsonx.ParseObject([]byte(`null`), "/at")),
		"/half must be an object":     of(jsonx.ParseObject([]byte(`{"a":1`), "/half")),
		"/worded {must be an object}": of(jsonx.ParseObjectWith([]byte(`[]`), "/worded", braced)),
	} {
		var f *fault.Error
		if !errors.As(err, &f) || f.Detail != want || len(f.Violations) != 1 {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := o.Only("t", "i", "n", "s", "o"); err != nil {
		t.Error(err)
	}
	if err := o.Required("n"); err != nil {
		t.Error(err)
	}
}

func braced(kind fault.Cause, at, format string, args ...any) *fault.Error {
	return fault.Field(kind, at, "{"+format+"}", args...)
}

func TestObject_Choice(t *testing.T) {
	t.Parallel()
	o, err := jsonx.ParseObject([]byte(`{"a":"two","b":"three","c":"","d":null,"e":2}`), "/x")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a": "two", "absent": "one", "b": "/x/b must be one of one, two", "c": "/x/c must be one of one, two",
		"d": "/x/d must be a string", "e": "/x/e must be a string",
	} {
		got, err := o.Choice(name, "one", "two")
		var f *fault.Error
		if errors.As(err, &f) {
			got = f.Violations[0].Pointer + " " + f.Violations[0].Detail
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
