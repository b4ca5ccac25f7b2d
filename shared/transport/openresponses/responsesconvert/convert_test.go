package responsesconvert_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

func TestID(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[^/\x00-\x1f\x7f-\x9f]{1,20}`)
		want := responsesconvert.ID{
			SessionID: name.Draw(t, "session"), RunID: name.Draw(t, "run"), After: rapid.Int64Range(0, 1<<50).Draw(t, "after"),
		}
		if got, ok := responsesconvert.ParseID(want.String()); !ok || got != want {
			t.Fatalf("%s is %v", want, got)
		}
	})
	for _, text := range []string{"", "resp_", "resp_YQ", "resp_!", "YS9iLzA", "resp_YS9iLy0x", "resp_YS9iLzAw"} {
		if got, ok := responsesconvert.ParseID(text); ok {
			t.Errorf("%s is %v", text, got)
		}
	}
}

func TestParam(t *testing.T) {
	t.Parallel()
	for pointer, want := range map[string]string{
		"/input/0/content/12/file_id": "input[0].content[12].file_id", "/model": "model", "/metadata/a~1b": "metadata.a/b", "limit": "limit",
	} {
		if got := responsesconvert.Param(pointer); got != want {
			t.Errorf("%s is %s, want %s", pointer, got, want)
		}
	}
}

func all(context.Context, string) (map[string]bool, error) {
	return map[string]bool{"tools": true, "instructions": true, "tool_choice": true}, nil
}

// What a response produced can be sent again, by a client that keeps its own state: the
// events of the history are those that the response was made of.
func TestEvents_output_again(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		s := drawScript(t)
		own := s[len(s)-1]
		items := responsesconvert.Output(own, true)
		if len(items) == 0 {
			return
		}
		input := append([]any{}, object{"role": "user", "content": "Hi"})
		for _, item := range items {
			input = append(input, item)
		}
		input = append(input, object{"role": "user", "content": "Go on"})
		req, err := responsesconvert.ParseRequest(t.Context(), []byte(mustJSON(object{"model": "m", "input": input})), all)
		if err != nil {
			t.Fatal(err)
		}
		history, next, err := responsesconvert.Events(req.Input, "helper", nil)
		if err != nil || len(next) != 1 {
			t.Fatal(next, err)
		}
		for i := range history {
			history[i].Seq, history[i].InvocationID, history[i].Status = int64(i+1), "r", session.EventCompleted
		}
		again := responsesconvert.Output(append(own[:1:1], history[1:]...), true)
		if diff := cmp.Diff(stripped(items), stripped(again)); diff != "" {
			t.Fatalf("(-produced +again):\n%s", diff)
		}
	})
}

// stripped returns items without their ids, and with calls without theirs.
func stripped(items []responsesconvert.Item) []object {
	out := make([]object, len(items))
	for i, item := range items {
		out[i] = object{}
		for name, value := range item {
			if name != "id" && name != "call_id" {
				out[i][name] = value
			}
		}
	}
	var again []object
	if err := json.Unmarshal([]byte(mustJSON(out)), &again); err != nil {
		panic(err)
	}
	return again
}

// No body makes the parser fail in another way than with a fault that names a member.
func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA"}]}]}`))
	f.Add([]byte(`{"model":"m","input":"x","tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"allowed_tools","tools":[{"type":"function","name":"f"}]}}`))
	f.Add([]byte(`{"model":"m","input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x"}]}]}`))
	f.Add([]byte(`{"model":"m","input":[{"type":"reasoning","summary":[]},{"type":"rethread:part","part":{}}],"text":{"format":{"type":"text"}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := responsesconvert.ParseRequest(t.Context(), body, all)
		if err == nil {
			_, _, err = responsesconvert.Events(req.Input, "helper", nil)
		}
		var known *fault.Error
		if err != nil && (!errors.As(err, &known) || len(known.Violations) == 0) {
			t.Errorf("%s: %v", body, err)
		}
	})
}
