package e2e_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/test/e2e"
	"github.com/rethread/rethread/infra/test/e2e/host"
	"github.com/rethread/rethread/infra/test/e2e/pick"
)

// testPayloads invokes each function of the template with its payloads in events/,
// like `sam local invoke`.
func testPayloads(t *testing.T, sys *e2e.System) {
	t.Helper()
	template, err := samtemplate.Load(filepath.Join(sys.Root, "template.yaml"), samtemplate.Options{
		Parameters: map[string]string{"JwtIssuer": "https://issuer.example", "JwtAudience": "rethread"},
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(sys.Root, "events", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, function := range template.Functions {
		folder := filepath.Base(function.CodeURI)
		mine := slices.DeleteFunc(slices.Clone(all), func(name string) bool {
			only, err := filepath.Match(folder+".json", filepath.Base(name))
			many, err2 := filepath.Match(folder+"-*.json", filepath.Base(name))
			return err != nil || err2 != nil || !only && !many
		})
		if len(mine) == 0 {
			t.Errorf("function %s has no payload in events/", function.Name)
		}
		used += len(mine)
		for _, name := range mine {
			t.Run(filepath.Base(name), func(t *testing.T) { invoke(t, sys, function, name) })
		}
	}
	if used != len(all) {
		t.Errorf("%d of the %d payloads belong to a function", used, len(all))
	}
}

// watched is the duration of the stream in its payload.
const watched = 2 * time.Second

// fill adds values of the running system to a payload.
func fill(t *testing.T, sys *e2e.System, payload []byte) []byte {
	t.Helper()
	token, err := host.Token(t.Context(), sys.URL, "alice")
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.NewReplacer(
		"{{token}}", token, "{{expires}}", strconv.FormatInt(time.Now().Add(watched).Unix(), 10),
	).Replace(string(payload)))
}

func invoke(t *testing.T, sys *e2e.System, function samtemplate.Function, file string) {
	t.Helper()
	payload, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	url := sys.LambdaURL + "/2015-03-31/functions/" + function.Name + "/invocations"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(fill(t, sys, payload)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("X-Amz-Function-Error") != "" {
		t.Fatalf("invoking answers %s %s\n%s", res.Status, res.Header.Get("X-Amz-Function-Error"), got)
	}
	checkResult(t, filepath.Base(function.CodeURI), got)
}

// checkResult checks a function's answer by its type of event.
func checkResult(t *testing.T, function string, got []byte) {
	t.Helper()
	path, want := "statusCode", "2"                   // the beginning of the value
	got, stream, _ := bytes.Cut(got, make([]byte, 8)) // Lambda's separator between the head and the streamed body
	switch function {
	case "sweeper", "runner":
		return // their answers are not used
	case "authorizer":
		path, want = "policyDocument.Statement.0.Effect", "Allow"
	case "fanout", "dispatch", "deliver":
		path, want = "batchItemFailures", "[]"
	case "sse":
		checkStream(t, stream, "\nevent: thread.status\n")
	case "agui":
		checkStream(t, stream, `"type":"RUN_FINISHED"`)
	case "responses":
		checkStream(t, stream, "event: response.completed")
	case "aisdk":
		checkStream(t, stream, "data: [DONE]")
	}
	if text, err := pick.Text(got, path); err != nil || !strings.HasPrefix(text, want) {
		t.Errorf("%v: answers %s", err, got)
	}
}

func checkStream(t *testing.T, stream []byte, want string) {
	t.Helper()
	if !bytes.Contains(stream, []byte(want)) {
		t.Errorf("streams %s without %s", stream, want)
	}
}
