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
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/bus"
	"github.com/rethread/rethread/shared/client/eventbus"
	"github.com/rethread/rethread/shared/domain/cloudevent"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// service is a bus of this machine, behind what makes entries fail: by the type
// of their events, how often still.
type service struct {
	*bus.Bus
	fails map[string]int
	down  bool
	calls int
}

// ServeHTTP implements http.Handler.
func (s *service) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	s.calls++
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
	for _, e := range in.Entries {
		if typ := fmt.Sprint(e["DetailType"]); s.fails[typ] > 0 {
			s.fails[typ]--
			e["Source"] = "aws.mine" // which nobody may use
		}
	}
	body, _ = json.Marshal(in) // what was read can be written
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.Bus.ServeHTTP(rw, r)
}

func newBus(t *testing.T, s *service, wait func(context.Context, time.Duration) error) *eventbus.Bus {
	t.Helper()
	s.Bus = bus.New(slog.New(slog.DiscardHandler), time.Now)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	client := eventbridge.New(eventbridge.Options{
		BaseEndpoint: &server.URL, Region: "us-east-1", Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	return eventbus.New(client, "mine", wait)
}

func events(types ...delivery.Type) []delivery.Event {
	var out []delivery.Event
	for i, typ := range types {
		out = append(out, delivery.Event{ID: fmt.Sprint("e", i), Type: typ, SessionID: "s", Time: 1735776000007})
	}
	return out
}

func TestPublish(t *testing.T) {
	t.Parallel()
	many := make([]delivery.Type, 25)
	for i := range many {
		many[i] = delivery.TaskSaved
	}
	for name, test := range map[string]struct {
		service service
		types   []delivery.Type
		failed  []int
		calls   int
		waits   []time.Duration
		taken   int
	}{
		"nothing is no call":      {},
		"events go ten at a time": {types: many, calls: 3, taken: 25},
		"those that fail alone go again": {
			service: service{fails: map[string]int{"run.failed": 2}},
			types:   []delivery.Type{delivery.RunStarted, delivery.RunFailed, delivery.TaskSaved},
			calls:   3, waits: []time.Duration{100 * time.Millisecond, 200 * time.Millisecond}, taken: 3,
		},
		"one that goes on failing is named": {
			service: service{fails: map[string]int{"run.failed": 9}},
			types:   []delivery.Type{delivery.RunStarted, delivery.RunFailed, delivery.TaskSaved},
			failed:  []int{1}, calls: 3, waits: []time.Duration{100 * time.Millisecond, 200 * time.Millisecond}, taken: 2,
		},
		"a service that is down fails all of a call, which the client has repeated": {
			service: service{down: true}, types: []delivery.Type{delivery.RunStarted, delivery.RunFailed},
			failed: []int{0, 1}, calls: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := test.service
			var waits []time.Duration
			b := newBus(t, &s, func(_ context.Context, d time.Duration) error {
				waits = append(waits, d)
				return nil
			})
			var failed []int
			errs := b.Publish(t.Context(), events(test.types...))
			for i, err := range errs {
				if err != nil {
					failed = append(failed, i)
				}
			}
			if len(errs) != len(test.types) || s.calls != test.calls || len(s.Events()) != test.taken {
				t.Errorf("%d errors, %d calls, %d taken", len(errs), s.calls, len(s.Events()))
			}
			if diff := cmp.Diff(test.failed, failed) + cmp.Diff(test.waits, waits); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("an entry is the CloudEvent", func(t *testing.T) {
		t.Parallel()
		var s service
		b := newBus(t, &s, nil)
		e := events(delivery.RunStarted)
		if errs := b.Publish(t.Context(), e); errs[0] != nil {
			t.Fatal(errs)
		}
		detail, err := cloudevent.Encode(e[0])
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
	t.Run("who has no time left does not try again", func(t *testing.T) {
		t.Parallel()
		s := service{fails: map[string]int{"run.failed": 1}}
		b := newBus(t, &s, func(context.Context, time.Duration) error { return errors.New("late") })
		if errs := b.Publish(t.Context(), events(delivery.RunFailed)); errs[0] == nil || s.calls != 1 {
			t.Errorf("%v after %d calls", errs, s.calls)
		}
	})
}
