package demoagent_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/demoagent"
)

func post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	rec := httptest.NewRecorder()
	demoagent.New(demoagent.Options{}).ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body)))
	out, err := io.ReadAll(rec.Body)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Code, string(out)
}

func input(text string) string {
	return `{"events":[{"author":"user","content":{"role":"user","parts":[{"text":"` + text + `"}]}}]}`
}

func TestTheSameQuestionGetsTheSameAnswer(t *testing.T) {
	want := "event: item\ndata: {\"author\":\"demo\",\"role\":\"model\"}\n\n" +
		"event: delta\ndata: {\"part\":0,\"text\":\"word1 \"}\n\n" +
		"event: delta\ndata: {\"part\":0,\"text\":\"word2\"}\n\n" +
		"event: done\ndata: {}\n\n"
	for range 2 {
		status, got := post(t, "/any/path", input("/long 2"))
		if diff := cmp.Diff(want, got); diff != "" || status != http.StatusOK {
			t.Errorf("status %d (-want +got):\n%s", status, diff)
		}
	}
}

func TestHelpNamesEveryCommand(t *testing.T) {
	_, got := post(t, "/", input("/help"))
	for _, command := range []string{
		"/slow", "/long", "/items", "/think", "/tool", "/state", "/utf8", "/fail", "/drop", "/silent", "/malformed", "/big",
	} {
		if !strings.Contains(got, command) {
			t.Errorf("help does not name %s", command)
		}
	}
}

func TestNumbersAreBounded(t *testing.T) {
	for command, want := range map[string]int{"/items": 3, "/items x": 3, "/items 0": 3, "/items 5": 5, "/items 99999": 2000} {
		if _, got := post(t, "/", input(command)); strings.Count(got, "event: item\n") != want {
			t.Errorf("%s: %d items, want %d", command, strings.Count(got, "event: item\n"), want)
		}
	}
}

func TestChatMessages(t *testing.T) {
	_, got := post(t, "/v1/chat/completions",
		`{"stream":true,"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"}]}]}`)
	if !strings.Contains(got, `"content":"\"a\". "`) || !strings.HasSuffix(got, "data: [DONE]\n\n") {
		t.Errorf("got %s", got)
	}
	_, got = post(t, "/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"/state a=1"}]}`)
	if !strings.Contains(got, "remember") {
		t.Errorf("got %s", got)
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ path, body string }{
		"broken JSON":                    {"/", `{`},
		"no input":                       {"/", `{"events":[]}`},
		"broken messages":                {"/v1/chat/completions", `{`},
		"no user message":                {"/v1/chat/completions", `{"stream":true,"messages":[]}`},
		"a completion without streaming": {"/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}]}`},
		"content of an unknown type":     {"/v1/chat/completions", `{"messages":[{"role":"user","content":5}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			if status, body := post(t, c.path, c.body); status != http.StatusBadRequest {
				t.Errorf("status %d: %s", status, body)
			}
		})
	}
	rec := httptest.NewRecorder()
	demoagent.New(demoagent.Options{}).ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	if rec.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET returned %d", rec.Code)
	}
}
