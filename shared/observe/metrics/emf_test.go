package metrics_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/observe/metrics"
)

type fields = map[string]any

func document(values metrics.Values) metrics.Document {
	return metrics.Document{Time: time.UnixMilli(1_700_000_000_000), Stack: "rethread", Function: "rethread-Runs", Values: values}
}

// mustLines encodes a document and reads the lines as CloudWatch does: every
// reference must have a target.
func mustLines(t rapid.TB, d metrics.Document) []fields {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("testdata/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := metrics.Lines(d)
	if err != nil {
		t.Fatal(err)
	}
	var out []fields
	for _, line := range lines {
		if bytes.IndexByte(line, '\n') != len(line)-1 {
			t.Fatalf("not one line: %s", line)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		var members fields
		if err := json.Unmarshal(line, &members); err != nil {
			t.Fatal(err)
		}
		for _, raw := range members["_aws"].(fields)["CloudWatchMetrics"].([]any) {
			checkReferences(t, members, raw.(fields))
		}
		out = append(out, members)
	}
	return out
}

func checkReferences(t rapid.TB, members, directive fields) {
	t.Helper()
	for _, set := range directive["Dimensions"].([]any) {
		for _, name := range set.([]any) {
			if value, ok := members[name.(string)].(string); !ok || value == "" || len(value) > 1024 {
				t.Fatalf("dimension %s is %v", name, members[name.(string)])
			}
		}
	}
	for _, def := range directive["Metrics"].([]any) {
		switch value := members[def.(fields)["Name"].(string)].(type) {
		case float64:
		case []any:
			if len(value) < 1 || len(value) > 100 {
				t.Fatalf("%v has %d values", def, len(value))
			}
		default:
			t.Fatalf("%v is %v", def, value)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	t.Run("follows CloudWatch's format", func(t *testing.T) {
		t.Parallel()
		d := document(metrics.Values{metrics.Latency: {12.5}, metrics.ReadUnits: {3}, metrics.PushDelay: {1, 2}})
		d.Properties = []slog.Attr{slog.String("request_id", "r"), slog.Int("status", 200)}
		want := fields{
			"_aws": fields{
				"Timestamp": 1.7e12,
				"CloudWatchMetrics": []any{
					fields{
						"Namespace": "Rethread", "Dimensions": []any{[]any{"Stack"}},
						"Metrics": []any{
							fields{"Name": "PushDelay", "Unit": "Milliseconds"}, fields{"Name": "ReadUnits", "Unit": "Count"},
						},
					},
					fields{
						"Namespace": "Rethread", "Dimensions": []any{[]any{"Stack", "FunctionName"}},
						"Metrics": []any{fields{"Name": "Latency", "Unit": "Milliseconds"}},
					},
				},
			},
			"Stack": "rethread", "FunctionName": "rethread-Runs",
			"Latency": 12.5, "ReadUnits": 3.0, "PushDelay": []any{1.0, 2.0}, "request_id": "r", "status": 200.0,
		}
		if diff := cmp.Diff([]fields{want}, mustLines(t, d)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("adds latencies by route to those by function", func(t *testing.T) {
		t.Parallel()
		d := document(metrics.Values{metrics.Latency: {1}, metrics.ReadUnits: {3}})
		d.Route = "GET /sessions"
		got := mustLines(t, d)[0]["_aws"].(fields)["CloudWatchMetrics"].([]any)
		want := []any{[]any{"Stack", "FunctionName"}, []any{"Stack", "FunctionName", "Route"}}
		if diff := cmp.Diff(want, got[1].(fields)["Dimensions"]); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff([]any{[]any{"Stack"}}, got[0].(fields)["Dimensions"]); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	t.Run("writes no line without measurements", func(t *testing.T) {
		t.Parallel()
		if lines := mustLines(t, document(nil)); len(lines) != 0 {
			t.Errorf("got %v", lines)
		}
	})
	t.Run("writes each value once, however many there are", func(t *testing.T) {
		t.Parallel()
		property.Check(t, func(t *rapid.T) {
			want := metrics.Values{}
			for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(metrics.All()), rapid.ID).Draw(t, "names") {
				want[name] = rapid.SliceOfN(rapid.Float64Range(0, 1e6), 1, 250).Draw(t, string(name))
			}
			got := metrics.Values{}
			for _, line := range mustLines(t, document(want)) {
				for name := range want {
					switch value := line[string(name)].(type) {
					case float64:
						got[name] = append(got[name], value)
					case []any:
						for _, v := range value {
							got[name] = append(got[name], v.(float64))
						}
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
		})
	})
}
