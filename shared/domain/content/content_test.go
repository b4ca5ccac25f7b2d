package content_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, raw string
		kinds     string // of the parts: a letter each
		role      string
		ok        bool
	}{
		{"all kinds", `{"role":"model","parts":[{"text":"t"},{"text":"t","thought":true},{"function_call":{"name":"f"}},` +
			`{"function_response":{"name":"f","response":{}}},{"inline_data":{"data":"AA=="}},{"file_data":{"file_uri":"u"}},{"data":1}]}`, "ttcrifd", "model", true},
		{"unknown kinds", `{"role":"user","parts":[{"executable_code":{}},{},null]}`, "---", "user", true},
		{"no role", `{"parts":[{"text":""}]}`, "t", "", true},
		{"null", `null`, "", "", true},
		{"nothing", ``, "", "", true},
		{"no parts", `{"role":"user","parts":null}`, "", "user", true},
		{"a role that is no text", `{"role":5,"parts":[{"text":"t"}]}`, "t", "", false},
		{"parts that are one", `{"parts":{"text":"t"}}`, "t", "", false},
		{"parts that are a text", `{"parts":"t"}`, "-", "", false},
		{"a text", `"t"`, "-", "", false},
		{"no JSON", `{"parts":[{"text":`, "-", "", false},
		{"other names", `{"Role":"user","parts":[{"Text":"t"}]}`, "-", "", true},
		{"a part of another shape", `{"parts":["t",{"text":5},{"text":"t"}]}`, "--t", "", false},
		{"a call without an object", `{"parts":[{"text":"t","function_call":"f"}]}`, "-", "", false},
		{"labels that are no texts", `{"parts":[{"text":"t","mime_type":5,"display_name":{}}]}`, "t", "", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, ok := content.Parse(json.RawMessage(test.raw))
			got := ""
			for _, p := range c.Parts {
				got += kind(p)
			}
			if got != test.kinds || c.Role != test.role || ok != test.ok {
				t.Errorf("got %q, %q, %v, want %q, %q, %v", got, c.Role, ok, test.kinds, test.role, test.ok)
			}
		})
	}
}

func kind(p content.Part) string {
	switch {
	case p.Call != nil:
		return "c"
	case p.Response != nil:
		return "r"
	case p.Inline != nil:
		return "i"
	case p.File != nil:
		return "f"
	case p.Data != nil:
		return "d"
	case p.Text != nil:
		return "t"
	}
	return "-"
}

func TestContent_is_written_as_it_came(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"parts":[{"text":"<&>","x":1,"text":"again"}],"later":[{"function_call":1}],"role":"model"}`,
		`{"role":"user","parts":[{"function_call":{"args":{"n":12345678901234567890.10,"z":1,"a":2},"id":"1","x":null,"name":"f"}}]}`,
		`{"parts":[{"function_response":{"response":"{\"a\":1}","name":"f"}},{"inline_data":{"data":"_-8","mime_type":5}}]}`,
		`{"parts":[{"text":"\ud83d\ude00 \u0085 é"},null,[],"t"]}`,
	} {
		written(t, raw)
	}
	property.Check(t, func(t *rapid.T) { written(t, anyContent(t)) })
}

func written(t rapid.TB, raw string) {
	t.Helper()
	c, _ := content.Parse(json.RawMessage(raw))
	got, err := c.JSON()
	if err != nil || string(got) != raw {
		t.Errorf("got %s, %v\nwant %s", got, err, raw)
	}
	var parts struct{ Parts json.RawMessage }
	if json.Unmarshal([]byte(raw), &parts) == nil && jsonx.IsArray(parts.Parts) {
		again, err := jsonx.Marshal(c.Parts)
		if err != nil || string(again) != string(parts.Parts) {
			t.Errorf("got %s, %v\nwant the parts %s", again, err, parts.Parts)
		}
	}
	for _, p := range c.Parts {
		for _, whole := range wholes(p) {
			if !json.Valid(whole) || !strings.Contains(raw, string(whole)) {
				t.Errorf("got %s of %s", whole, raw)
			}
		}
	}
}

// wholes returns the call and the response of a part as they came.
func wholes(p content.Part) (out []json.RawMessage) {
	if p.Call != nil {
		out = append(out, p.Call.Raw)
	}
	if p.Response != nil {
		out = append(out, p.Response.Raw)
	}
	return out
}

func TestContent_that_was_built(t *testing.T) {
	t.Parallel()
	data := content.Text(`{"n":1}`)
	data.Data, data.MIMEType, data.Metadata = json.RawMessage(`{"n":1}`), "application/json", json.RawMessage(`{"k":"v"}`)
	c := content.Content{Role: "model", Parts: []content.Part{
		content.Text("<&>"),
		{Text: new(string), Thought: true},
		data,
		content.Data("image/png", "AA==", "a.png"), content.Data("", "AA==", ""), content.Address("", "https://x", ""),
		{Call: &content.Call{ID: "1", Name: "f", Args: json.RawMessage(`{}`)}},
		{Call: &content.Call{Raw: json.RawMessage(`{"x":1}`)}},
		content.Answer("1", "f", json.RawMessage(`{"r":1.0}`)), content.Answer("", "", json.RawMessage(`{}`)),
		{Response: &content.Response{Raw: json.RawMessage(`{"x":1}`)}},
		content.Named("image/png", "file-1"),
	}}
	want := `{"parts":[{"text":"<&>"},{"text":"","thought":true},` +
		`{"data":{"n":1},"mime_type":"application/json","part_metadata":{"k":"v"},"text":"{\"n\":1}"},` +
		`{"inline_data":{"data":"AA==","display_name":"a.png","mime_type":"image/png"}},{"inline_data":{"data":"AA=="}},{"file_data":{"file_uri":"https://x"}},` +
		`{"function_call":{"args":{},"id":"1","name":"f"}},{"function_call":{"x":1}},` +
		`{"function_response":{"id":"1","name":"f","response":{"r":1.0}}},{"function_response":{"name":"","response":{}}},` +
		`{"function_response":{"x":1}},{"text":"[file: image/png file-1]"}],"role":"model"}`
	got, err := c.JSON()
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{`{}`: "", `null`: "", ``: "", `[]`: "/x must be an object", `"t"`: "/x must be an object"} {
		got := ""
		if err := content.Check(json.RawMessage(raw), "/x"); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, strings.TrimPrefix(want, "/x ")) || (got == "") != (want == "") {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
}

func TestIsBase64(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"AA==": true, "AA": true, "_-8=": true, "/+8=": true, "": false, "!": false, "AAAAA": false} {
		if got := content.IsBase64(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	if got, want := content.DataURL("image/png", "_-8="), "data:image/png;base64,/+8="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
