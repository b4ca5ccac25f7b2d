package task_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/task"
)

const wholeTask = `{"id":"t","contextId":"s","status":{"state":"completed","timestamp":"2026-01-01T00:00:00Z",
	"message":{"kind":"message","messageId":"m0","role":"agent","parts":[{"kind":"text","text":"x"}]}},
	"history":[{"kind":"message","messageId":"m1","role":"user","contextId":"s","taskId":"t","extensions":["e"],
		"referenceTaskIds":["r"],"metadata":{"a":1},"parts":[{"kind":"text","text":"hi"},
		{"kind":"data","data":{"b":2}},{"kind":"file","file":{"name":"n","mimeType":"m","bytes":"aGk="}}]}],
	"artifacts":[{"artifactId":"a","name":"n","description":"d","parts":[{"kind":"text","text":"y"}]}],
	"metadata":{"c":3}}`

func TestFromA2A_shape(t *testing.T) {
	for name, c := range map[string]struct {
		change   map[string]string // of members, as JSON
		pointers []string
	}{
		"a timestamp of the wrong type":  {map[string]string{"status": `{"state":"x","timestamp":5}`}, []string{"/status/timestamp"}},
		"a timestamp that is not a time": {map[string]string{"status": `{"state":"x","timestamp":"now"}`}, []string{"/status/timestamp"}},
		"no state":                       {map[string]string{"status": `{}`}, []string{"/status/state"}},
		"a state of the wrong type":      {map[string]string{"status": `{"state":1}`}, []string{"/status/state"}},
		"null in the history":            {map[string]string{"history": `[null]`}, []string{"/history/0"}},
		"a message of the wrong type":    {map[string]string{"history": `[{}, 5]`}, []string{"/history/1"}},
		"a history of the wrong type":    {map[string]string{"history": `{}`}, []string{"/history"}},
		"parts of the wrong type":        {map[string]string{"history": `[{"parts":"x"}]`}, []string{"/history/0/parts"}},
		"a part of the wrong type":       {map[string]string{"history": `[{"parts":[null,"x"]}]`}, []string{"/history/0/parts/0", "/history/0/parts/1"}},
		"a part of an unknown kind":      {map[string]string{"history": `[{"parts":[{"kind":"x"}]}]`}, []string{"/history/0/parts/0/kind"}},
		"a text of the wrong type":       {map[string]string{"history": `[{"parts":[{"kind":"text","text":1}]}]`}, []string{"/history/0/parts/0/text"}},
		"a file without content":         {map[string]string{"history": `[{"parts":[{"kind":"file"}]}]`}, []string{"/history/0/parts/0/file"}},
		"bytes that are not base64":      {map[string]string{"history": `[{"parts":[{"kind":"file","file":{"bytes":"?"}}]}]`}, []string{"/history/0/parts/0/file/bytes"}},
		"a number out of range":          {map[string]string{"history": `[{"metadata":{"a":1e999}}]`}, []string{"/history/0", "/history/0/metadata"}},
		"artifacts of the wrong type":    {map[string]string{"artifacts": `{}`}, []string{"/artifacts"}},
		"an artifact of the wrong type":  {map[string]string{"artifacts": `[null,1]`}, []string{"/artifacts/0", "/artifacts/1"}},
		"metadata of the wrong type":     {map[string]string{"metadata": `[]`}, []string{"/metadata"}},
	} {
		t.Run(name, func(t *testing.T) {
			var members map[string]json.RawMessage
			if err := json.Unmarshal([]byte(wholeTask), &members); err != nil {
				t.Fatal(err)
			}
			for member, raw := range c.change {
				members[member] = json.RawMessage(raw)
			}
			raw, err := json.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			_, err = task.FromA2A(raw)
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Invalid {
				t.Fatalf("got %v", err)
			}
			var got []string
			for _, v := range f.Violations {
				got = append(got, v.Pointer)
			}
			if fmt.Sprint(got) != fmt.Sprint(c.pointers) {
				t.Errorf("points at %v, want %v", got, c.pointers)
			}
		})
	}
}

// Whatever value replaces any member of a task, the task is refused with a pointer
// or shown again, and no message names Go types.
func TestFromA2A_whatever_comes(t *testing.T) {
	var doc any
	if err := json.Unmarshal([]byte(wholeTask), &doc); err != nil {
		t.Fatal(err)
	}
	saved, refused := 0, 0
	mutate(doc, func() {
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		raw = []byte(strings.ReplaceAll(string(raw), `"huge"`, "1e999"))
		save, err := task.FromA2A(raw)
		if err != nil {
			refused++
			var f *fault.Error
			if !errors.As(err, &f) || strings.Contains(f.Detail, "Go ") || strings.Contains(f.Detail, "struct") {
				t.Errorf("%s: %v", raw, err)
			}
			return
		}
		saved++
		form, err := task.ToA2A(save.Task)
		if err != nil {
			t.Errorf("%s was saved: %v", raw, err)
		}
		if _, err := task.Merge("fork", 1, []task.A2A{form}); err != nil {
			t.Errorf("%s was saved: %v", raw, err)
		}
		save.Task.Messages()
	})
	t.Logf("%d saved, %d refused", saved, refused)
	if saved < 50 || refused < 100 {
		t.Errorf("%d saved, %d refused", saved, refused)
	}
}

// mutate replaces each value within v by other values and calls f.
func mutate(v any, f func()) {
	others := []any{nil, 5.0, "", "x", true, []any{}, []any{nil}, []any{5.0}, map[string]any{}, "huge"}
	switch v := v.(type) {
	case map[string]any:
		for name, was := range v {
			for _, other := range others {
				v[name] = other
				f()
			}
			delete(v, name)
			f()
			v[name] = was
			mutate(was, f)
		}
	case []any:
		for i, was := range v {
			for _, other := range others {
				v[i] = other
				f()
			}
			v[i] = was
			mutate(was, f)
		}
	}
}

// A task that was stored before such checks, or in another form, is shown as far as
// possible.
func TestToA2A_of_anything(t *testing.T) {
	for _, bubbles := range []string{
		`null`, `5`, `{}`, `[null]`, `[5,"x"]`, `[{"history":[null]}]`, `[{"history":[null,{"messageId":5}],"a2a_task":5}]`,
		`[{"a2a_task":{"status":{"state":5,"timestamp":5}},"history":[null]}]`, `[{"parts":"x","id":5,"type":null}]`, `x`,
	} {
		form, err := task.ToA2A(task.Task{ID: "t", SessionID: "s", Bubbles: json.RawMessage(bubbles)})
		if err != nil {
			t.Errorf("%s: %v", bubbles, err)
		}
		if _, err := task.Merge("fork", 1, []task.A2A{form}); err != nil {
			t.Errorf("%s: %v", bubbles, err)
		}
		task.Task{Bubbles: json.RawMessage(bubbles)}.Messages()
	}
}
