package rest_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestInvalidUnicode(t *testing.T) {
	s := newSystem(t)
	id := s.mustCreate(t, alice, `{}`).ID
	for pointer, r := range map[string]request{
		"/name":                          post(alice, "/sessions", `{"name":"\ud800"}`),
		"/state/a~1b/0":                  post(alice, "/sessions", `{"state":{"a/b":["\udc00"]}}`),
		"/events/0/content/parts/0/text": post(alice, "/sessions/"+id+"/events", `{"events":[{"invocation_id":"i","author":"u","content":{"parts":[{"text":"x\ud83dy"}]}}]}`),
		"/message_bubbles/0/text":        post(alice, "/sessions/"+id+"/tasks", `{"task_id":"t","message_bubbles":[{"id":"b","type":"user","text":"\ud83d"}]}`),
		"/history/0/parts/0/text":        post(alice, "/api/tasks", `{"id":"t","contextId":"`+id+`","status":{"state":"x"},"history":[{"parts":[{"text":"\udfff"}]}]}`),
	} {
		s.mustRefuse(t, http.StatusBadRequest, pointer, r)
	}
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	s.must(t, http.StatusBadRequest, post(alice, "/sessions", `{"metadata":{"a":`+deep+`}}`))
	if got := s.mustCreate(t, alice, `{"name":"\ud83d\ude00"}`).Name; got != "😀" {
		t.Errorf("named %q", got)
	}
}

// The checksum of a cursor is not secret: forged positions must be refused.
func TestForgedCursors(t *testing.T) {
	s := newSystem(t)
	id := s.mustCreate(t, alice, `{}`).ID
	s.mustAppend(t, id, said("i", "x"))
	forge := func(position string, selects ...string) string {
		of, err := json.Marshal(append([]string{alice}, selects...))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(append(of, position...))
		return base64.RawURLEncoding.EncodeToString(append(sum[:9:9], position...))
	}
	positions := []string{
		`{"s":-1,"e":0}`, `{"s":0,"e":0}`, `{"s":9223372036854775807,"e":0}`, `{"s":1,"e":-1}`, `{"s":1,"e":0,"x":1}`, `{"s":"1","e":0}`,
		`null`, `[]`, `5`, `""`, `"x"`, `"0|"`, `"0|x"`, `"+0|T#1#x"`, `"0|T#-1#x"`, `"99999999999999999999|T#1#x"`, `"-1"`,
		`"9223372036854775807"`, `"` + strings.Repeat("x", 1025) + `"`, `"\ud800"`,
	}
	cases, refused := 0, 0
	for path, selects := range map[string][]string{
		"/sessions/" + id + "/events": {"events", id, "effective", "asc", "0"},
		"/sessions/" + id + "/thread": {"thread", id, "asc"},
		"/sessions/" + id + "/tasks":  {"tasks", id},
		"/sessions":                   {"sessions", "", "", ""},
		"/feedback":                   {"feedback", "", "", ""},
		"/webhooks":                   {"webhooks"},
		"/sessions/" + id + "/artifacts/file/versions": {"versions", id, "file"},
		"/sessions/" + id + "/artifacts":               {"artifacts", id},
	} {
		for _, position := range positions {
			cases++
			got := s.do(t, get(alice, path+"?cursor="+forge(position, selects...)))
			if got.status >= 500 {
				t.Errorf("%s with %.60s: %d %s", path, position, got.status, got.body)
			}
			if got.status == http.StatusBadRequest {
				refused++
			}
		}
	}
	t.Logf("%d forged cursors, %d refused with 400", cases, refused)
	if cases < 150 || refused < 120 {
		t.Errorf("%d forged cursors, %d refused with 400", cases, refused)
	}
}

// Errors of libraries about an address or a query are reported in our own
// words.
func TestErrorsDoNotQuoteLibraries(t *testing.T) {
	s := newSystem(t)
	for _, address := range []string{
		"https://[::1", "https://a b/", "https://%zz/", "https://exa\u007fmple.org/", ":", "https://user:secret@%/", "https://a:99999999/", "://", "https://a\u0000b/",
	} {
		body := `{"url":` + mustJSON(t, address) + `}`
		got := s.must(t, http.StatusUnprocessableEntity, post(alice, "/webhooks", body))
		if goErrorWords.Match(got.body) || strings.Contains(string(got.body), "secret") || !strings.Contains(string(got.body), `"/url"`) ||
			strings.Contains(string(got.body), "parse \\\"") || strings.Contains(string(got.body), "net/url") {
			t.Errorf("%q: %s", address, got.body)
		}
	}
	for _, query := range []string{"q=%zz", "limit=%", "q=a;b"} {
		got := s.must(t, http.StatusBadRequest, get(alice, "/sessions?"+query))
		if goErrorWords.Match(got.body) || strings.Contains(string(got.body), "semicolon") || !strings.Contains(string(got.body), "query") {
			t.Errorf("%s: %s", query, got.body)
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
