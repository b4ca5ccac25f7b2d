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

// mustHostOf starts functions of which so many may be at work at once.
func mustHostOf(t *testing.T, concurrency int, functions ...lambda.Definition) *lambda.Host {
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

// untilRoom waits until a function can be invoked, and wants that it could not
// be at first.
func untilRoom(t *testing.T, host *lambda.Host, name string) {
	t.Helper()
	deadline := time.Now().Add(plenty)
	for refused := 0; ; refused++ {
		began := time.Now()
		_, err := host.Invoke(t.Context(), name, []byte(`{}`))
		switch {
		case err == nil && refused == 0:
			t.Fatal("there was room at once")
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
	t.Run("who comes beyond it is refused at once, whatever the function", func(t *testing.T) {
		const most, burst = 5, 20
		host := mustHostOf(t, most, function("a", plenty), function("b", plenty))
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
			t.Errorf("%d were served and %d refused", served.Load(), refused.Load())
		}
		mustAnswer(t, mustInvoke(t, host, "a", `{}`))
	})
	t.Run("a streamed answer goes on to its end although its reader left, and takes a place until then", func(t *testing.T) {
		host := mustHostOf(t, 1, function("f", plenty))
		result := mustInvoke(t, host, "f", `{"do":"stream","chunk":"first","ms":700,"bytes":100000}`)
		if err := result.Stream.Body.Close(); err != nil {
			t.Fatal(err)
		}
		untilRoom(t, host, "f")
	})
	t.Run("so does one whose caller waits no longer", func(t *testing.T) {
		host := mustHostOf(t, 1, function("f", plenty))
		mustAnswer(t, mustInvoke(t, host, "f", `{}`)) // it runs
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := host.Invoke(ctx, "f", []byte(`{"do":"sleep","ms":700}`)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		untilRoom(t, host, "f")
	})
	t.Run("what is reserved is taken from all, and kept", func(t *testing.T) {
		kept, two := function("kept", plenty), 2
		kept.Reserved = &two
		host := mustHostOf(t, 3, kept, function("other", plenty))
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
	t.Run("places of functions that die are free again", func(t *testing.T) {
		host := mustHostOf(t, 1, function("f", plenty))
		for _, do := range []string{"exit", "panic", "fail", "exit"} {
			if result := mustInvoke(t, host, "f", `{"do":"`+do+`"}`); result.FunctionError == "" {
				t.Errorf("%s: %s", do, result.Payload)
			}
		}
		mustAnswer(t, mustInvoke(t, host, "f", `{}`))
	})
	t.Run("Lambda's API says so with 429", func(t *testing.T) {
		host := mustHostOf(t, 1, function("f", plenty))
		body := mustInvoke(t, host, "f", `{"do":"stream","chunk":"x","ms":2000}`).Stream.Body
		defer body.Close() //nolint:errcheck // it is left
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
