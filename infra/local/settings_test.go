package main_test

import (
	"path/filepath"
	"testing"

	"github.com/rethread/rethread/infra/local/localtest"
)

// A setting that no function could start with ends the program, which says why.
func TestSettings(t *testing.T) {
	program := localtest.Build(t, ".", filepath.Join(t.TempDir(), "local"))
	arguments := []string{"-http", "127.0.0.1:0", "-ws", "127.0.0.1:0", "-data", ""}
	for name, test := range map[string]struct{ variable, value, wanted string }{
		"agents that are no JSON":       {"AGENTS", "{", "AGENTS must be a JSON object"},
		"agents in a list":              {"AGENTS", "[]", "AGENTS must be a JSON object"},
		"an agent without an address":   {"AGENTS", `{"a": {"type": "http"}}`, "AGENTS: "},
		"an agent of an unknown kind":   {"AGENTS", `{"a": {"type": "telepathy", "url": "http://127.0.0.1:9"}}`, "/a/type"},
		"an agent whose key is not set": {"AGENTS", `{"a": {"type": "http", "url": "http://127.0.0.1:9", "api_key_env": "KEY"}}`, `"KEY", which is not set`},
		"a retention in words":          {"RETENTION", "soon", "parameter Retention"},
		"a negative limit":              {"MAX_RUNS", "-1", "parameter MaxRuns"},
		"an endless turn":               {"STREAM_TURN", "0s", "parameter StreamTurn"},
		"no posts to crowds":            {"POST_RATE", "0", "parameter PostRate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(test.variable, test.value)
			wantFailure(t, program, arguments, test.wanted)
		})
	}
}
