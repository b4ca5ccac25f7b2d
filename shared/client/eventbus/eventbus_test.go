package eventbus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/bus"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/client/eventbus"
	"github.com/rethread/rethread/shared/domain/notification"
)

// service is a local bus, in this process, that refuses entries.
type service struct {
	*bus.Bus
	fails map[string]int // how many entries to refuse, by their event's type
	unfit string         // the type of an event whose details the bus cannot read
	down  bool
	short bool // answers without entries
	calls []time.Time
}

// Do implements the HTTP client of the AWS client.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	s.calls = append(s.calls, time.Now())
	rw := httptest.NewRecorder()
	s.ServeHTTP(rw, r)
	return rw.Result(), nil
}

// ServeHTTP implements http.Handler.
func (s *service) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || s.down {
		rw.WriteHeader(http.StatusBadRequest)
		return
	}
	var in struct{ Entries []map[string]any }
	if err := json.Unmarshal(body, &in); err != nil {
		rw.WriteHeader(http.StatusBadRequest)
		return
	}
	if s.short {
		_, _ = io.WriteString(rw, `{"FailedEntryCount":0,"Entries":[]}`) // a recorder takes everything
		return
	}
	for _, e := range in.Entries {
		switch typ := fmt.Sprint(e["DetailType"]); {
		case s.fails[typ] > 0:
			s.fails[typ]--
			e["Source"] = "aws.mine" // a reserved source
		case s.unfit == typ:
			e["Detail"] = "{"
		}
	}
	body, _ = json.Marshal(in) // what was read can be written
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.Bus.ServeHTTP(rw, r)
}

// waits returns the times between the calls.
func (s *service) waits() []time.Duration {
	var out []time.Duration
	for i := 1; i < len(s.calls); i++ {
		out = append(out, s.calls[i].Sub(s.calls[i-1]))
	}
	return out
}

func newBus(s *service) *eventbus.Bus {
	s.Bus = bus.New(slog.New(slog.DiscardHandler), time.Now)
	return eventbus.New(aws.Config{
		HTTPClient: s, BaseEndpoint: aws.String("http://bus.test"), Region: "us-east-1",
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}, "mine")
}

func events(types ...notification.Type) []notification.Event {
	var out []notification.Event
	for i, typ := range types {
		out = append(out, notification.Event{ID: fmt.Sprint("e", i), Type: typ, SessionID: "s", Time: 1735776000007})
	}
	return out
}

func TestPublish(t *testing.T) {
	t.Parallel()
	many := make([]notification.Type, 25)
	for i := range many {
		many[i] = notification.TaskSaved
	}
	three := []notification.Type{notification.RunStarted, notification.RunFailed, notification.TaskSaved}
	twice := []time.Duration{200 * time.Millisecond, 400 * time.Millisecond}
	for name, test := range map[string]struct {
		service  service
		types    []notification.Type
		failed   []int
		calls    int
		waits    []time.Duration // upper limits
		accepted int
	}{
		"sends no request without events": {},
		"sends ten events a request":      {types: many, calls: 3, waits: []time.Duration{1, 1}, accepted: 25},
		"sends refused entries again": {
			service: service{fails: map[string]int{"run.failed": 2}}, types: three,
			calls: 3, waits: twice, accepted: 3,
		},
		"returns the error of an entry that is refused three times": {
			service: service{fails: map[string]int{"run.failed": 9}}, types: three,
			failed: []int{1}, calls: 3, waits: twice, accepted: 2,
		},
		"sends an entry once that the bus will always refuse": {
			service: service{unfit: "run.failed"}, types: three, failed: []int{1}, calls: 1, accepted: 2,
		},
		"does not repeat a failed request, which the AWS client has repeated": {
			service: service{down: true}, types: []notification.Type{notification.RunStarted, notification.RunFailed},
			failed: []int{0, 1}, calls: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := test.service
				var failed []int
				errs := newBus(&s).Publish(t.Context(), events(test.types...))
				for i, err := range errs {
					if err != nil {
						failed = append(failed, i)
					}
				}
				if len(errs) != len(test.types) || len(s.calls) != test.calls || len(s.Events()) != test.accepted {
					t.Errorf("%d errors, %d calls, %d accepted", len(errs), len(s.calls), len(s.Events()))
				}
				if diff := cmp.Diff(test.failed, failed); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				for i, waited := range s.waits() {
					if waited >= test.waits[i] {
						t.Errorf("waited %s before call %d, want less than %s", waited, i+2, test.waits[i])
					}
				}
			})
		})
	}
	t.Run("events may be published again after an answer that says nothing about them", func(t *testing.T) {
		t.Parallel()
		for _, err := range newBus(&service{short: true}).Publish(t.Context(), events(three...)) {
			if !errors.Is(err, fault.Of(fault.Busy)) {
				t.Errorf("got %v", err)
			}
		}
	})
	t.Run("an entry is the CloudEvent", func(t *testing.T) {
		t.Parallel()
		var s service
		b := newBus(&s)
		e := events(notification.RunStarted)
		if errs := b.Publish(t.Context(), e); errs[0] != nil {
			t.Fatal(errs)
		}
		detail, err := notification.EncodeCloudEvent(e[0])
		if err != nil {
			t.Fatal(err)
		}
		got := s.Events()
		want := []bus.Event{{
			ID: got[0].ID, Bus: "mine", Source: "rethread", DetailType: "run.started", Detail: detail,
			Time: time.UnixMilli(1735776000007).UTC(),
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("does not retry after the context has ended", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond) // ends during the wait
			defer cancel()
			s := service{fails: map[string]int{"run.failed": 1}}
			errs := newBus(&s).Publish(ctx, events(notification.RunFailed))
			if errs[0] == nil || !strings.Contains(errs[0].Error(), "NotAuthorizedForSource") || len(s.calls) != 1 {
				t.Errorf("%v after %d calls", errs, len(s.calls))
			}
		})
	})
}
