package agent_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/domain/run"
)

func mustConfig(t *testing.T, config string, env map[string]string) agent.Directory {
	t.Helper()
	c, err := agentconfig.Parse(config, func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	d := agent.New(c)
	t.Cleanup(d.Close)
	return d
}

func TestHistoryLimit(t *testing.T) {
	d := mustConfig(t, `{"x":{"type":"http","url":"http://h","history":{"turns":20,"bytes":100000}},`+
		`"m":{"type":"chat_completions","url":"http://h","model":"gpt","history":{"bytes":5}},"y":{"type":"http","url":"http://h"}}`, nil)
	for name, want := range map[string]run.HistoryLimit{"x": {Turns: 20, Bytes: 100_000}, "m": {Bytes: 5}, "y": {}} {
		a, ok := d.Agent(name)
		if got := run.LimitOf(a); !ok || got != want {
			t.Errorf("the history of agent %q is limited to %+v", name, got)
		}
	}
}

func TestConfiguredHeaders(t *testing.T) {
	var got http.Header
	var body string
	url := agenttest.Serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got, body = r.Header.Clone(), string(raw)
		agenttest.Streams("data: [DONE]\n\n")(rw, r)
	}))
	d := mustConfig(t, `{"m":{"type":"chat_completions","url":"`+url+`","model":"gpt","api_key_env":"KEY","headers":{"x-team":"a"},`+
		`"header_env":{"X-Org":"ORG"},"tools":[{"type":"function"}],"parameters":{"temperature":1},"system":"s","timeouts":{"idle":"1m"}}}`,
		map[string]string{"KEY": " sk-1\n", "ORG": "o"})
	a, ok := d.Agent("")
	if !ok {
		t.Fatal("no agent")
	}
	agenttest.MustRecord(t, a, agenttest.Ask(t, "hi"))
	want := []string{"Bearer sk-1", "a", "o"}
	if diff := cmp.Diff(want, []string{got.Get("Authorization"), got.Get("X-Team"), got.Get("X-Org")}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, part := range []string{`"model":"gpt"`, `"temperature":1`, `"tools":[{"type":"function"}]`, `"content":"s"`} {
		if !strings.Contains(body, part) {
			t.Errorf("body %s lacks %s", body, part)
		}
	}
}

func TestConfiguredFrontend(t *testing.T) {
	var body string
	url := agenttest.Serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body = string(raw)
		agenttest.Streams(`data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}`+"\n\n")(rw, r)
	}))
	const tool = `{"name":"pick","description":"","parameters":{"type":"object"},"metadata":{"a":1}}`
	d := mustConfig(t, `{"x":{"type":"ag_ui","url":"`+url+`","tools":[`+tool+`],"forwarded_props":{"mode":1}}}`, nil)
	a, ok := d.Agent("")
	if !ok {
		t.Fatal("no agent")
	}
	agenttest.MustRecord(t, a, agenttest.Ask(t, "hi"))
	for _, part := range []string{`"tools":[` + tool + `]`, `"mode":1`} {
		if !strings.Contains(body, part) {
			t.Errorf("body %s lacks %s", body, part)
		}
	}
}

func TestContinuations(t *testing.T) {
	d := mustConfig(t, `{"x":{"type":"http","url":"http://h","max_continuations":3},`+
		`"m":{"type":"chat_completions","url":"http://h","model":"gpt","max_continuations":10},`+
		`"r":{"type":"responses","url":"http://h","model":"gpt","max_continuations":1},"y":{"type":"http","url":"http://h"}}`, nil)
	for name, want := range map[string]int{"x": 3, "m": 10, "r": 1, "y": 0} {
		if got := run.ContinuationsOf(d[name]); got != want {
			t.Errorf("a run of agent %q may be continued %d times, want %d", name, got, want)
		}
	}
}

func TestOnFailed(t *testing.T) {
	agents, err := agentconfig.Parse(`{"x":{"type":"http","url":"http://h","on_failed":"keep"},`+
		`"m":{"type":"chat_completions","url":"http://h","model":"gpt","on_failed":"block"},"y":{"type":"http","url":"http://h"}}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]run.OnFailed{"x": run.Keep, "m": run.Block, "y": run.Discard, "unknown": run.Discard} {
		if got := agents.OnFailed(name); got != want {
			t.Errorf("a failed run of agent %q: %s, want %s", name, got, want)
		}
	}
}

func TestTheProtocolsConfigurationsHold(t *testing.T) {
	for _, text := range agenttest.Examples(t, "../../..", "json config") {
		d := mustConfig(t, text, map[string]string{"AGENT_API_KEY": "k"}) // all that a deployed runner has
		if len(d) != 2 {
			t.Errorf("got %v", d)
		}
	}
}
