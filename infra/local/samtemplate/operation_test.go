package samtemplate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// resource is a resource of template.yaml, with the members for operation.
type resource struct {
	Type       string `yaml:"Type"`
	Properties struct {
		Body string `yaml:"DashboardBody"`
	} `yaml:"Properties"`
}

func mustResources(t *testing.T) map[string]resource {
	t.Helper()
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Resources map[string]yaml.Node `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	resources := map[string]resource{}
	for name, node := range all.Resources {
		var r resource
		if err := node.Decode(&r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		resources[name] = r
	}
	return resources
}

// dashboardMetric is a metric of the dashboard: its namespace, name and dimensions, with the
// template's placeholders.
type dashboardMetric struct {
	namespace, name string
	dimensions      map[string]string
}

func mustDashboard(t *testing.T, resources map[string]resource) []dashboardMetric {
	t.Helper()
	var body struct {
		Widgets []struct {
			Type       string
			Properties struct{ Metrics [][]any }
		}
	}
	if err := json.Unmarshal([]byte(resources["Dashboard"].Properties.Body), &body); err != nil {
		t.Fatal(err)
	}
	var all []dashboardMetric
	for _, w := range body.Widgets {
		for _, m := range w.Properties.Metrics {
			s := dashboardMetric{namespace: m[0].(string), name: m[1].(string), dimensions: map[string]string{}}
			for i := 2; i+1 < len(m); i += 2 {
				s.dimensions[m[i].(string)] = m[i+1].(string)
			}
			all = append(all, s)
		}
	}
	return all
}

// freeMetrics is the number of metrics up to which a dashboard can be one of the
// three free ones.
const freeMetrics = 50

func TestDashboard(t *testing.T) {
	t.Parallel()
	resources := mustResources(t)
	placeholder := regexp.MustCompile(`\$\{(\w+)[.}]`)
	for _, m := range placeholder.FindAllStringSubmatch(resources["Dashboard"].Properties.Body, -1) {
		if resources[m[1]].Type == "" && m[1] != "AWS" {
			t.Errorf("the dashboard names %s, which is not a resource", m[1])
		}
	}
	of := map[string]string{"FunctionName": "AWS::Serverless::Function", "QueueName": "AWS::SQS::Queue", "TableName": "AWS::DynamoDB::Table"}
	distinct := map[string]bool{}
	own := map[metrics.Name]bool{}
	for _, m := range mustDashboard(t, resources) {
		key, err := json.Marshal([]any{m.namespace, m.name, m.dimensions})
		if err != nil {
			t.Fatal(err)
		}
		distinct[string(key)] = true
		for name, value := range m.dimensions {
			if want := of[name]; want != "" && resources[placeholder.FindStringSubmatch(value)[1]].Type != want {
				t.Errorf("%s %s: %s is not an %s", m.namespace, m.name, value, want)
			}
		}
		if m.namespace == metrics.Namespace {
			own[metrics.Name(m.name)] = true
			checkDimensions(t, m)
		}
	}
	for _, name := range metrics.All() {
		if !own[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
		delete(own, name)
	}
	if len(own) > 0 {
		t.Errorf("metrics that are not measured: %v", own)
	}
	if len(distinct) > freeMetrics {
		t.Errorf("the dashboard shows %d metrics", len(distinct))
	}
}

// checkDimensions compares a metric's dimensions with those it is published with.
func checkDimensions(t *testing.T, m dashboardMetric) {
	t.Helper()
	lines, err := metrics.Lines(metrics.Document{
		Stack: "${AWS::StackName}", Function: m.dimensions[metrics.Function], Values: metrics.Values{metrics.Name(m.name): {1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var told map[string]any
	if err := json.Unmarshal(lines[0], &told); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	directive := told["_aws"].(map[string]any)["CloudWatchMetrics"].([]any)[0].(map[string]any)
	for _, name := range directive["Dimensions"].([]any)[0].([]any) {
		want[name.(string)] = told[name.(string)].(string)
	}
	if diff := cmp.Diff(want, m.dimensions); diff != "" {
		t.Errorf("%s (-published +shown)\n%s", m.name, diff)
	}
}
