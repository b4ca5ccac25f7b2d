package samtemplate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// TestEveryAPIIsThrottledAndLogged checks template.yaml: every API is throttled and
// has an access log.
func TestEveryAPIIsThrottledAndLogged(t *testing.T) {
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, "template.yaml")
	got, err := samtemplate.Load(name, samtemplate.Options{Parameters: map[string]string{
		"JwtIssuer": "https://issuer.example", "JwtAudience": "rethread",
	}})
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[string]samtemplate.Throttle{}
	for _, api := range got.HTTPAPIs {
		bounds[api.LogicalID] = api.Throttle
	}
	for _, api := range got.RESTAPIs {
		bounds[api.LogicalID] = api.Throttle
	}
	for _, api := range got.WebSocketAPIs {
		bounds[api.LogicalID] = api.Throttle
	}
	if len(bounds) != 3 {
		t.Errorf("%d APIs", len(bounds))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var raw struct {
		Resources map[string]struct {
			Type       string               `yaml:"Type"`
			Properties map[string]yaml.Node `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	for api, bound := range bounds {
		if bound.Rate < 100 || bound.Burst < 100 {
			t.Errorf("the throttle of %s is %+v", api, bound)
		}
		properties := raw.Resources[api].Properties
		_, rest := properties["AccessLogSetting"]
		if _, others := properties["AccessLogSettings"]; !rest && !others {
			t.Errorf("%s has no access log", api)
		}
	}
	groups := 0
	for id, r := range raw.Resources {
		switch r.Type {
		case "AWS::Logs::LogGroup":
			groups++
			if _, ok := r.Properties["RetentionInDays"]; !ok {
				t.Errorf("%s has no retention", id)
			}
		case "AWS::DynamoDB::Table":
			if _, ok := r.Properties["DeletionProtectionEnabled"]; !ok {
				t.Errorf("%s is not protected against deletion", id)
			}
		}
	}
	if want := len(got.Functions) + len(bounds); groups != want {
		t.Errorf("%d log groups, want %d: one for each function and API", groups, want)
	}
	if strings.Contains(string(text), "DetailedMetricsEnabled: true") {
		t.Error("detailed metrics are enabled, but not used")
	}
}
