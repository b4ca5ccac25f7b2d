package scenario_test

import (
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/bench/meter"
	"github.com/rethread/rethread/infra/bench/meter/scenario"
	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/infra/test/e2e"
)

// small is a plan that takes seconds; the second history shows what grows.
func small() scenario.Plan {
	return scenario.Plan{
		Histories: []int{60, 400}, Turns: 10, Depth: 3, Tokens: 100,
		TokenEvery: time.Second / scenario.TokensPerSecond, PushEvery: 250 * time.Millisecond, Quiet: scenario.Full().Quiet,
	}
}

func start(t *testing.T) scenario.System {
	t.Helper()
	agent := &scenario.Agent{}
	server := httptest.NewServer(agent)
	t.Cleanup(server.Close)
	config, err := scenario.AgentConfig(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := dynamodblocal.Start(t.Context(), dynamodblocal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Stop)
	proxy, err := meter.Start(t.Context(), engine.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	system := e2e.Start(t, "AGENTS="+config, dynamotest.EndpointVariable+"="+proxy.URL)
	return scenario.System{URL: system.URL, WebSocketURL: system.WebSocketURL, Meter: proxy, Agent: agent}
}

// TestRun holds all scenarios to their bounds, after few turns and after many.
func TestRun(t *testing.T) {
	t.Parallel()
	const least = 43
	measures, err := scenario.Run(t.Context(), start(t), small())
	var table strings.Builder
	if reported := scenario.Report(&table, measures); err != nil || reported != nil {
		t.Fatal(err, reported)
	}
	t.Logf("%d measures\n%s", len(measures), &table)
	first, bounded := map[string]scenario.Measure{}, 0
	for _, m := range measures {
		if err := scenario.Check(m); err != nil {
			t.Error(err)
		}
		if scenario.BoundOf(m) != "" {
			bounded++
		}
		before, ok := first[m.Scenario]
		if !ok {
			first[m.Scenario] = m
			continue
		}
		// Texts compress to more or less than a kilobyte, in each of the items of a turn.
		slack := 2 + 0.5*float64(m.Count)
		reads := slack
		switch m.Scenario {
		case scenario.Unsafe, scenario.SafeInvocation, scenario.SafeIDs, scenario.SafeKey, scenario.Single:
			reads += 2 * float64(m.Count) // an instance that has just written to the session reads less
		}
		if scenario.Bounds()[m.Scenario].Grows {
			continue
		}
		if was, is := before.Requests, m.Requests; is.Writes > was.Writes+slack || is.Reads > was.Reads+reads {
			t.Errorf("%s grows with the history: %v after %d turns, %v after %d", m.Scenario, was, before.History, is, m.History)
		}
	}
	if len(measures) < least || bounded < least-3 { // what watchers cost, and what still grows, has no bound yet
		t.Errorf("%d measures, %d bounds, want %d", len(measures), bounded, least)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	within := scenario.Measure{Scenario: scenario.Rewind, Count: 1, Requests: meter.Usage{Writes: 1, Reads: 1}}
	if err := scenario.Check(within); err != nil {
		t.Error(err)
	}
	for name, m := range map[string]scenario.Measure{
		"writes of requests": {Scenario: scenario.Rewind, Count: 1, Requests: meter.Usage{Writes: 100}},
		"reads of requests":  {Scenario: scenario.Rewind, Count: 1, Requests: meter.Usage{Reads: 100}},
		"writes of a worker": {Scenario: scenario.Streamed, Count: 100, Runner: meter.Usage{Writes: 100}},
		"fan-out":            {Scenario: scenario.Streamed, Count: 100, Fanout: meter.Usage{Reads: 100}},
		"writes of few":      {Scenario: scenario.Unsafe, Count: 1, Requests: meter.Usage{Writes: 100}},
	} {
		t.Run(name+" are bounded", func(t *testing.T) {
			t.Parallel()
			if err := scenario.Check(m); !errors.Is(err, scenario.ErrDear) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("bounds follow the count and the time", func(t *testing.T) {
		t.Parallel()
		for _, m := range []scenario.Measure{
			{Scenario: scenario.Unsafe, Count: 100, Requests: meter.Usage{Writes: 100}},
			{Scenario: scenario.Streamed, Count: 100, Seconds: 20, Runner: meter.Usage{Writes: 100}},
		} {
			if err := scenario.Check(m); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestLogs(t *testing.T) {
	t.Parallel()
	var logs scenario.Logs
	for _, part := range []string{"EventsFunction  {\"a\":", "1}\n12:00 GET /api 200\n", "RunsFunction  {}\n"} {
		if _, err := logs.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	const perLine = 26 // what CloudWatch adds
	if want := len(`{"a":1}`) + len(`{}`) + 2*perLine; logs.Bytes() != want {
		t.Errorf("%d bytes, want %d", logs.Bytes(), want)
	}
	if n := (*scenario.Logs)(nil).Bytes(); n != 0 {
		t.Errorf("%d bytes", n)
	}
}

// TestSearchPage compares the table in docs/search.md with the recorded measures.
func TestSearchPage(t *testing.T) {
	t.Parallel()
	record, err := scenario.ReadFile("../../../../docs/benchmarks/meter.json")
	if err != nil {
		t.Fatal(err)
	}
	searches, err := os.ReadFile("../../../../docs/search.md")
	if err != nil {
		t.Fatal(err)
	}
	again, err := scenario.SearchPage(string(searches), record)
	if diff := cmp.Diff(string(searches), again); err != nil || diff != "" {
		t.Errorf("`make costs` writes another table: %v (-docs/search.md +written)\n%s", err, diff)
	}
	if _, err := scenario.SearchPage("# No table", record); !errors.Is(err, scenario.ErrNoTable) {
		t.Errorf("without a table: %v", err)
	}
	if _, err := scenario.SearchPage(string(searches), scenario.Record{}); err == nil {
		t.Error("a table without measures")
	}
	copied := filepath.Join(t.TempDir(), "meter.json")
	if err := record.WriteFile(copied); err != nil {
		t.Fatal(err)
	}
	if again, err := scenario.ReadFile(copied); err != nil || cmp.Diff(record, again) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(record, again))
	}
}
