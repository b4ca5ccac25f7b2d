package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
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

// fill adds values of the running system to a payload, whose token expires after life:
// a stream ends then.
func fill(t *testing.T, sys *e2e.System, payload []byte, life time.Duration) []byte {
	t.Helper()
	token, err := host.Token(t.Context(), sys.URL, "alice")
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.NewReplacer(
		"{{token}}", token, "{{expires}}", strconv.FormatInt(time.Now().Add(life).Unix(), 10),
	).Replace(string(payload)))
}

func invoke(t *testing.T, sys *e2e.System, function samtemplate.Function, file string) {
	t.Helper()
	payload, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// In real time, in which the stream must begin before its token expires: a slow machine
	// needs more of it.
	for life := 3 * time.Second; ; life *= 2 {
		err := checkResult(filepath.Base(function.CodeURI), mustInvoke(t, sys, function.Name, fill(t, sys, payload, life)))
		if err == nil {
			return
		}
		if life > e2e.Patience/2 || !bytes.Contains(payload, []byte("{{expires}}")) {
			t.Fatal(err)
		}
		t.Log(err)
	}
}

// mustInvoke invokes a function and returns its answer.
func mustInvoke(t *testing.T, sys *e2e.System, name string, payload []byte) []byte {
	t.Helper()
	url := sys.LambdaURL + "/2015-03-31/functions/" + name + "/invocations"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(payload))
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
	return got
}

// checkResult checks a function's answer by its type of event.
func checkResult(function string, got []byte) error {
	path, want, streamed := "statusCode", "2", ""     // the beginning of the value, and a part of the stream
	got, stream, _ := bytes.Cut(got, make([]byte, 8)) // Lambda's separator between the head and the streamed body
	switch function {
	case "sweeper", "runner":
		return nil // their answers are not used
	case "authorizer":
		path, want = "policyDocument.Statement.0.Effect", "Allow"
	case "post":
		path, want = "gone.0", "sample-watcher0="
	case "fanout", "dispatch", "deliver":
		path, want = "batchItemFailures", "[]"
	case "sse":
		streamed = "\nevent: thread.status\n"
	case "agui":
		streamed = `"type":"RUN_FINISHED"`
	case "responses":
		streamed = "event: response.completed"
	case "aisdk":
		streamed = "data: [DONE]"
	}
	if text, err := pick.Text(got, path); err != nil {
		return fmt.Errorf("%w: %s", err, got)
	} else if !strings.HasPrefix(text, want) {
		return fmt.Errorf("%w: it answers %s", errPayload, got)
	}
	if !bytes.Contains(stream, []byte(streamed)) {
		return fmt.Errorf("%w: it streams %s without %s", errPayload, stream, streamed)
	}
	return nil
}

var errPayload = errors.New("unexpected result")
