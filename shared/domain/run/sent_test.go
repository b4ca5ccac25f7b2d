package run_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rethread/rethread/shared/domain/run"
)

// keeper keeps requests in memory.
type keeper struct {
	mu    sync.Mutex
	takes time.Duration
	err   error
	to    run.SentTo
	kept  map[int]run.SentRequest
}

func (k *keeper) KeepRequest(_ context.Context, to run.SentTo, r run.SentRequest) error {
	time.Sleep(k.takes) // of a synctest bubble
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = map[int]run.SentRequest{}
	}
	k.to, k.kept[r.Number] = to, r
	return k.err
}

func send(ctx context.Context, body string) {
	run.Send(ctx, run.Sending{
		Method: "POST", Path: "/run", Size: int64(len(body)), Body: func() io.Reader { return strings.NewReader(body) },
	})
}

func TestExecute_names_its_trace(t *testing.T) {
	r := newRecorder()
	w := newWorker(r, func(context.Context, run.Request, func(run.Output) error) error { return nil })
	w.TraceOf = func(context.Context) string { return "trace" }
	mustExecute(t, w)
	if r.claimant.Trace != "trace" {
		t.Errorf("claimed by %+v", r.claimant)
	}
}

func TestExecute_keeps_what_the_agent_was_sent(t *testing.T) {
	t.Run("in order, while the agent answers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, k := newRecorder(), &keeper{takes: time.Hour}
			r.continuations = 2
			began := time.Now()
			w := newWorker(r, func(ctx context.Context, _ run.Request, _ func(run.Output) error) error {
				send(ctx, `{"a":1}`)
				send(ctx, `{"b":2}`)
				if waited := time.Since(began); waited > 0 {
					t.Errorf("the agent waited %s for its requests to be kept", waited)
				}
				return nil
			})
			w.Requests = k
			mustExecute(t, w)
			wantEnd(t, r, "completed")
			at := began.UnixMilli()
			want := map[int]run.SentRequest{
				1: {Continuation: 2, Number: 1, SentTime: at, Method: "POST", Path: "/run", Body: `{"a":1}`, Size: 7},
				2: {Continuation: 2, Number: 2, SentTime: at, Method: "POST", Path: "/run", Body: `{"b":2}`, Size: 7},
			}
			if diff := cmp.Diff(want, k.kept, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			if k.to.RunID != theRun.RunID || k.to.SessionID != theRun.SessionID || k.to.LogID != "log" {
				t.Errorf("kept of %+v", k.to)
			}
		})
	})
	t.Run("the first bytes of a large one, at a whole character", func(t *testing.T) {
		const two = "é"
		for size, want := range map[int]struct {
			kept int
			cut  bool
		}{
			run.MaxSentBody: {run.MaxSentBody, false}, run.MaxSentBody + 1: {run.MaxSentBody - 1, true},
		} {
			k := &keeper{}
			body := strings.Repeat("x", size%2) + strings.Repeat(two, size/2)
			w := newWorker(newRecorder(), func(ctx context.Context, _ run.Request, _ func(run.Output) error) error {
				send(ctx, body)
				return nil
			})
			w.Requests = k
			mustExecute(t, w)
			got := k.kept[1]
			if len(got.Body) != want.kept || got.Cut != want.cut || got.Size != int64(size) || !strings.HasPrefix(body, got.Body) {
				t.Errorf("of %d bytes %d are kept, cut %t, size %d", size, len(got.Body), got.Cut, got.Size)
			}
		}
	})
	t.Run("the first ones of many", func(t *testing.T) {
		k := &keeper{}
		w := newWorker(newRecorder(), func(ctx context.Context, _ run.Request, _ func(run.Output) error) error {
			for range run.MaxSent + 5 {
				send(ctx, "{}")
			}
			return nil
		})
		w.Requests = k
		mustExecute(t, w)
		if _, last := k.kept[run.MaxSent]; len(k.kept) != run.MaxSent || !last {
			t.Errorf("%d are kept, want %d", len(k.kept), run.MaxSent)
		}
	})
	t.Run("one that cannot be kept is logged and does not fail the run", func(t *testing.T) {
		var logged strings.Builder
		r := newRecorder()
		w := newWorker(r, func(ctx context.Context, _ run.Request, _ func(run.Output) error) error {
			send(ctx, `{"secret":1}`)
			return nil
		})
		w.Requests, w.Log = &keeper{err: errors.New("throttled")}, slog.New(slog.NewTextHandler(&logged, nil))
		mustExecute(t, w)
		wantEnd(t, r, "completed")
		if got := logged.String(); !strings.Contains(got, "not kept") || !strings.Contains(got, "throttled") || strings.Contains(got, "secret") {
			t.Errorf("logged %s", got)
		}
	})
	t.Run("none without a place for them", func(t *testing.T) {
		r := newRecorder()
		w := newWorker(r, func(ctx context.Context, _ run.Request, _ func(run.Output) error) error {
			run.Send(ctx, run.Sending{Body: func() io.Reader { t.Error("a body is read"); return nil }})
			return nil
		})
		mustExecute(t, w)
		wantEnd(t, r, "completed")
	})
}
