package task_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/task"
)

func TestInvocations(t *testing.T) {
	for name, c := range map[string]struct {
		bubbles string
		want    []string
	}{
		"none":                        {`[{"id":"b"}]`, nil},
		"of a bubble":                 {`[{"metadata":{"kagent_invocation_id":"1"}}]`, []string{"1"}},
		"of parts and history":        {`[{"parts":[{"metadata":{"kagent_invocation_id":"2"}}],"history":[{"metadata":{"x":[{}],"kagent_invocation_id":"1"}}]}]`, []string{"2", "1"}},
		"in order without duplicates": {`[{"metadata":{"kagent_invocation_id":"b"}},{"metadata":{"kagent_invocation_id":"a"}},{"metadata":{"kagent_invocation_id":"b"}}]`, []string{"b", "a"}},
		"only in metadata":            {`[{"kagent_invocation_id":"1","other":{"kagent_invocation_id":"2"},"metadata":{"deep":{"kagent_invocation_id":"3"}}}]`, nil},
		"only strings":                {`[{"metadata":{"kagent_invocation_id":5}},{"metadata":{"kagent_invocation_id":null}},{"metadata":{"kagent_invocation_id":""}}]`, nil},
		"metadata in a list":          {`[{"metadata":[{"kagent_invocation_id":"1"}]}]`, nil},
		"written with escapes":        {`[{"metadata":{"\u006bagent_invocation_id":"\u0041"}}]`, []string{"A"}},
		"after objects and arrays":    {`[{"a":{},"b":[],"c":[[{"d":1}]],"metadata":{"e":{"f":[]},"kagent_invocation_id":"1"}}]`, []string{"1"}},
		"as a value only":             {`[{"text":"kagent_invocation_id","metadata":"kagent_invocation_id"}]`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := task.Invocations(json.RawMessage(c.bubbles))
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	_, err := task.Invocations(json.RawMessage(`[{"metadata":{"kagent_invocation_id":"a/b"}}]`))
	if !errors.Is(err, fault.Of(fault.Invalid)) {
		t.Errorf("what is no id: %v", err)
	}
}

// TestInvocationsAreFoundAtAnyDepth hides one id within arbitrary JSON.
func TestInvocationsAreFoundAtAnyDepth(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		raw := `{"metadata":{"kagent_invocation_id":"here"}}`
		for range rapid.IntRange(0, 8).Draw(t, "depth") {
			raw = strings.ReplaceAll(rapid.SampledFrom([]string{
				`[%]`, `{"a":%}`, `[1,{},%,"x"]`, `{"metadata":{"x":1},"b":%,"c":[]}`, `{"metadata":%}`, `[[],[%]]`,
			}).Draw(t, "around"), "%", raw)
		}
		got, err := task.Invocations(json.RawMessage("[" + raw + "]"))
		if diff := cmp.Diff([]string{"here"}, got); diff != "" || err != nil {
			t.Fatalf("%s: %v\n%s", raw, err, diff)
		}
	})
}

func TestMessages(t *testing.T) {
	for name, c := range map[string]struct{ bubble, text, sender string }{
		"text":                 {`{"id":"b","type":"user","text":"hi","parts":[{"text":"no"}]}`, "hi", "user"},
		"text of the parts":    {`{"id":"b","type":"agent","parts":[{"kind":"text","text":"a"},{"kind":"data","data":{}},{"text":"b"}]}`, "ab", "agent"},
		"an artifact":          {`{"id":"b","type":"artifact_notification","artifactNotification":{"name":"f.pdf","version":1}}`, "f.pdf", "artifact_notification"},
		"an artifact and text": {`{"id":"b","type":"artifact_notification","text":"made","artifactNotification":{"name":"f"}}`, "made", "artifact_notification"},
		"nothing":              {`{"id":"b","type":"agent"}`, "", "agent"},
		"odd members":          {`{"id":"b","type":"agent","Text":5,"parts":[1,{"text":2},{"Text":3}],"PARTS":"x"}`, "", "agent"},
	} {
		t.Run(name, func(t *testing.T) {
			got := task.Task{ID: "t", SessionID: "s", CreatedTime: 7, Bubbles: json.RawMessage("[" + c.bubble + `,null,5,[{}],"x"]`)}.Messages()
			want := []task.Message{{ID: "b", SessionID: "s", Message: c.text, SenderType: c.sender, CreatedTime: 7}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBubbleRules(t *testing.T) {
	fine := task.Bubble{ID: "b", Type: task.AgentBubble, Text: strings.Repeat("é", task.MaxBubbleText)}
	if err := fine.Validate("/b"); err != nil {
		t.Error(err)
	}
	for pointer, change := range map[string]func(*task.Bubble){
		"/b/id":             func(b *task.Bubble) { b.ID = "" },
		"/b/type":           func(b *task.Bubble) { b.Type = "status" },
		"/b/text":           func(b *task.Bubble) { b.Text += "x" },
		"/b/isStatusBubble": func(b *task.Bubble) { b.Status = true },
	} {
		b := fine
		change(&b)
		var f *fault.Error
		if err := b.Validate("/b"); !errors.As(err, &f) || f.Kind != fault.Invalid || f.Violations[0].Pointer != pointer {
			t.Errorf("%s: %v", pointer, err)
		}
	}
}

func TestTaskSize(t *testing.T) {
	text := func(n int) json.RawMessage { return json.RawMessage(strings.Repeat("x", n)) }
	if err := (task.Task{Bubbles: text(task.MaxSize - 2), Metadata: text(2)}).CheckSize(); err != nil {
		t.Error(err)
	}
	err := task.Task{Bubbles: text(task.MaxSize - 2), Metadata: text(2), UserMessage: text(1)}.CheckSize()
	if !errors.Is(err, fault.Of(fault.TooLarge)) || !strings.Contains(err.Error(), "10 MB") {
		t.Errorf("got %v", err)
	}
}
