package boot

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/observe/metrics"
)

// Values of the environment variable METRICS.
const (
	// MetricsByFunction records latencies by function.
	MetricsByFunction = "functions"
	// MetricsByRoute records them by route too, which costs more.
	MetricsByRoute = "routes"
)

// Metrics configures where measurements are written. Without Out nothing is measured.
type Metrics struct {
	Out      io.Writer
	Stack    string
	Function string
	ByRoute  bool
}

// newMetrics reads METRICS, STACK_NAME and the function's name from the environment.
// Any value of METRICS other than the ones above is off.
func newMetrics(out io.Writer, getenv func(string) string) Metrics {
	mode := getenv("METRICS")
	if mode != MetricsByFunction && mode != MetricsByRoute {
		return Metrics{}
	}
	return Metrics{
		Out: out, Stack: getenv("STACK_NAME"), Function: getenv("AWS_LAMBDA_FUNCTION_NAME"), ByRoute: mode == MetricsByRoute,
	}
}

// gatherTime is how long measurements of batches of changes are collected before they
// are written. A process that gets no more work loses those of its last seconds.
const gatherTime = 10 * time.Second

// gathered holds the measurements of several invocations of one process.
type gathered struct {
	values metrics.Values
	since  time.Time
}

// take adds the measurements of an invocation, and returns all when gatherTime is over.
func (g *gathered) take(more metrics.Values, now time.Time) metrics.Values {
	if g.values == nil {
		g.values, g.since = metrics.Values{}, now
	}
	g.values.Add(more)
	if now.Sub(g.since) < gatherTime {
		return nil
	}
	all := g.values
	g.values = nil
	return all
}

// tell writes the measurements of an invocation, if any, with the attributes of its
// log line except the ids of users.
func (i *invocation) tell(ctx context.Context, about []slog.Attr) {
	values := i.recorder.Values()
	if i.gathered != nil {
		values, about = i.gathered.take(values, i.Now()), nil
	}
	d := metrics.Document{
		Time: i.Now(), Stack: i.Metrics.Stack, Function: i.Metrics.Function, Values: values,
		Properties: slices.DeleteFunc(slices.Clone(about), func(a slog.Attr) bool { return a.Key == logs.UserID }),
	}
	if route := value(about, logs.Route); i.Metrics.ByRoute && route.Kind() == slog.KindString {
		d.Route = route.String()
	}
	lines, err := metrics.Lines(d)
	for _, line := range lines {
		if _, err = i.Metrics.Out.Write(line); err != nil {
			break
		}
	}
	if err != nil {
		i.Log.WarnContext(ctx, "metrics are lost", "error", err)
	}
}
