package agent_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/client/agent/agenttest"
	"github.com/rethread/rethread/shared/domain/run"
)

// The worker is told of each request with a body, of every kind of agent, with exactly the
// bytes that were sent, and of no query, which may hold a secret.
func TestRequests_are_told_before_they_are_sent(t *testing.T) {
	k := &kinds{t: t}
	k.url = agenttest.Serve(t, k)
	d := mustConfig(t, strings.ReplaceAll(`{"http":{"type":"http","url":"URL/http?key=secret"},"root":{"type":"http","url":"URL?key=secret"},`+
		`"chat":{"type":"chat_completions","url":"URL/models","model":"m","system":"Be kind."},`+
		`"responses":{"type":"responses","url":"URL/models","model":"m","system":"Be kind."},`+
		`"ag_ui":{"type":"ag_ui","url":"URL/ag_ui"},"a2a":{"type":"a2a","url":"URL/a2a"},"a2a 0.3":{"type":"a2a","url":"URL/old"},`+
		`"adk":{"type":"adk","url":"URL","app":"trips"}}`, "URL", k.url), nil)
	paths := map[string][]string{
		"http": {"POST /http"}, "root": {"POST /"}, "chat": {"POST /models/chat/completions"}, "responses": {"POST /models/responses"},
		"ag_ui": {"POST /ag_ui"}, "a2a": {"POST /a2a/rpc"}, "a2a 0.3": {"POST /old/rpc"},
	}
	cases := 0
	for kind, of := range d {
		cases++
		var told strings.Builder
		var asked []string
		ctx := run.OnSending(t.Context(), func(_ context.Context, s run.Sending) {
			raw, err := io.ReadAll(s.Body())
			if err != nil || int64(len(raw)) != s.Size {
				t.Errorf("%s: %d bytes of %d, %v", kind, len(raw), s.Size, err)
			}
			told.Write(raw)
			asked = append(asked, s.Method+" "+s.Path)
		})
		if err := of.Run(ctx, agenttest.Ask(t, "hi"), func(run.Output) error { return nil }); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if diff := cmp.Diff(k.take(), told.String()); diff != "" || told.Len() == 0 {
			t.Errorf("%s (-sent +told):\n%s", kind, diff)
		}
		if want, ok := paths[kind]; ok && !slices.Equal(asked, want) || !ok && !slices.Contains(asked, "POST /run_sse") {
			t.Errorf("%s: told of %q, want %q", kind, asked, want)
		}
	}
	if cases != 8 {
		t.Errorf("%d agents, want 8", cases)
	}
}
