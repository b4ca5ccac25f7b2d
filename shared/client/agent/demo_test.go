package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/demoagent"
	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/domain/run"
)

// demos returns the demo agent by both protocols.
func demos(t *testing.T, pace time.Duration) map[string]run.Agent {
	t.Helper()
	demo := demoagent.New(demoagent.Options{Pace: pace})
	return map[string]run.Agent{
		"http":             newHTTP(t, demo),
		"chat completions": newChat(t, demo, agent.Chat{Model: "demo"}),
	}
}

func TestDemoAgent(t *testing.T) {
	for protocol, a := range demos(t, 0) {
		t.Run(protocol, func(t *testing.T) {
			t.Run("answers the user's text word by word", func(t *testing.T) {
				r := mustRecord(t, a, ask(t, "one", "tell <me>"))
				want := `You said: "tell <me>". That was message 2 of our talk. I am a demo without a model, so this is all I can tell. Try /help.`
				if diff := cmp.Diff(want, r.text()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if len(r.log) < 20 {
					t.Errorf("only %d outputs", len(r.log))
				}
			})
			t.Run("produces a long answer", func(t *testing.T) {
				r := mustRecord(t, a, ask(t, "/long 2000"))
				if n := len(strings.Fields(r.text())); n != 2000 || len(r.log) != 2002 {
					t.Errorf("%d words in %d outputs", n, len(r.log))
				}
				if n := len(strings.Fields(mustRecord(t, a, ask(t, "/slow")).text())); n != 300 {
					t.Errorf("/slow says %d words", n)
				}
			})
			t.Run("thinks first", func(t *testing.T) {
				r := mustRecord(t, a, ask(t, "/think cats"))
				content := string(r.events[0].Fields["content"])
				want := `{"role":"model","parts":[{"thought":true,"text":"Let me think about cats"},{"text":"I have thought about it."}]}`
				if diff := cmp.Diff(want, content); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
			t.Run("calls a function and uses its answer", func(t *testing.T) {
				req := ask(t, "/tool rain")
				r := mustRecord(t, a, req)
				content := string(r.events[0].Fields["content"])
				want := `{"role":"model","parts":[{"text":"I look it up."},{"function_call":{"id":"call_1","name":"look_up","args":{"query":"rain"}}}]}`
				if diff := cmp.Diff(want, content); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				req.Events = append(req.Events, r.events[0], mustEvent(t,
					said("user", "user", `{"function_response":{"id":"call_1","name":"look_up","response":{"mm":3}}}`)))
				if got := mustRecord(t, a, req).text(); got != `The tool answered {"mm":3}. Thank you.` {
					t.Errorf("got %q", got)
				}
			})
			t.Run("splits text between the code points of one character", func(t *testing.T) {
				r := mustRecord(t, a, ask(t, "/utf8"))
				if !strings.Contains(r.text(), "👩‍👩‍👧‍👦 из 東京 🇯🇵") {
					t.Errorf("got %q", r.text())
				}
			})
			t.Run("fails after some words", func(t *testing.T) {
				r, err := record(t, a, ask(t, "/fail"))
				wantError(t, err, "demo_failed", "I was asked to fail.")
				if r.open == nil || !strings.Contains(string(r.content.Snapshot()), "This goes well") {
					t.Errorf("got %q", r.log)
				}
			})
			for command, code := range map[string]string{
				"/drop": agent.CodeEndedEarly, "/malformed": agent.CodeProtocol, "/big": run.CodeLimit,
			} {
				t.Run("misbehaves: "+command, func(t *testing.T) {
					_, err := record(t, a, ask(t, command))
					wantError(t, err, code, "")
				})
			}
			t.Run("refuses a history without a user", func(t *testing.T) {
				_, err := record(t, a, ask(t))
				wantError(t, err, agent.CodeRefused, "status 400")
			})
		})
	}
	a := demos(t, 0)["http"]
	t.Run("sends nothing", func(t *testing.T) {
		a := newHurriedHTTP(t, demoagent.New(demoagent.Options{}), agent.Timeouts{Idle: 100 * time.Millisecond})
		_, err := record(t, a, ask(t, "/silent"))
		wantError(t, err, agent.CodeTimeout, "silent for 100ms")
	})
	t.Run("produces several items", func(t *testing.T) {
		if r := mustRecord(t, a, ask(t, "/items 4")); len(r.events) != 4 {
			t.Errorf("got %q", r.log)
		}
	})
	t.Run("changes state", func(t *testing.T) {
		r := mustRecord(t, a, ask(t, "/state a=1 user:b=x"))
		if diff := cmp.Diff(`{"state_delta":{"a":1,"user:b":"x"}}`, string(r.events[0].Fields["actions"])); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if r.text() != "I remember 2 things." {
			t.Errorf("got %q", r.text())
		}
	})
}

func TestAPacedDemoStopsWhenItsCallerDoes(t *testing.T) {
	for protocol, a := range demos(t, time.Millisecond) {
		t.Run(protocol, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			outputs := 0
			err := a.Run(ctx, ask(t, "/long 100000"), func(run.Output) error {
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
