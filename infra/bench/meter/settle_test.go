package meter_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/bench/meter"
	"github.com/rethread/rethread/infra/local/iam"
)

// before starts a meter in front of a service that a test plays.
func before(t *testing.T, engine http.HandlerFunc) *meter.Proxy {
	t.Helper()
	server := httptest.NewServer(engine)
	t.Cleanup(server.Close)
	p, err := meter.Start(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustPost(t *testing.T, p *meter.Proxy, function, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	r.Header.Set(iam.FunctionHeader, function)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return
	}
	_ = res.Body.Close() // not read
}

func TestSettle(t *testing.T) {
	t.Parallel()
	arrived, leave := make(chan struct{}), make(chan struct{})
	p := before(t, func(rw http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-leave
		_, _ = io.WriteString(rw, `{"ConsumedCapacity":{"CapacityUnits":1}}`)
	})
	if err := p.Settle(t.Context(), time.Millisecond); err != nil {
		t.Errorf("without a request: %v", err)
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		mustPost(t, p, "sweeper", "{}")
	}()
	<-arrived
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Settle(ended, time.Millisecond); !errors.Is(err, context.Canceled) {
		t.Errorf("during a request: %v", err)
	}
	if err := p.Settle(t.Context(), time.Millisecond, "sweeper"); err != nil {
		t.Errorf("during an ignored request: %v", err)
	}
	close(leave)
	<-answered
	if err := p.Settle(t.Context(), time.Millisecond); err != nil {
		t.Errorf("after the request: %v", err)
	}
	if u := p.Counts()[meter.Call{Function: "sweeper", Operation: "GetItem"}]; u != (meter.Usage{Requests: 1, Reads: 1}) {
		t.Errorf("counted %v", u)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	t.Run("reports a request that could not be counted, which was passed on", func(t *testing.T) {
		t.Parallel()
		var passed string
		p := before(t, func(_ http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			passed = string(body)
		})
		mustPost(t, p, "events", "no JSON")
		if err := p.Close(); err == nil || !strings.Contains(err.Error(), "count GetItem") {
			t.Errorf("got %v", err)
		}
		if passed != "no JSON" {
			t.Errorf("passed %q on", passed)
		}
	})
	t.Run("cuts off an engine that does not answer", func(t *testing.T) {
		t.Parallel()
		p := before(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if res, err := http.DefaultClient.Do(r); err == nil {
			_ = res.Body.Close()
			t.Errorf("answered %s", res.Status)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}
