package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/demoagent"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/run"
)

// demos returns the demo agent by both protocols.
func demos(t *testing.T, pace time.Duration) map[string]run.Agent {
	t.Helper()
	demo := demoagent.New(demoagent.Options{Pace: pace})
	return map[string]run.Agent{
		"http":             agenttest.NewHTTP(t, demo),
		"chat completions": agenttest.NewChat(t, demo, agentconfig.Chat{Model: "demo"}),
	}
}

func TestDemoAgent(t *testing.T) {
	for protocol, a := range demos(t, 0) {
		t.Run(protocol, func(t *testing.T) {
			t.Run("answers the user's text word by word", func(t *testing.T) {
				r := agenttest.MustRecord(t, a, agenttest.Ask(t, "one", "tell <me>"))
				want := `You said: "tell <me>". That was message 2 of our talk. I am a demo without a model, so this is all I can tell. Try /help.`
				if diff := cmp.Diff(want, r.Text()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if len(r.Log) < 20 {
					t.Errorf("only %d outputs", len(r.Log))
				}
			})
			t.Run("produces a long answer", func(t *testing.T) {
				r := agenttest.MustRecord(t, a, agenttest.Ask(t, "/long 2000"))
				if n := len(strings.Fields(r.Text())); n != 2000 || len(r.Log) != 2002 {
					t.Errorf("%d words in %d outputs", n, len(r.Log))
				}
				if n := len(strings.Fields(agenttest.MustRecord(t, a, agenttest.Ask(t, "/slow")).Text())); n != 300 {
					t.Errorf("/slow says %d words", n)
				}
			})
			t.Run("thinks first", func(t *testing.T) {
				r := agenttest.MustRecord(t, a, agenttest.Ask(t, "/think cats"))
				content := string(r.Events[0].Fields["content"])
				want := `{"role":"model","parts":[{"thought":true,"text":"Let me think about cats"},{"text":"I have thought about it."}]}`
				if diff := cmp.Diff(want, content); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
			t.Run("calls a function and uses its answer", func(t *testing.T) {
				req := agenttest.Ask(t, "/tool rain")
				r := agenttest.MustRecord(t, a, req)
				content := string(r.Events[0].Fields["content"])
				want := `{"role":"model","parts":[{"text":"I look it up."},{"function_call":{"id":"call_1","name":"look_up","args":{"query":"rain"}}}]}`
				if diff := cmp.Diff(want, content); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				req.Events = append(req.Events, r.Events[0], agenttest.Event(t,
					agenttest.Said("user", "user", `{"function_response":{"id":"call_1","name":"look_up","response":{"mm":3}}}`)))
				if got := agenttest.MustRecord(t, a, req).Text(); got != `The tool answered {"mm":3}. Thank you.` {
					t.Errorf("got %q", got)
				}
			})
			t.Run("splits text between the code points of one character", func(t *testing.T) {
				r := agenttest.MustRecord(t, a, agenttest.Ask(t, "/utf8"))
				if !strings.Contains(r.Text(), "👩‍👩‍👧‍👦 из 東京 🇯🇵") {
					t.Errorf("got %q", r.Text())
				}
			})
			t.Run("fails after some words", func(t *testing.T) {
				r, err := agenttest.Record(t, a, agenttest.Ask(t, "/fail"))
				code, says := "demo_failed", "I was asked to fail."
				if protocol == "chat completions" { // a model's provider is not quoted
					code, says = endpoint.CodeRefused, "did not complete"
				}
				agenttest.WantError(t, err, code, says)
				if r.Open == nil || !strings.Contains(string(r.Content.Snapshot()), "This goes well") {
					t.Errorf("got %q", r.Log)
				}
			})
			for command, code := range map[string]string{
				"/drop": endpoint.CodeEndedEarly, "/malformed": endpoint.CodeProtocol, "/big": run.CodeLimit,
			} {
				t.Run("misbehaves: "+command, func(t *testing.T) {
					_, err := agenttest.Record(t, a, agenttest.Ask(t, command))
					agenttest.WantError(t, err, code, "")
				})
			}
			t.Run("refuses a history without a user", func(t *testing.T) {
				_, err := agenttest.Record(t, a, agenttest.Ask(t))
				agenttest.WantError(t, err, endpoint.CodeRefused, "status 400")
			})
		})
	}
	a := demos(t, 0)["http"]
	t.Run("sends nothing", func(t *testing.T) {
		a := agenttest.NewHurriedHTTP(t, demoagent.New(demoagent.Options{}), agentconfig.Timeouts{Idle: 100 * time.Millisecond})
		_, err := agenttest.Record(t, a, agenttest.Ask(t, "/silent"))
		agenttest.WantError(t, err, endpoint.CodeTimeout, "silent for 100ms")
	})
	t.Run("produces several items", func(t *testing.T) {
		if r := agenttest.MustRecord(t, a, agenttest.Ask(t, "/items 4")); len(r.Events) != 4 {
			t.Errorf("got %q", r.Log)
		}
	})
	t.Run("changes state", func(t *testing.T) {
		r := agenttest.MustRecord(t, a, agenttest.Ask(t, "/state a=1 user:b=x"))
		if diff := cmp.Diff(`{"state_delta":{"a":1,"user:b":"x"}}`, string(r.Events[0].Fields["actions"])); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if r.Text() != "I remember 2 things." {
			t.Errorf("got %q", r.Text())
		}
	})
}

func TestAPacedDemoStopsWhenItsCallerDoes(t *testing.T) {
	for protocol, a := range demos(t, time.Millisecond) {
		t.Run(protocol, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			outputs := 0
			err := a.Run(ctx, agenttest.Ask(t, "/long 100000"), func(run.Output) error {
				if outputs++; outputs == 3 {
					cancel()
				}
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}
