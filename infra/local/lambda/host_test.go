package lambda_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/local/lambda"
	"github.com/rethread/rethread/infra/local/localtest"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

type answer struct {
	PID       int               `json:"pid"`
	RequestID string            `json:"request_id"`
	ARN       string            `json:"arn"`
	Deadline  int64             `json:"deadline"`
	Env       map[string]string `json:"env"`
}

// longTimeout is the timeout of functions in tests that are not about timeouts.
const longTimeout = 10 * time.Minute

func TestInvoke(t *testing.T) {
	host, _ := mustHost(t, function("probe", longTimeout))
	t.Run("passes Lambda's context and environment to a function", func(t *testing.T) {
		result := mustInvoke(t, host, "probe", `{}`)
		got := mustAnswer(t, result)
		if !result.Cold || got.RequestID != result.RequestID {
			t.Errorf("cold %v, request id %s, want %s", result.Cold, got.RequestID, result.RequestID)
		}
		if want := "arn:aws:lambda:us-east-1:000000000000:function:probe"; got.ARN != want {
			t.Errorf("arn %s, want %s", got.ARN, want)
		}
		if left := time.Until(time.UnixMilli(got.Deadline)); left > longTimeout || left < longTimeout/2 {
			t.Errorf("deadline in %s, want %s minus the elapsed time", left, longTimeout)
		}
		for name, want := range map[string]string{
			"AWS_LAMBDA_FUNCTION_NAME": "probe", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256", "AWS_REGION": "us-east-1",
			"FROM_TEMPLATE": "yes", "FROM_HOST": "yes", "_HANDLER": "bootstrap", "HOME": "",
		} {
			if got.Env[name] != want {
				t.Errorf("%s is %q, want %q", name, got.Env[name], want)
			}
		}
	})
	t.Run("reuses a warm process", func(t *testing.T) {
		first, second := mustInvoke(t, host, "probe", `{}`), mustInvoke(t, host, "probe", `{}`)
		if second.Cold || mustAnswer(t, first).PID != mustAnswer(t, second).PID {
			t.Error("another process answered")
		}
	})
	t.Run("starts a process for each concurrent request", func(t *testing.T) {
		g := newGate(t)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if _, err := host.Invoke(t.Context(), "probe", g.request("wait")); err != nil {
					t.Error(err)
				}
			})
		}
		g.mustHold(t, 4)
		g.open(t)
		group.Wait()
	})
	t.Run("answers one request after another by one process, although there are others", func(t *testing.T) {
		const requests, rounds = 100, 50 // a busy machine may delay a process in some of the rounds
		for round := range rounds {
			before, changes := mustAnswer(t, mustInvoke(t, host, "probe", `{}`)).PID, 0
			for range requests {
				if pid := mustAnswer(t, mustInvoke(t, host, "probe", `{}`)).PID; pid != before {
					before = pid
					changes++
				}
			}
			if changes <= requests/10 {
				return
			}
			t.Logf("round %d: the process changed %d times in %d requests", round, changes, requests)
		}
		t.Error("no round is answered by one process")
	})
	t.Run("returns an error for an unknown function", func(t *testing.T) {
		if _, err := host.Invoke(t.Context(), "none", nil); !errors.Is(err, lambda.ErrNoFunction) {
			t.Errorf("got %v, want ErrNoFunction", err)
		}
	})
	t.Run("returns when the caller's context ends", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		g := newGate(t)
		defer g.open(t)
		_, err := host.Invoke(ctx, "probe", g.request("wait"))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		mustAnswer(t, mustInvoke(t, host, "probe", `{}`))
	})
}

func TestFailures(t *testing.T) {
	broken := function("broken", longTimeout)
	broken.Environment = map[string]string{"FAIL_INIT": "yes"}
	missing := function("missing", longTimeout)
	missing.Binary = filepath.Join(t.TempDir(), "bootstrap")
	host, _ := mustHost(t, function("probe", longTimeout), function("late", 2*time.Second), broken, missing)
	for _, test := range []struct{ name, function, payload, want string }{
		{"an error of the function", "probe", `{"do":"fail"}`, `"errorMessage":"asked to fail","errorType":"errorString"`},
		{"a panic", "probe", `{"do":"panic"}`, `"errorMessage":"asked to panic"`},
		{"an exit", "probe", `{"do":"exit"}`, `"errorType":"Runtime.ExitError".*exit status 7`},
		{"a timeout", "late", string(newGate(t).request("wait")), `"errorMessage":"\S+Z \S+ Task timed out after 2.00 seconds"`},
		{"a response over 6 MB", "probe", `{"bytes":6300000}`, `Function.ResponseSizeTooLarge.*6291556 bytes`},
		{"an exit before the first request", "broken", `{}`, `Runtime.ExitError.*exit status 3`},
		{"no binary", "missing", `{}`, `Runtime.InvalidEntrypoint.*no such file`},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := mustInvoke(t, host, test.function, test.payload)
			if result.FunctionError != "Unhandled" || !regexp.MustCompile(test.want).Match(result.Payload) {
				t.Errorf("%s: %s, want %s", result.FunctionError, result.Payload, test.want)
			}
			if test.function == "probe" || test.function == "late" {
				mustAnswer(t, mustInvoke(t, host, test.function, `{}`))
			}
		})
	}
	t.Run("refuses a request over 6 MB", func(t *testing.T) {
		_, err := host.Invoke(t.Context(), "probe", make([]byte, lambda.MaxRequestBytes+1))
		if !errors.Is(err, lambda.ErrRequestTooLarge) {
			t.Errorf("got %v, want ErrRequestTooLarge", err)
		}
	})
}

func TestReservedConcurrency(t *testing.T) {
	one := 1
	limited := function("limited", longTimeout)
	limited.Reserved = &one
	host, _ := mustHost(t, limited)
	var group sync.WaitGroup
	g := newGate(t)
	group.Go(func() {
		if _, err := host.Invoke(t.Context(), "limited", g.request("wait")); err != nil {
			t.Error(err)
		}
	})
	g.mustHold(t, 1)
	if _, err := host.Invoke(t.Context(), "limited", []byte(`{}`)); !errors.Is(err, lambda.ErrThrottled) {
		t.Errorf("got %v, want ErrThrottled", err)
	}
	g.open(t)
	group.Wait()
	mustAnswer(t, mustInvoke(t, host, "limited", `{}`))
}

func TestStream(t *testing.T) {
	host, _ := mustHost(t, function("probe", longTimeout))
	prelude := `{"statusCode":201,"headers":{"Content-Type":"text/event-stream"},"cookies":["a=b"]}` + strings.Repeat("\x00", 8)
	t.Run("returns the first bytes before the last are written", func(t *testing.T) {
		g := newGate(t)
		result := mustInvoke(t, host, "probe", string(g.request("stream")))
		if result.Stream == nil || result.Stream.ContentType != lambda.TypeHTTPStream {
			t.Fatalf("not a stream: %s", result.Payload)
		}
		head := make([]byte, len(prelude)+len("first"))
		if _, err := io.ReadFull(result.Stream.Body, head); err != nil {
			t.Fatal(err)
		}
		g.open(t)
		rest, err := io.ReadAll(result.Stream.Body)
		if got, want := string(head)+string(rest), prelude+"firstyyy"; err != nil || got != want {
			t.Errorf("got %q (%v), want %q", got, err, want)
		}
	})
	t.Run("ends reading with an error that occurs midway", func(t *testing.T) {
		result := mustInvoke(t, host, "probe", `{"do":"stream-fail","chunk":"first"}`)
		_, err := io.ReadAll(result.Stream.Body)
		var failed *lambda.StreamError
		if !errors.As(err, &failed) || failed.Message != "asked to fail midway" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("does not block a function whose reader left", func(t *testing.T) {
		result := mustInvoke(t, host, "probe", `{"do":"stream","chunk":"first","bytes":1000000}`)
		if err := result.Stream.Body.Close(); err != nil {
			t.Fatal(err)
		}
		mustAnswer(t, mustInvoke(t, host, "probe", `{}`))
	})
	t.Run("cuts off a stream at the function's timeout", func(t *testing.T) {
		for timeout := 300 * time.Millisecond; timeout < longTimeout; timeout *= 4 {
			short, _ := mustHost(t, function("short", timeout))
			result := mustInvoke(t, short, "short", string(newGate(t).request("stream")))
			if result.Stream == nil {
				continue // a busy machine needs longer until the stream begins
			}
			if _, err := io.ReadAll(result.Stream.Body); err == nil {
				t.Error("it ended without an error")
			}
			return
		}
		t.Error("no stream begins")
	})
	t.Run("cuts off a stream at 200 MB", func(t *testing.T) {
		result := mustInvoke(t, host, "probe", `{"do":"stream","chunk":"x","bytes":209715200}`)
		n, err := io.Copy(io.Discard, result.Stream.Body)
		var failed *lambda.StreamError
		if !errors.As(err, &failed) || failed.Type != "Function.ResponseSizeTooLarge" {
			t.Errorf("after %d bytes: %v", n, err)
		}
	})
}

func TestOutput(t *testing.T) {
	host, output := mustHost(t, talkingFunction())
	mustInvoke(t, host, "talking", `{}`)
	host.Close()
	if want := "talking  a line of the function\n"; !strings.Contains(output.String(), want) {
		t.Errorf("output %q, want %q", output.String(), want)
	}
	if _, err := host.Invoke(t.Context(), "talking", []byte(`{}`)); !errors.Is(err, lambda.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}

func function(name string, timeout time.Duration) lambda.Definition {
	return lambda.Definition{Function: samtemplate.Function{
		LogicalID: name, Name: name, Handler: "bootstrap", Timeout: timeout, MemoryMB: 256,
		Environment: map[string]string{"FROM_TEMPLATE": "yes"},
	}}
}

// output is a buffer for concurrent use.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func mustHost(t *testing.T, functions ...lambda.Definition) (*lambda.Host, *output) {
	t.Helper()
	binary := mustBuild(t)
	for i := range functions {
		if functions[i].Binary == "" {
			functions[i].Binary = binary
		}
	}
	out := &output{}
	host, err := lambda.Start(t.Context(), lambda.Options{
		Functions: functions, Region: "us-east-1", Account: "000000000000",
		Environment: map[string]string{"FROM_HOST": "yes"}, Output: out, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Close)
	return host, out
}

func mustBuild(t *testing.T) string {
	t.Helper()
	return localtest.Build(t, "./testdata/probe", filepath.Join(t.TempDir(), "bootstrap"))
}

func mustInvoke(t *testing.T, host *lambda.Host, name, payload string) *lambda.Result {
	t.Helper()
	result, err := host.Invoke(t.Context(), name, []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func mustAnswer(t *testing.T, result *lambda.Result) answer {
	t.Helper()
	var got answer
	if err := json.Unmarshal(result.Payload, &got); err != nil || result.FunctionError != "" || got.PID == 0 {
		t.Fatalf("no answer but %s: %s", result.FunctionError, result.Payload)
	}
	return got
}
