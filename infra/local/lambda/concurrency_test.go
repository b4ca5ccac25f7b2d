package lambda_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/shared/base/retry"
)

// mustHostWithConcurrency starts functions with a limit of concurrent invocations.
func mustHostWithConcurrency(t *testing.T, concurrency int, functions ...lambda.Definition) *lambda.Host {
	t.Helper()
	binary := mustBuild(t)
	for i := range functions {
		functions[i].Binary = binary
	}
	host, err := lambda.Start(t.Context(), lambda.Options{
		Functions: functions, Region: "us-east-1", Account: "000000000000", Concurrency: concurrency,
		Output: io.Discard, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Close)
	return host
}

// mustOccupy requires that a function is throttled while an invocation waits at a gate,
// and no longer.
func mustOccupy(t *testing.T, host *lambda.Host, name string, g gate) {
	t.Helper()
	if _, err := host.Invoke(t.Context(), name, []byte(`{}`)); !errors.Is(err, lambda.ErrThrottled) {
		t.Fatalf("got %v, want ErrThrottled", err)
	}
	g.open(t)
	for {
		_, err := host.Invoke(t.Context(), name, []byte(`{}`))
		if err == nil {
			return
		}
		if !errors.Is(err, lambda.ErrThrottled) {
			t.Fatal(err)
		}
	}
}

// gate holds invocations until it is opened.
type gate string

func newGate(t *testing.T) gate {
	t.Helper()
	return gate(filepath.Join(t.TempDir(), "gate"))
}

// request is a payload for the probe, which waits at the gate.
func (g gate) request(do string) []byte {
	return fmt.Appendf(nil, `{"do":%q,"chunk":"first","bytes":3,"until":%q}`, do, string(g))
}

// mustHold waits until that many processes wait at the gate.
func (g gate) mustHold(t *testing.T, processes int) {
	t.Helper()
	for {
		waiting, err := filepath.Glob(string(g) + ".*")
		if err != nil {
			t.Fatal(err)
		}
		if len(waiting) == processes {
			return
		}
		if err := retry.Sleep(t.Context(), 5*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

func (g gate) open(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(string(g), nil, 0o600); err != nil {
		t.Error(err)
	}
}

func TestConcurrency(t *testing.T) {
	t.Run("refuses invocations over the limit at once, whatever the function", func(t *testing.T) {
		const most, burst = 5, 20
		host := mustHostWithConcurrency(t, most, function("a", longTimeout), function("b", longTimeout))
		var served, refused atomic.Int64
		g := newGate(t)
		var group sync.WaitGroup
		for i := range burst {
			group.Go(func() {
				switch _, err := host.Invoke(t.Context(), []string{"a", "b"}[i%2], g.request("wait")); {
				case err == nil:
					served.Add(1)
				case !errors.Is(err, lambda.ErrThrottled):
					t.Error(err)
				case refused.Add(1) == burst-most:
					g.open(t)
				}
			})
		}
		group.Wait()
		if served.Load() != most || refused.Load() != burst-most {
			t.Errorf("%d served, %d refused", served.Load(), refused.Load())
		}
		if n := host.Invocations("a") + host.Invocations("b"); n != most || host.Invocations("none") != 0 {
			t.Errorf("counted %d invocations", n)
		}
		mustAnswer(t, mustInvoke(t, host, "a", `{}`))
	})
	t.Run("an abandoned stream runs to its end and occupies a slot until then", func(t *testing.T) {
		host := mustHostWithConcurrency(t, 1, function("f", longTimeout))
		g := newGate(t)
		result := mustInvoke(t, host, "f", string(g.request("stream")))
		if err := result.Stream.Body.Close(); err != nil {
			t.Fatal(err)
		}
		mustOccupy(t, host, "f", g)
	})
	t.Run("an abandoned invocation runs to its end and occupies a slot until then", func(t *testing.T) {
		host := mustHostWithConcurrency(t, 1, function("f", longTimeout))
		mustAnswer(t, mustInvoke(t, host, "f", `{}`)) // it is running
		ctx, cancel := context.WithCancel(t.Context())
		g, abandoned := newGate(t), make(chan error)
		go func() {
			_, err := host.Invoke(ctx, "f", g.request("wait"))
			abandoned <- err
		}()
		g.mustHold(t, 1)
		cancel()
		if err := <-abandoned; !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		mustOccupy(t, host, "f", g)
	})
	t.Run("reserved concurrency is subtracted from the shared one and kept for its function", func(t *testing.T) {
		kept, two := function("kept", longTimeout), 2
		kept.Reserved = &two
		host := mustHostWithConcurrency(t, 3, kept, function("other", longTimeout))
		g := newGate(t)
		defer g.open(t)
		var bodies []io.Closer
		for range 2 {
			bodies = append(bodies, mustInvoke(t, host, "kept", string(g.request("stream"))).Stream.Body)
		}
		if _, err := host.Invoke(t.Context(), "kept", []byte(`{}`)); !errors.Is(err, lambda.ErrThrottled) {
			t.Errorf("got %v", err)
		}
		bodies = append(bodies, mustInvoke(t, host, "other", string(g.request("stream"))).Stream.Body)
		if _, err := host.Invoke(t.Context(), "other", []byte(`{}`)); !errors.Is(err, lambda.ErrThrottled) {
			t.Errorf("got %v", err)
		}
		for _, body := range bodies {
			if err := body.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("frees the slots of functions that exit", func(t *testing.T) {
		host := mustHostWithConcurrency(t, 1, function("f", longTimeout))
		for _, do := range []string{"exit", "panic", "fail", "exit"} {
			if result := mustInvoke(t, host, "f", `{"do":"`+do+`"}`); result.FunctionError == "" {
				t.Errorf("%s: %s", do, result.Payload)
			}
		}
		mustAnswer(t, mustInvoke(t, host, "f", `{}`))
	})
	t.Run("the Invoke API returns 429", func(t *testing.T) {
		host := mustHostWithConcurrency(t, 1, function("f", longTimeout))
		g := newGate(t)
		defer g.open(t)
		body := mustInvoke(t, host, "f", string(g.request("stream"))).Stream.Body
		defer body.Close() //nolint:errcheck // unread
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			host.Endpoint()+"/2015-03-31/functions/f/invocations", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() //nolint:errcheck // nothing is read
		if res.StatusCode != 429 || res.Header.Get("X-Amzn-Errortype") != "TooManyRequestsException" {
			t.Errorf("got %s %v", res.Status, res.Header)
		}
	})
}
