package async_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/async"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

var errNoRoom = errors.New("no room")

func TestSubmit(t *testing.T) {
	for _, test := range []struct {
		name     string
		settings *samtemplate.AsyncInvoke
		script   []string // an outcome for each attempt; the last one repeats
		want     []time.Duration
		told     string
	}{
		{"runs a successful invocation once", nil, words("ok"), []time.Duration{0}, ""},
		{"retries a failure twice by default", nil, words("fail"), seconds(0, 1, 3), ""},
		{"stops retrying after a success", nil, words("fail", "ok"), seconds(0, 1), ""},
		{
			"retries as often as the template says", &samtemplate.AsyncInvoke{MaxRetries: 1, MaxAge: time.Hour, OnFailure: "failures"},
			words("fail"), seconds(0, 1), failure("RetriesExhausted", 2),
		},
		{
			"does not retry when the template says 0", &samtemplate.AsyncInvoke{MaxAge: time.Hour, OnFailure: "failures"},
			words("fail"), seconds(0), failure("RetriesExhausted", 1),
		},
		{
			"sends no record of a success", &samtemplate.AsyncInvoke{MaxAge: time.Hour, OnFailure: "failures"},
			words("ok"), seconds(0), "",
		},
		{
			"backs off without counting an attempt when no slot is free", nil,
			words("busy", "busy", "busy", "ok"),
			[]time.Duration{0, 50 * time.Millisecond, 150 * time.Millisecond, 350 * time.Millisecond},
			"",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, test.script)
				defer r.runner.Close()
				r.runner.Submit(function(test.settings), "id", []byte(`{"a":1}`))
				time.Sleep(time.Minute)
				if diff := cmp.Diff(test.want, r.tries()); diff != "" {
					t.Errorf("attempts (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.told, r.record()); diff != "" {
					t.Errorf("record (-want +got):\n%s", diff)
				}
			})
		})
	}
	t.Run("abandons an invocation that finds no slot before its maximum age", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, words("busy"))
			defer r.runner.Close()
			r.runner.Submit(function(&samtemplate.AsyncInvoke{MaxRetries: 2, MaxAge: time.Minute, OnFailure: "failures"}), "id", []byte(`1`))
			time.Sleep(2 * time.Minute)
			want := `failures {"version":"1.0","timestamp":"2000-01-01T00:01:01.350Z","requestContext":{"requestId":"id",` +
				`"functionArn":"arn:aws:lambda:us-east-1:0:function:function:$LATEST","condition":"EventAgeExceeded",` +
				`"approximateInvokeCount":0},"requestPayload":1}`
			if diff := cmp.Diff(want, r.record()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	})
	t.Run("one function's backlog does not delay another function", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, words("hang"))
			defer r.runner.Close()
			for range 100 {
				r.runner.Submit(function(nil), "id", nil)
			}
			synctest.Wait()
			if got := len(r.tries()); got >= 100 {
				t.Errorf("%d run concurrently", got)
			}
			before := len(r.tries())
			r.runner.Submit(samtemplate.Function{LogicalID: "Other"}, "id", nil)
			synctest.Wait()
			if got := len(r.tries()); got != before+1 {
				t.Errorf("%d attempts, want %d", got, before+1)
			}
		})
	})
	t.Run("Close returns at once with running and pending invocations", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, words("fail", "hang"))
			r.runner.Submit(function(nil), "id", nil)
			synctest.Wait()
			r.runner.Submit(function(nil), "id", nil)
			synctest.Wait()
			r.runner.Close()
			r.runner.Submit(function(nil), "id", nil)
			if got := len(r.tries()); got != 2 {
				t.Errorf("%d attempts, want 2", got)
			}
		})
	})
}

func words(words ...string) []string { return words }

func seconds(numbers ...int) []time.Duration {
	var all []time.Duration
	for _, n := range numbers {
		all = append(all, time.Duration(n)*time.Second)
	}
	return all
}

func failure(condition string, tries int) string {
	return fmt.Sprintf(`failures {"version":"1.0","timestamp":"2000-01-01T00:00:0%d.000Z","requestContext":{"requestId":"id",`+
		`"functionArn":"arn:aws:lambda:us-east-1:0:function:function:$LATEST","condition":%q,"approximateInvokeCount":%d},`+
		`"responseContext":{"statusCode":200,"executedVersion":"$LATEST","functionError":"Unhandled"},`+
		`"requestPayload":{"a":1},"responsePayload":{"errorMessage":"no"}}`, tries-1, condition, tries)
}

func function(settings *samtemplate.AsyncInvoke) samtemplate.Function {
	return samtemplate.Function{LogicalID: "Fn", Name: "function", Async: settings}
}

// rig is a runner whose function follows a script.
type rig struct {
	runner *async.Runner
	script []string
	began  time.Time

	mu     sync.Mutex
	at     []time.Duration
	bodies []string
}

func newRig(t *testing.T, script []string) *rig {
	t.Helper()
	r := &rig{script: script, began: time.Now()}
	r.runner = async.New(t.Context(), async.Options{
		Invoker: r, Destinations: r, Region: "us-east-1", Account: "0", Log: slog.New(slog.DiscardHandler),
	})
	return r
}

func (r *rig) Run(ctx context.Context, _, requestID string, _ []byte) (async.Outcome, error) {
	r.mu.Lock()
	r.at = append(r.at, time.Since(r.began))
	word := r.script[min(len(r.at), len(r.script))-1]
	r.mu.Unlock()
	if requestID != "id" {
		return async.Outcome{}, fmt.Errorf("request id %s", requestID)
	}
	switch word {
	case "busy":
		return async.Outcome{}, errNoRoom
	case "hang":
		<-ctx.Done()
		return async.Outcome{}, ctx.Err()
	case "fail":
		return async.Outcome{Payload: []byte(`{"errorMessage":"no"}`), FunctionError: "Unhandled"}, nil
	default:
		return async.Outcome{Payload: []byte(`fine`)}, nil
	}
}

func (r *rig) Deliver(_ context.Context, arn string, body []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies = append(r.bodies, arn+" "+string(body))
	return nil
}

func (r *rig) tries() []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.at)
}

// record returns the only record that a destination received, or "".
func (r *rig) record() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.bodies) == 0 {
		return ""
	}
	return r.bodies[0]
}
