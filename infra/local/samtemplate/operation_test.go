package samtemplate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/shared/observe/metrics"
	"github.com/rethread/rethread/shared/observe/metrics/emf"
)

// resource is one of template.yaml, as far as operation goes.
type resource struct {
	Type       string `yaml:"Type"`
	Properties struct {
		Body    string `yaml:"DashboardBody"`
		Metrics []struct {
			Stat any `yaml:"MetricStat"`
		} `yaml:"Metrics"`
		Dimensions []struct {
			Value string `yaml:"Value"`
		} `yaml:"Dimensions"`
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

// shown is a metric of the dashboard: its namespace and name, and its dimensions
// by name, still with the placeholders of the template.
type shown struct {
	namespace, name string
	dimensions      map[string]string
}

func mustDashboard(t *testing.T, resources map[string]resource) []shown {
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
	var all []shown
	for _, w := range body.Widgets {
		for _, m := range w.Properties.Metrics {
			s := shown{namespace: m[0].(string), name: m[1].(string), dimensions: map[string]string{}}
			for i := 2; i+1 < len(m); i += 2 {
				s.dimensions[m[i].(string)] = m[i+1].(string)
			}
			all = append(all, s)
		}
	}
	return all
}

// freeMetrics is how many metrics a dashboard may show and still be one of the
// three that cost nothing.
const freeMetrics = 50

func TestDashboard(t *testing.T) {
	t.Parallel()
	resources := mustResources(t)
	placeholder := regexp.MustCompile(`\$\{(\w+)[.}]`)
	for _, m := range placeholder.FindAllStringSubmatch(resources["Dashboard"].Properties.Body, -1) {
		if resources[m[1]].Type == "" && m[1] != "AWS" {
			t.Errorf("it names %s, which is no resource", m[1])
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
				t.Errorf("%s %s: %s is no %s", m.namespace, m.name, value, want)
			}
		}
		if m.namespace == emf.Namespace {
			own[metrics.Name(m.name)] = true
			checkDimensions(t, m)
		}
	}
	for _, name := range metrics.All() {
		if !own[name] {
			t.Errorf("it does not show %s", name)
		}
		delete(own, name)
	}
	if len(own) > 0 {
		t.Errorf("nobody measures %v", own)
	}
	if len(distinct) > freeMetrics {
		t.Errorf("it shows %d metrics", len(distinct))
	}
}

// checkDimensions holds a metric's dimensions to those that it is told with.
func checkDimensions(t *testing.T, m shown) {
	t.Helper()
	lines, err := emf.Lines(emf.Document{
		Stack: "${AWS::StackName}", Function: m.dimensions[emf.Function], Values: metrics.Values{metrics.Name(m.name): {1}},
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
		t.Errorf("%s (-told +shown)\n%s", m.name, diff)
	}
}

// mostAlarmMetrics is how many metrics CloudWatch lets one alarm add up.
const mostAlarmMetrics = 10

func TestAlarms(t *testing.T) {
	t.Parallel()
	resources := mustResources(t)
	watched := ""
	for name, r := range resources {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		if n := len(r.Properties.Metrics) - 1; n > mostAlarmMetrics { // one is the sum
			t.Errorf("%s watches %d metrics, of which it may %d", name, n, mostAlarmMetrics)
		}
		for _, d := range r.Properties.Dimensions {
			watched += " " + d.Value
		}
		for _, m := range r.Properties.Metrics {
			text, err := json.Marshal(m.Stat)
			if err != nil {
				t.Fatal(err)
			}
			watched += " " + string(text)
		}
	}
	unwatched := map[string]string{
		"DeliveryRetries": "what waits there waits for receivers that are slow or fail, and Failures takes what cannot be handled",
		"Retries":         "the same",
		"Abandoned":       "what is there is mostly the receivers' fault",
	}
	names := regexp.MustCompile(`\w+`).FindAllString(watched, -1)
	for name, r := range resources {
		kind := r.Type == "AWS::Serverless::Function" || r.Type == "AWS::SQS::Queue"
		if kind && !slices.Contains(names, name) && unwatched[name] == "" {
			t.Errorf("no alarm watches %s", name)
		}
	}
	for name := range unwatched {
		if !strings.HasSuffix(resources[name].Type, "Queue") {
			t.Errorf("%s is no queue", name)
		}
	}
}
