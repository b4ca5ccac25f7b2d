package metrics

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"
)

// Namespace is the namespace of all metrics.
const Namespace = "Rethread"

// Names of dimensions.
const (
	Stack    = "Stack"        // of all metrics
	Function = "FunctionName" // as in the metrics of AWS/Lambda
	Route    = "Route"
)

// mostValues is the maximum number of values of a metric in a line; further values
// are in further lines.
const mostValues = 100

// Document holds the measurements of one invocation, to be written in CloudWatch's embedded
// metric format: lines of JSON in the log that name the metrics they contain
// (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
type Document struct {
	Time     time.Time
	Stack    string
	Function string
	// Route, if not "", is another dimension of the metrics by function. It must
	// be a route pattern, never a path.
	Route  string
	Values Values
	// Properties are searchable members beside the metrics, but not dimensions.
	Properties []slog.Attr
}

type metadata struct {
	Timestamp         int64
	CloudWatchMetrics []directive
}

type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []definition
}

type definition struct {
	Name string
	Unit string
}

// Lines encodes a document as lines that end in a newline, almost always one.
func Lines(d Document) ([][]byte, error) {
	var lines [][]byte
	for left := maps.Clone(d.Values); len(left) > 0; {
		d.Values = Values{}
		for _, name := range slices.Sorted(maps.Keys(left)) {
			n := min(len(left[name]), mostValues)
			d.Values[name], left[name] = left[name][:n], left[name][n:]
			if len(left[name]) == 0 {
				delete(left, name)
			}
		}
		line, err := json.Marshal(d.members())
		if err != nil {
			return nil, fmt.Errorf("encode metrics: %w", err)
		}
		lines = append(lines, append(line, '\n'))
	}
	return lines, nil
}

// members returns the members of one line.
func (d Document) members() map[string]any {
	all := map[string]any{}
	for _, p := range d.Properties {
		all[p.Key] = p.Value.Any()
	}
	all[Stack], all[Function] = d.Stack, d.Function
	if d.Route != "" {
		all[Route] = d.Route
	}
	var shared, own []definition
	for _, name := range slices.Sorted(maps.Keys(d.Values)) {
		def := definition{string(name), "Count"}
		if name.IsDuration() {
			def.Unit = "Milliseconds"
		}
		if name == Latency {
			own = append(own, def)
		} else {
			shared = append(shared, def)
		}
		if values := d.Values[name]; len(values) == 1 {
			all[string(name)] = values[0]
		} else {
			all[string(name)] = values
		}
	}
	all["_aws"] = metadata{d.Time.UnixMilli(), d.directives(shared, own)}
	return all
}

// directives returns the metric definitions. Only latencies have the function as a
// dimension, because each combination of dimensions is charged as a metric.
func (d Document) directives(shared, own []definition) []directive {
	var out []directive
	if len(shared) > 0 {
		out = append(out, directive{Namespace, [][]string{{Stack}}, shared})
	}
	if len(own) > 0 {
		sets := [][]string{{Stack, Function}}
		if d.Route != "" {
			sets = append(sets, []string{Stack, Function, Route})
		}
		out = append(out, directive{Namespace, sets, own})
	}
	return out
}
