package boot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/bench/prose"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// BenchmarkHistory is what a run in a long thread takes until its agent has the whole
// history: to read, decode and send it. With STORE_ENGINE=dynamodb it includes the SDK,
// as in the function. docs/benchmarks/decisions.md has results (ADR 59).
func BenchmarkHistory(b *testing.B) {
	for _, turns := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprintf("turns=%d", turns), func(b *testing.B) {
			store := stores.New(storetest.Engine(b))
			ref := mustTurns(b, store, turns)
			received := int64(0)
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
				received, _ = io.Copy(io.Discard, req.Body)
				rw.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(rw, `{"events":[{"content":{"role":"model","parts":[{"text":"So"}]}}]}`)
			}))
			b.Cleanup(server.Close)
			config, err := agentconfig.Parse(fmt.Sprintf(`{"a":{"type":"http","url":%q}}`, server.URL), nil)
			if err != nil {
				b.Fatal(err)
			}
			caller, _ := agent.New(config).Agent("a")
			b.ReportAllocs()
			b.ResetTimer()
			before := processorTime(b)
			for b.Loop() {
				h, err := store.Runs.AsOfInput(b.Context(), ref, run.HistoryLimit{})
				if err != nil {
					b.Fatal(err)
				}
				req := run.Request{RunID: ref.RunID, SessionID: ref.SessionID, Events: h.Events, State: h.State}
				if err := caller.Run(b.Context(), req, func(run.Output) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(received)
			b.ReportMetric(float64((processorTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// processorTime returns the time that this process has taken of the processor, which
// other work on the machine does not change.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// mustTurns makes a session with turns of 300 and 2,000 characters, and a run that is
// asked to continue it.
func mustTurns(tb testing.TB, store *stores.Store, turns int) run.Ref {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	if _, err := store.Sessions.Create(ctx, session.New{ID: "s", UserID: "alice"}); err != nil {
		tb.Fatal(err)
	}
	said := func(author, role, text, invocation string) session.Event {
		content, err := json.Marshal(map[string]any{"role": role, "parts": []any{map[string]string{"text": text}}})
		if err != nil {
			tb.Fatal(err)
		}
		return session.Event{InvocationID: invocation, Author: author, Fields: map[string]json.RawMessage{"content": content}}
	}
	for n := range turns {
		id := uuid.NewString()
		events := []session.Event{said("user", "user", prose.Text(n, 300), id), said("agent", "model", prose.Text(-n-1, 2000), id)}
		if _, _, err := store.Sessions.Append(ctx, session.Append{UserID: "alice", SessionID: "s", Events: events}); err != nil {
			tb.Fatal(err)
		}
	}
	ref := run.Ref{UserID: "alice", SessionID: "s", RunID: uuid.NewString()}
	start := run.Start{Ref: ref, Agent: "a", Mode: run.Managed, Input: []session.Event{said("user", "user", "And now?", ref.RunID)}}
	if _, err := store.Runs.Start(ctx, start); err != nil {
		tb.Fatal(err)
	}
	return ref
}
