package lambda_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/local/lambda"
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

// waitUntilInvocable waits until a function can be invoked, and requires that the first
// attempt is throttled.
func waitUntilInvocable(t *testing.T, host *lambda.Host, name string) {
	t.Helper()
	deadline := time.Now().Add(longTimeout)
	for refused := 0; ; refused++ {
		began := time.Now()
		_, err := host.Invoke(t.Context(), name, []byte(`{}`))
		switch {
		case err == nil && refused == 0:
			t.Fatal("the first invocation was not throttled")
		case err == nil:
			return
		case !errors.Is(err, lambda.ErrThrottled) || time.Now().After(deadline):
			t.Fatalf("got %v", err)
		case time.Since(began) > time.Second:
			t.Errorf("it was refused after %s", time.Since(began))
		}
	}
}

func TestConcurrency(t *testing.T) {
	t.Run("refuses invocations over the limit at once, whatever the function", func(t *testing.T) {
		const most, burst = 5, 20
		host := mustHostWithConcurrency(t, most, function("a", longTimeout), function("b", longTimeout))
		var served, refused atomic.Int64
		var group sync.WaitGroup
		for i := range burst {
			group.Go(func() {
				began := time.Now()
				switch _, err := host.Invoke(t.Context(), []string{"a", "b"}[i%2], []byte(`{"do":"sleep","ms":1500}`)); {
				case err == nil:
					served.Add(1)
				case !errors.Is(err, lambda.ErrThrottled):
					t.Error(err)
				case time.Since(began) > time.Second:
					t.Errorf("it waited for %s", time.Since(began))
				default:
					refused.Add(1)
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
		result := mustInvoke(t, host, "f", `{"do":"stream","chunk":"first","ms":700,"bytes":100000}`)
		if err := result.Stream.Body.Close(); err != nil {
			t.Fatal(err)
		}
		waitUntilInvocable(t, host, "f")
	})
	t.Run("an abandoned invocation runs to its end and occupies a slot until then", func(t *testing.T) {
		host := mustHostWithConcurrency(t, 1, function("f", longTimeout))
		mustAnswer(t, mustInvoke(t, host, "f", `{}`)) // it is running
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := host.Invoke(ctx, "f", []byte(`{"do":"sleep","ms":700}`)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		waitUntilInvocable(t, host, "f")
	})
	t.Run("reserved concurrency is subtracted from the shared one and kept for its function", func(t *testing.T) {
		kept, two := function("kept", longTimeout), 2
		kept.Reserved = &two
		host := mustHostWithConcurrency(t, 3, kept, function("other", longTimeout))
		var bodies []io.Closer
		for range 2 {
			bodies = append(bodies, mustInvoke(t, host, "kept", `{"do":"stream","chunk":"x","ms":5000}`).Stream.Body)
		}
		if _, err := host.Invoke(t.Context(), "kept", []byte(`{}`)); !errors.Is(err, lambda.ErrThrottled) {
			t.Errorf("got %v", err)
		}
		bodies = append(bodies, mustInvoke(t, host, "other", `{"do":"stream","chunk":"x","ms":5000}`).Stream.Body)
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
		body := mustInvoke(t, host, "f", `{"do":"stream","chunk":"x","ms":2000}`).Stream.Body
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
