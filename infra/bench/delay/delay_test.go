package delay_test

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/bench/delay"
	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
	"github.com/rethread/rethread/infra/local/samtemplate"
	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/infra/test/e2e"
)

func TestMeasure(t *testing.T) {
	agent := &delay.Agent{}
	server := httptest.NewServer(agent)
	t.Cleanup(server.Close)
	config, err := agent.Config(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := dynamodblocal.Start(t.Context(), dynamodblocal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Stop)
	system := e2e.Start(t, "AGENTS="+config, dynamotest.EndpointVariable+"="+engine.Endpoint())
	template, err := samtemplate.Load(filepath.Join(system.Root, "template.yaml"), samtemplate.Options{
		Parameters: map[string]string{"JwtIssuer": "https://bench.invalid", "JwtAudience": "bench"},
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := delay.Measure(t.Context(), delay.System{
		URL: system.URL, WebSocketURL: system.WebSocketURL,
		DynamoDB: engine.Endpoint(), Table: template.Tables[0].Name, Agent: agent,
	}, delay.Scenario{Name: "a few", Sessions: 2, Watchers: 2, Tokens: 5, Every: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("every watcher received every token", func(t *testing.T) {
		if len(result.Token) != 2*2*5 || result.Token.Percentile(0) <= 0 {
			t.Errorf("got %v", result.Token)
		}
	})
	t.Run("the stream was measured, too", func(t *testing.T) {
		if len(result.Stream) == 0 || result.Stream.Percentile(0) <= 0 {
			t.Errorf("got %v", result.Stream)
		}
	})
	t.Run("the report has a line for the scenario", func(t *testing.T) {
		var out strings.Builder
		if err := delay.Report(&out, []delay.Result{result}); err != nil || strings.Count(out.String(), "\n") != 2 {
			t.Errorf("%v\n%s", err, &out)
		}
	})
}

func TestTimes_Percentile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		times delay.Times
		p     int
		want  time.Duration
	}{
		"no times":                         {nil, 50, 0},
		"one time":                         {delay.Times{7}, 99, 7},
		"the median":                       {delay.Times{4, 1, 3, 2}, 50, 2},
		"the 99th of a few is the largest": {delay.Times{4, 1, 3, 2}, 99, 4},
		"the smallest":                     {delay.Times{4, 1, 3, 2}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.times.Percentile(c.p); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
