package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rethread/rethread/infra/e2e"
	"github.com/rethread/rethread/infra/samtemplate"
)

// testPayloads invokes each function of the template with its payloads of
// events/, as `sam local invoke` would.
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

func invoke(t *testing.T, sys *e2e.System, function samtemplate.Function, file string) {
	t.Helper()
	payload, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	url := sys.LambdaURL + "/2015-03-31/functions/" + function.Name + "/invocations"
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
	if len(function.Routes) == 0 {
		return
	}
	var answer struct {
		StatusCode int    `json:"statusCode"`
		Body       string `json:"body"`
	}
	if err := json.Unmarshal(got, &answer); err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if answer.StatusCode/100 != 2 {
		t.Errorf("answers %d\n%s", answer.StatusCode, answer.Body)
	}
}
