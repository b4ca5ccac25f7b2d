package httpfile_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/e2e/httpfile"
)

const sample = `# A file
@host = http://127.0.0.1:3000
@api={{host}}/api

### Make one
# @name made
# expect 201 200
POST {{api}}/things
Content-Type: application/json
X-Id: {{ $guid }}

{
  "a": "{{host}}"
}

### Read it
GET {{api}}/things/{{made.response.body.$.data[0].id}}
If-None-Match: {{made.response.headers.ETag}}
`

func TestParse(t *testing.T) {
	file, err := httpfile.Parse(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	session := httpfile.Session{Variables: file.Variables, NewID: func() string { return "id1" }}
	session.Remember("made", httpfile.Answer{
		Header: http.Header{"Etag": {`"3"`}}, Body: []byte(`{"data":[{"id":"x y"}]}`),
	})
	want := []httpfile.Request{
		{
			Title: "Make one", Name: "made", Line: 8, Expect: []int{201, 200},
			Method: "POST", URL: "http://127.0.0.1:3000/api/things", Body: "{\n  \"a\": \"http://127.0.0.1:3000\"\n}",
			Headers: []httpfile.Header{{"Content-Type", "application/json"}, {"X-Id", "id1"}},
		},
		{
			Title: "Read it", Line: 17, Method: "GET", URL: "http://127.0.0.1:3000/api/things/x y",
			Headers: []httpfile.Header{{"If-None-Match", `"3"`}},
		},
	}
	var got []httpfile.Request
	for _, r := range file.Requests {
		resolved, err := session.Resolve(r)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, resolved)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, line := range map[string]int{"FETCH /x\n": 1, "GET /x\nno header\n": 2, "# expect soon\nGET /x": 1} {
		_, err := httpfile.Parse(strings.NewReader(text))
		var syntax *httpfile.SyntaxError
		if !errors.As(err, &syntax) || syntax.Line != line {
			t.Errorf("%q: %v, want an error of line %d", text, err, line)
		}
	}
}

func TestResolveRefusesTheUnknown(t *testing.T) {
	session := httpfile.Session{}
	if _, err := session.Resolve(httpfile.Request{URL: "{{nobody.response.body.$.id}}"}); !errors.Is(err, httpfile.ErrUnknown) {
		t.Errorf("got %v", err)
	}
}
