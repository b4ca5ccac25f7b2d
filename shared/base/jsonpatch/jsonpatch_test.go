package jsonpatch_test

import (
	"errors"
	"testing"

	"github.com/rethread/rethread/shared/base/jsonpatch"
)

const limit = 100

func TestApply(t *testing.T) {
	for name, c := range map[string]struct{ doc, patch, want string }{
		"no operation":                     {`{"a":1}`, `[]`, `{"a":1}`},
		"add a member":                     {`{"a":1}`, `[{"op":"add","path":"/b","value":{"c":null}}]`, `{"a":1,"b":{"c":null}}`},
		"add replaces a member":            {`{"a":1}`, `[{"op":"add","path":"/a","value":null}]`, `{"a":null}`},
		"add inserts into an array":        {`{"a":[1,3]}`, `[{"op":"add","path":"/a/1","value":2},{"op":"add","path":"/a/3","value":4},{"op":"add","path":"/a/-","value":5}]`, `{"a":[1,2,3,4,5]}`},
		"add replaces the document":        {`{"a":1}`, `[{"op":"add","path":"","value":[1]}]`, `[1]`},
		"remove":                           {`{"a":[1,2,{"b":1,"c":2}]}`, `[{"op":"remove","path":"/a/2/b"},{"op":"remove","path":"/a/0"}]`, `{"a":[2,{"c":2}]}`},
		"remove the document":              {`{"a":1}`, `[{"op":"remove","path":""}]`, `null`},
		"replace":                          {`{"a":[1,2],"b":1}`, `[{"op":"replace","path":"/a/1","value":3},{"op":"replace","path":"/b","value":[]}]`, `{"a":[1,3],"b":[]}`},
		"move a member":                    {`{"a":{"b":1},"c":{}}`, `[{"op":"move","from":"/a/b","path":"/c/d"}]`, `{"a":{},"c":{"d":1}}`},
		"move within an array":             {`{"a":[1,2,3]}`, `[{"op":"move","from":"/a/0","path":"/a/2"}]`, `{"a":[2,3,1]}`},
		"move to where it is":              {`{"a":1}`, `[{"op":"move","from":"/a","path":"/a"}]`, `{"a":1}`},
		"copies are independent":           {`{"a":{"b":[1]}}`, `[{"op":"copy","from":"/a","path":"/c"},{"op":"add","path":"/c/b/-","value":2}]`, `{"a":{"b":[1]},"c":{"b":[1,2]}}`},
		"test":                             {`{"a":[1,{"b":null}],"n":10}`, `[{"op":"test","path":"/a","value":[1.0,{"b":null}]},{"op":"test","path":"/n","value":1e1},{"op":"test","path":"","value":{"n":10,"a":[1,{"b":null}]}}]`, `{"a":[1,{"b":null}],"n":10}`},
		"escapes":                          {`{"a/b":1,"m~n":2,"~1":3,"":4}`, `[{"op":"remove","path":"/a~1b"},{"op":"replace","path":"/m~0n","value":5},{"op":"remove","path":"/~01"},{"op":"test","path":"/","value":4}]`, `{"":4,"m~n":5}`},
		"numbers and text keep their form": {`{"a":9007199254740993,"b":"<"}`, `[{"op":"add","path":"/c","value":1.10}]`, `{"a":9007199254740993,"b":"<","c":1.10}`},
		"unknown members":                  {`{}`, `[{"op":"add","path":"/a","value":1,"xyz":2}]`, `{"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := jsonpatch.Apply([]byte(c.doc), []byte(c.patch), limit)
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		doc, patch string
		want       error
	}{
		"no patch":                        {`{}`, `{}`, jsonpatch.ErrMalformed},
		"null":                            {`{}`, `null`, jsonpatch.ErrMalformed},
		"no document":                     {``, `[]`, jsonpatch.ErrMalformed},
		"an operation that is no object":  {`{}`, `[1]`, jsonpatch.ErrMalformed},
		"an operation that is null":       {`{}`, `[null]`, jsonpatch.ErrMalformed},
		"an unknown operation":            {`{}`, `[{"op":"spam","path":""}]`, jsonpatch.ErrMalformed},
		"no path":                         {`{}`, `[{"op":"add","value":1}]`, jsonpatch.ErrMalformed},
		"a path without a slash":          {`{}`, `[{"op":"add","path":"a","value":1}]`, jsonpatch.ErrMalformed},
		"no value":                        {`{}`, `[{"op":"add","path":"/a"}]`, jsonpatch.ErrMalformed},
		"a test without a value":          {`{}`, `[{"op":"test","path":""}]`, jsonpatch.ErrMalformed},
		"no source":                       {`{}`, `[{"op":"copy","path":"/a"}]`, jsonpatch.ErrMalformed},
		"a parent that is missing":        {`{}`, `[{"op":"add","path":"/a/b","value":1}]`, jsonpatch.ErrPath},
		"a parent that is a number":       {`{"a":1}`, `[{"op":"add","path":"/a/b","value":1}]`, jsonpatch.ErrPath},
		"a grandparent that is a number":  {`{"a":1}`, `[{"op":"add","path":"/a/b/c","value":1}]`, jsonpatch.ErrPath},
		"replace what is missing":         {`{}`, `[{"op":"replace","path":"/a","value":1}]`, jsonpatch.ErrPath},
		"remove what is missing":          {`{}`, `[{"op":"remove","path":"/a"}]`, jsonpatch.ErrPath},
		"remove from a number":            {`{"a":1}`, `[{"op":"remove","path":"/a/b"}]`, jsonpatch.ErrPath},
		"an index after the end":          {`[1]`, `[{"op":"add","path":"/2","value":1}]`, jsonpatch.ErrPath},
		"an index at the end":             {`[1]`, `[{"op":"replace","path":"/1","value":1}]`, jsonpatch.ErrPath},
		"remove at the end":               {`[1]`, `[{"op":"remove","path":"/-"}]`, jsonpatch.ErrPath},
		"an index with a leading zero":    {`[1]`, `[{"op":"test","path":"/00","value":1}]`, jsonpatch.ErrPath},
		"a negative index":                {`[1]`, `[{"op":"remove","path":"/-1"}]`, jsonpatch.ErrPath},
		"an index that is no number":      {`[1]`, `[{"op":"add","path":"/1e0","value":1}]`, jsonpatch.ErrPath},
		"a test that does not hold":       {`{"a":null}`, `[{"op":"test","path":"/a","value":0}]`, jsonpatch.ErrTest},
		"a large number that is another":  {`{"a":9007199254740993}`, `[{"op":"test","path":"/a","value":9007199254740992}]`, jsonpatch.ErrTest},
		"a test of what is missing":       {`{}`, `[{"op":"test","path":"/a","value":null}]`, jsonpatch.ErrPath},
		"a move into itself":              {`{"a":{"b":{}}}`, `[{"op":"move","from":"/a","path":"/a/b/c"}]`, jsonpatch.ErrMalformed},
		"a move of what is missing":       {`{}`, `[{"op":"move","from":"/a","path":"/b"}]`, jsonpatch.ErrPath},
		"copies that grow without bounds": {`{"a":"0123456789012345678901234567890123456789"}`, `[{"op":"copy","from":"/a","path":"/b"},{"op":"copy","from":"","path":"/c"}]`, jsonpatch.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := jsonpatch.Apply([]byte(c.doc), []byte(c.patch), limit)
			if !errors.Is(err, c.want) {
				t.Errorf("got %s, %v; want %v", got, err, c.want)
			}
		})
	}
}

func FuzzApply(f *testing.F) {
	f.Add(`{"a":[1,null]}`, `[{"op":"test","path":"/a","value":[null,[1]]},{"op":"copy","from":"","path":"/a/0"}]`)
	f.Add(`[]`, `[{"op":"move","from":"/0","path":"/-"}]`)
	f.Fuzz(func(t *testing.T, doc, patch string) {
		got, err := jsonpatch.Apply([]byte(doc), []byte(patch), limit)
		if err != nil {
			return
		}
		if again, err := jsonpatch.Apply(got, []byte(`[{"op":"test","path":"","value":`+string(got)+`}]`), limit); err != nil || string(again) != string(got) {
			t.Errorf("%s becomes %s, then %s, %v", doc, got, again, err)
		}
	})
}
