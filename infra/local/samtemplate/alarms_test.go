package samtemplate_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/rethread/rethread/infra/local/repo"
)

// metric is a metric that an alarm watches or a metric filter writes.
type metric struct {
	Namespace  string `yaml:"Namespace"`
	Name       string `yaml:"MetricName"`
	Dimensions []struct {
		Name  string `yaml:"Name"`
		Value string `yaml:"Value"`
	} `yaml:"Dimensions"`
}

// watched is the part of template.yaml that reports failures to operators.
type watched struct {
	Globals struct {
		Function struct {
			Logging logging `yaml:"LoggingConfig"`
		} `yaml:"Function"`
	} `yaml:"Globals"`
	Resources map[string]struct {
		Type       string    `yaml:"Type"`
		Properties yaml.Node `yaml:"Properties"`
	} `yaml:"Resources"`
}

type logging struct {
	Format string `yaml:"LogFormat"`
	System string `yaml:"SystemLogLevel"`
	Group  string `yaml:"LogGroup"`
}

// filter is a metric filter.
type filter struct{ Pattern, Value string }

// points is the metric that all filters feed.
const points = "Rethread/${AWS::StackName} ErrorPoints"

// What the filters count. Lambda reports a failed invocation at level WARN. The
// authorizer rejects callers with an error.
const (
	failed         = `{ ($.type = "platform.report" && $.record.status != "success")` + errorLine
	authorizer     = `{ ($.type = "platform.report" && (` + authorizerDied + `))` + errorLine
	authorizerDied = `$.record.status = "timeout" || $.record.status = "failure" || $.record.errorType = "Runtime.*"`
	errorLine      = ` || ($.level = "ERROR" && $.throttles NOT EXISTS) }`
	throttled      = `{ $.throttles > 0 }`
	serverErrors   = `{ $.status = "5*" }`
)

// maxAlarmMetrics keeps an idle month below $1.20: a metric costs $0.10.
const maxAlarmMetrics = 8

func TestAlarms(t *testing.T) {
	t.Parallel()
	template := mustWatched(t)
	metrics := template.mustAlarmMetrics(t)
	filters := template.mustFilters(t)
	t.Run("every function's failures, errors and throttles reach an alarm", func(t *testing.T) {
		if !slices.Contains(metrics, points) {
			t.Errorf("no alarm watches %s", points)
		}
		functions := 0
		for id, r := range template.Resources {
			if r.Type != "AWS::Serverless::Function" {
				continue
			}
			functions++
			own := mustDecode[struct {
				Logging logging `yaml:"LoggingConfig"`
			}](t, r.Properties).Logging
			if own.Format != "" || own.System != "" {
				t.Errorf("%s has a log format or level of its own: failures may not be logged", id)
			}
			want := []filter{{throttled, "$.throttles"}, {failed, "10"}}
			if id == "AuthorizerFunction" {
				want[1].Pattern = authorizer
			}
			if diff := cmp.Diff(want, filters[own.Group]); diff != "" {
				t.Errorf("filters of %s, on %q (-want +got):\n%s", id, own.Group, diff)
			}
		}
		if functions < 26 {
			t.Errorf("%d functions were checked", functions)
		}
		want := logging{Format: "JSON", System: "WARN"}
		if diff := cmp.Diff(want, template.Globals.Function.Logging); diff != "" {
			t.Errorf("the functions' logs (-want +got):\n%s", diff)
		}
		t.Logf("%d functions were checked", functions)
	})
	t.Run("server errors of the HTTP API reach an alarm", func(t *testing.T) {
		if diff := cmp.Diff([]filter{{serverErrors, "2"}}, filters["HttpLogGroup"]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("functions without concurrency reach an alarm", func(t *testing.T) {
		if !slices.Contains(metrics, "AWS/Lambda Throttles") {
			t.Errorf("no alarm watches the throttles of all functions: %v", metrics)
		}
	})
	t.Run("every queue is watched, or does not need to be", func(t *testing.T) {
		unwatched := map[string]string{
			"DeliveryRetries": "its messages wait for slow or failing receivers, and Failures receives what cannot be processed",
			"Retries":         "as above",
			"Abandoned":       "its messages are mostly caused by receivers",
		}
		for id, r := range template.Resources {
			if r.Type != "AWS::SQS::Queue" {
				continue
			}
			is := slices.ContainsFunc(metrics, func(m string) bool { return strings.HasSuffix(m, " QueueName="+id+".QueueName") })
			if is == (unwatched[id] != "") {
				t.Errorf("%s: watched %v, and %q", id, is, unwatched[id])
			}
		}
	})
	t.Run("alarms watch few metrics", func(t *testing.T) {
		if len(metrics) > maxAlarmMetrics {
			t.Errorf("%d: %v", len(metrics), metrics)
		}
	})
	t.Run("docs/operation.md names each alarm", func(t *testing.T) {
		page := string(mustFile(t, "docs/operation.md"))
		for id, r := range template.Resources {
			if r.Type == "AWS::CloudWatch::Alarm" && !strings.Contains(page, "| `"+strings.TrimSuffix(id, "Alarm")+"`") {
				t.Errorf("no row for %s", id)
			}
		}
	})
}

func mustFile(t *testing.T, name string) []byte {
	t.Helper()
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func mustWatched(t *testing.T) (w watched) {
	t.Helper()
	if err := yaml.Unmarshal(mustFile(t, "template.yaml"), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

func mustDecode[T any](t *testing.T, node yaml.Node) (v T) {
	t.Helper()
	if err := node.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func (m metric) String() string {
	text := m.Namespace + " " + m.Name
	for _, d := range m.Dimensions {
		text += " " + d.Name + "=" + d.Value
	}
	return text
}

// mustAlarmMetrics returns the metrics of all alarms, as they are billed.
func (w watched) mustAlarmMetrics(t *testing.T) (all []string) {
	t.Helper()
	for id, r := range w.Resources {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		p := mustDecode[struct {
			Own     metric `yaml:",inline"`
			Metrics []struct {
				Stat *struct {
					Metric metric `yaml:"Metric"`
				} `yaml:"MetricStat"`
			} `yaml:"Metrics"`
		}](t, r.Properties)
		before := len(all)
		if p.Own.Name != "" {
			all = append(all, p.Own.String())
		}
		for _, m := range p.Metrics {
			if m.Stat != nil {
				all = append(all, m.Stat.Metric.String())
			}
		}
		if len(all) == before {
			t.Errorf("%s watches no metric", id)
		}
	}
	return all
}

// mustFilters returns the filters that feed points, by log group.
func (w watched) mustFilters(t *testing.T) map[string][]filter {
	t.Helper()
	filters := map[string][]filter{}
	for id, r := range w.Resources {
		if r.Type != "AWS::Logs::MetricFilter" {
			continue
		}
		p := mustDecode[struct {
			Group           string `yaml:"LogGroupName"`
			Pattern         string `yaml:"FilterPattern"`
			Transformations []struct {
				Namespace string `yaml:"MetricNamespace"`
				Name      string `yaml:"MetricName"`
				Value     string `yaml:"MetricValue"`
			} `yaml:"MetricTransformations"`
		}](t, r.Properties)
		for _, to := range p.Transformations {
			if to.Namespace+" "+to.Name != points {
				t.Errorf("%s feeds %s %s, which no alarm watches", id, to.Namespace, to.Name)
			}
			filters[p.Group] = append(filters[p.Group], filter{p.Pattern, to.Value})
		}
		slices.SortFunc(filters[p.Group], func(a, b filter) int { return strings.Compare(a.Value, b.Value) })
	}
	return filters
}
