package watch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
)

var errBroken = errors.New("broken")

// audience is the watchers of logs.
type audience struct {
	mu       sync.Mutex
	watchers map[string][]string
	failing  map[string]bool
	reads    map[string]int
	left     map[string][][]string
	guests   map[string][]watch.Subscription
	cleared  []string
}

func newAudience(watchers map[string][]string) *audience {
	return &audience{
		watchers: watchers, failing: map[string]bool{}, reads: map[string]int{}, left: map[string][][]string{},
	}
}

func (a *audience) Watchers(_ context.Context, log string) (string, []watch.Subscription, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reads[log]++
	if a.failing[log] {
		return "", nil, errBroken
	}
	session := "session of " + log
	subs := slices.Clone(a.guests[log])
	for _, connection := range a.watchers[log] {
		subs = append(subs, watch.Subscription{SessionID: session, Connection: connection})
	}
	return session, subs, nil
}

func (a *audience) Clear(_ context.Context, _ string, s watch.Subscription) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cleared = append(a.cleared, s.Connection)
	return nil
}

func (a *audience) Leave(_ context.Context, log string, connections []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left[log] = append(a.left[log], connections)
	return nil
}

// fakeConnection is a connection's behaviour: the results of its next posts, then
// nil.
type fakeConnection struct {
	answers []error
	takes   time.Duration // of each post
	deaf    bool          // it cannot be closed
	got     []string
	closed  bool
}

// fakePusher is a pusher.
type fakePusher struct {
	mu sync.Mutex
	of map[string]*fakeConnection
}

func newFakePusher() *fakePusher { return &fakePusher{of: map[string]*fakeConnection{}} }

// at returns a connection, which it creates at first use.
func (l *fakePusher) at(connection string) *fakeConnection {
	if l.of[connection] == nil {
		l.of[connection] = &fakeConnection{}
	}
	return l.of[connection]
}

func (l *fakePusher) Push(ctx context.Context, connection string, message []byte) error {
	l.mu.Lock()
	takes := l.at(connection).takes
	l.mu.Unlock()
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.at(connection)
	if c.closed {
		return watch.ErrGone
	}
	if len(c.answers) > 0 {
		err := c.answers[0]
		c.answers = c.answers[1:]
		if err != nil {
			return err
		}
	}
	c.got = append(c.got, string(message))
	return nil
}

func (l *fakePusher) Close(_ context.Context, connection string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at(connection).deaf {
		return errBroken
	}
	l.at(connection).closed = true
	return nil
}

func newFanout(a *audience, l watch.Pusher) *watch.Fanout {
	return watch.NewFanout(a, l, slog.New(slog.DiscardHandler), time.Now)
}

// wholeEvent returns the update with one whole event.
func wholeEvent(log string, seq int64) watch.LogUpdate {
	return watch.LogUpdate{Log: log, Messages: []watch.Message{{
		Type:   watch.Snapshot,
		Item:   &session.Event{Seq: seq, ID: fmt.Sprint("e", seq), Status: session.EventCompleted},
		Cursor: watch.Cursor{Seq: seq}, Prev: watch.Cursor{Seq: seq - 1},
	}}}
}

// cursors returns the cursors of the messages that a connection got.
func cursors(t interface {
	Helper()
	Fatal(...any)
}, got []string,
) []string {
	t.Helper()
	var out []string
	for _, frame := range got {
		var m watch.Message
		dec := json.NewDecoder(strings.NewReader(frame))
		var raw map[string]json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw["cursor"], &m.Cursor); err != nil {
			t.Fatal(err)
		}
		out = append(out, m.Cursor.String())
	}
	return out
}

func wantGot(t *testing.T, l *fakePusher, connection string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, cursors(t, l.at(connection).got)); diff != "" {
		t.Errorf("%s got (-want +got):\n%s", connection, diff)
	}
}

func wantDelivered(t *testing.T, errs []error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

func TestDeliver(t *testing.T) {
	t.Run("sends a log's messages to its watchers in order, with the session's id", func(t *testing.T) {
		a, l := newAudience(map[string][]string{"a": {"c1", "c2", "c1"}, "b": {"c2"}}), newFakePusher()
		item := wholeEvent("a", 1)
		wantDelivered(t, newFanout(a, l).Deliver(t.Context(), []watch.LogUpdate{item, wholeEvent("a", 2), wholeEvent("a", 3)}))
		wantGot(t, l, "c1", "0.1.0", "0.2.0", "0.3.0")
		wantGot(t, l, "c2", "0.1.0", "0.2.0", "0.3.0")
		if a.reads["a"] != 1 {
			t.Errorf("%d reads of who watches", a.reads["a"])
		}
		want := `{"type":"item.snapshot","session_id":"session of a","cursor":"0.1.0","prev":"0.0.0",` +
			`"item":{"id":"e1","seq":1,"session_id":"session of a","status":"completed","created_time":0,` +
			`"invocation_id":"","author":"","actions":{},"content":null}}`
		if diff := cmp.Diff(want, l.at("c1").got[0]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if item.Messages[0].Item.SessionID != "" {
			t.Error("what was given changed")
		}
	})
	t.Run("ignores updates without messages", func(t *testing.T) {
		a, l := newAudience(map[string][]string{"a": {"c"}}), newFakePusher()
		wantDelivered(t, newFanout(a, l).Deliver(t.Context(), []watch.LogUpdate{{Log: "a"}, {}}))
		if len(a.reads) != 0 {
			t.Error("somebody asked who watches")
		}
	})
	t.Run("does not encode messages that have no watchers", func(t *testing.T) {
		var log bytes.Buffer
		a, l := newAudience(nil), newFakePusher()
		bad := wholeEvent("a", 1)
		bad.Messages[0].Item.Fields = map[string]json.RawMessage{"x": json.RawMessage("{")}
		f := watch.NewFanout(a, l, slog.New(slog.NewTextHandler(&log, nil)), time.Now)
		wantDelivered(t, f.Deliver(t.Context(), []watch.LogUpdate{bad}))
		if log.Len() > 0 {
			t.Errorf("it was: %s", log.String())
		}
	})
	t.Run("leaves out and logs a message that cannot be encoded", func(t *testing.T) {
		var log bytes.Buffer
		a, l := newAudience(map[string][]string{"a": {"c"}}), newFakePusher()
		bad := wholeEvent("a", 1)
		bad.Messages[0].Item.Fields = map[string]json.RawMessage{"x": json.RawMessage("{")}
		f := watch.NewFanout(a, l, slog.New(slog.NewTextHandler(&log, nil)), time.Now)
		wantDelivered(t, f.Deliver(t.Context(), []watch.LogUpdate{bad, wholeEvent("a", 2)}))
		wantGot(t, l, "c", "0.2.0")
		if !strings.Contains(log.String(), "cannot be encoded") {
			t.Errorf("the log: %s", log.String())
		}
	})
	t.Run("fails only the log whose watchers cannot be read", func(t *testing.T) {
		a, l := newAudience(map[string][]string{"a": {"c"}, "b": {"c"}}), newFakePusher()
		a.failing["a"] = true
		errs := newFanout(a, l).Deliver(t.Context(), []watch.LogUpdate{wholeEvent("a", 1), wholeEvent("b", 1), wholeEvent("a", 2)})
		if !errors.Is(errs[0], errBroken) || errs[1] != nil || !errors.Is(errs[2], errBroken) {
			t.Errorf("got %v", errs)
		}
		wantGot(t, l, "c", "0.1.0")
	})
	t.Run("removes connections that are gone by one call", func(t *testing.T) {
		a, l := newAudience(map[string][]string{"a": {"c1", "c2", "c3"}}), newFakePusher()
		l.at("c1").answers, l.at("c3").answers = []error{nil, watch.ErrGone}, []error{watch.ErrGone}
		wantDelivered(t, newFanout(a, l).Deliver(t.Context(), []watch.LogUpdate{wholeEvent("a", 1), wholeEvent("a", 2), wholeEvent("a", 3)}))
		wantGot(t, l, "c2", "0.1.0", "0.2.0", "0.3.0")
		if diff := cmp.Diff(map[string][][]string{"a": {{"c1", "c3"}}}, a.left); diff != "" {
			t.Errorf("who left (-want +got):\n%s", diff)
		}
	})
}

func TestDeliverToSlowConnections(t *testing.T) {
	two := []watch.LogUpdate{wholeEvent("a", 1), wholeEvent("a", 2)}
	throttled := func(n int) []error { return slices.Repeat([]error{watch.ErrThrottled}, n) }
	for name, c := range map[string]struct {
		slow   fakeConnection
		closed bool
		atMost time.Duration
	}{
		"throttled for a while gets everything":  {fakeConnection{answers: throttled(4)}, false, time.Second},
		"throttled for too long is closed":       {fakeConnection{answers: throttled(99)}, true, 2 * time.Second},
		"that does not answer is closed":         {fakeConnection{takes: time.Hour}, true, 2 * time.Second},
		"that fails is closed":                   {fakeConnection{answers: []error{errBroken}}, true, 0},
		"that is far away gets everything":       {fakeConnection{takes: time.Second}, false, 2 * time.Second},
		"that can be neither reached nor closed": {fakeConnection{answers: slices.Repeat([]error{errBroken}, 9), deaf: true}, false, time.Second},
	} {
		t.Run("a connection "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, l := newAudience(map[string][]string{"a": {"slow", "well"}}), newFakePusher()
				slow := c.slow
				l.of["slow"] = &slow
				began := time.Now()
				errs := newFanout(a, l).Deliver(t.Context(), two)
				if took := time.Since(began); took > c.atMost {
					t.Errorf("it took %s", took)
				}
				if slow.deaf {
					if !errors.Is(errs[0], errBroken) || !errors.Is(errs[1], errBroken) {
						t.Errorf("got %v", errs)
					}
				} else {
					wantDelivered(t, errs)
				}
				wantGot(t, l, "well", "0.1.0", "0.2.0")
				if slow.closed != c.closed {
					t.Errorf("closed: %v", slow.closed)
				}
				if !c.closed && !slow.deaf {
					wantGot(t, l, "slow", "0.1.0", "0.2.0")
				}
			})
		})
	}
	t.Run("a connection that stays slow is closed in the end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, l := newAudience(map[string][]string{"a": {"slow"}}), newFakePusher()
			l.at("slow").takes = 1900 * time.Millisecond
			var news []watch.LogUpdate
			for seq := range int64(100) {
				news = append(news, wholeEvent("a", seq+1))
			}
			began := time.Now()
			wantDelivered(t, newFanout(a, l).Deliver(t.Context(), news))
			if took := time.Since(began); took > 13*time.Second || !l.at("slow").closed {
				t.Errorf("after %s, closed: %v", took, l.at("slow").closed)
			}
		})
	})
	t.Run("out of time, closes no connection and returns an error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a, l := newAudience(map[string][]string{"a": {"slow"}, "b": {"well"}}), newFakePusher()
			l.at("slow").takes = time.Hour
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			errs := newFanout(a, l).Deliver(ctx, []watch.LogUpdate{wholeEvent("a", 1), wholeEvent("b", 1)})
			if !errors.Is(errs[0], context.DeadlineExceeded) || errs[1] != nil || l.at("slow").closed {
				t.Errorf("got %v, closed: %v", errs, l.at("slow").closed)
			}
		})
	})
}
