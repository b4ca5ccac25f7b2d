package sse_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/transport/sse"
)

// fakeLeases is a quota.Streams whose answers a test sets.
type fakeLeases struct {
	refusal   error // of every TakeStream
	continued bool

	mu    sync.Mutex
	taken []quota.Stream
	ended []bool // whether the reader was expected to reconnect
	lost  bool
}

func (p *fakeLeases) TakeStream(_ context.Context, s quota.Stream) (quota.Lease, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = append(p.taken, s)
	if p.refusal != nil {
		return quota.Lease{}, p.refusal
	}
	return quota.Lease{UserID: s.UserID, Holder: "h", Continued: p.continued}, nil
}

func (p *fakeLeases) HoldsStream(context.Context, quota.Lease) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.lost, nil
}

func (*fakeLeases) RenewStream(context.Context, quota.Lease, time.Duration) error {
	return errors.New("a turn never outlasts its lease")
}

func (p *fakeLeases) EndStream(_ context.Context, l quota.Lease, expected bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.Holder != "h" {
		return errors.New("another lease")
	}
	p.ended = append(p.ended, expected)
	return nil
}

func (p *fakeLeases) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = true
}

func (p *fakeLeases) mustHaveEnded(t *testing.T, want ...bool) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if diff := cmp.Diff(want, p.ended); diff != "" {
		t.Errorf("returned leases (-want +got):\n%s", diff)
	}
}

// counting returns the configuration of an API that counts streams.
func counting(t *testing.T, p *fakeLeases, play func(*session)) sse.Config {
	t.Helper()
	c := newAPI(t, play)
	c.Streams = p
	return c
}

func resuming(at string) events.APIGatewayProxyRequest {
	event := mustPosition("cursor", "0.0.0")
	event.Headers["last-event-id"] = at
	return event
}

func TestTurns(t *testing.T) {
	status := func(s *session, cursor string) { s.endReplay(cursor, "idle") }
	bubble(t, "ends a stream in order after its turn and reserves the lease for its reader", func(t *testing.T) {
		p := &fakeLeases{}
		c := counting(t, p, func(s *session) {
			s.subscribed()
			s.item("0.1.0", "0.0.0", "completed")
			status(s, "0.1.0")
			s.untilClosed()
		})
		c.Turn = 300 * time.Millisecond
		if rest := open(t, c, newEvent()).rest(); !strings.HasSuffix(rest, "\n\n") || strings.Count(rest, "id: 0.1.0\n") != 2 {
			t.Errorf("got %q", rest)
		}
		p.mustHaveEnded(t, true)
	})
	bubble(t, "varies the length of turns below the limit", func(t *testing.T) {
		p := &fakeLeases{}
		for _, random := range []float64{0, 0.5, 0.999} {
			c := counting(t, p, func(s *session) { s.subscribed(); s.untilClosed() })
			c.Turn, c.Random = 30*time.Second, func() float64 { return random }
			open(t, c, newEvent())
		}
		var got []time.Duration
		for _, s := range p.taken {
			got = append(got, s.Lasting.Round(10*time.Millisecond))
			if s.UserID != "alice" || s.Subject != "s1" || s.Resumed {
				t.Errorf("took %+v", s)
			}
		}
		if diff := cmp.Diff([]time.Duration{30 * time.Second, 28500 * time.Millisecond, 27 * time.Second}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	bubble(t, "sends a message whole that is being read at the end of the turn", func(t *testing.T) {
		text := strings.Repeat("x", 100_000)
		c := newAPI(t, func(s *session) {
			s.subscribed()
			s.send(`{"type":"item.snapshot","session_id":"s1","subscription":"stream","cursor":"0.1.0","prev":"0.0.0","item":{"status":"completed","id":%q}}`, text)
			s.untilClosed()
		})
		c.Turn = 300 * time.Millisecond
		a := open(t, c, newEvent())
		a.next()
		if _, err := a.body.ReadString(':'); err != nil { // it has begun
			t.Fatal(err)
		}
		time.Sleep(2 * c.Turn)
		if rest := a.rest(); !strings.HasSuffix(rest, "\"}}\n\n") || !strings.Contains(rest, text) {
			t.Errorf("got %d bytes that end with %q", len(rest), rest[max(0, len(rest)-20):])
		}
	})
	t.Run("sends nothing twice to a reader that reconnects", func(t *testing.T) {
		for name, test := range map[string]struct {
			at        string
			continued bool
			play      func(*session)
			want      []string
		}{
			"without changes": {"0.4.0", true, func(s *session) {
				status(s, "0.4.0")
				s.item("0.5.0", "0.4.0", "completed")
			}, []string{"0.5.0"}},
			"within an item": {"0.4.7", true, func(s *session) {
				s.item("0.4.7", "0.4.7", "in_progress")
				status(s, "0.4.7")
				s.message("item.delta", "0.4.8", "0.4.7")
			}, []string{"0.4.8"}},
			"after more content of an item": {"0.4.7", true, func(s *session) {
				s.item("0.4.9", "0.4.7", "in_progress")
				status(s, "0.4.9")
			}, []string{"0.4.9", "0.4.9"}},
			"after the end of an item": {"0.4.7", true, func(s *session) {
				s.item("0.4.8", "0.4.7", "completed")
				status(s, "0.4.8")
			}, []string{"0.4.8", "0.4.8"}},
			"without the last status": {"0.4.0", false, func(s *session) {
				status(s, "0.4.0")
			}, []string{"0.4.0"}},
			"before a later status": {"0.4.0", true, func(s *session) {
				s.item("0.5.0", "0.4.0", "completed")
				status(s, "0.5.0")
				status(s, "0.5.0")
			}, []string{"0.5.0", "0.5.0", "0.5.0"}},
		} {
			bubble(t, name, func(t *testing.T) {
				a := open(t, counting(t, &fakeLeases{continued: test.continued}, func(s *session) {
					s.subscribed()
					test.play(s)
					s.untilClosed()
				}), resuming(test.at))
				a.next()
				if diff := cmp.Diff(test.want, a.ids(len(test.want))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	})
	for name, play := range map[string]func(*session){
		"no status was sent": func(s *session) { s.item("0.1.0", "0.0.0", "completed") },
		"a rewind":           func(s *session) { status(s, "0.4.0"); s.message("thread.rewound", "1.5.0", "0.4.0") },
		"a run begins":       func(s *session) { status(s, "0.4.0"); s.item("0.5.0", "0.4.0", "completed") },
	} {
		bubble(t, "does not reserve the lease if the reader may lack the status: "+name, func(t *testing.T) {
			p := &fakeLeases{}
			c := counting(t, p, func(s *session) { s.subscribed(); play(s); s.untilClosed() })
			c.Turn = 300 * time.Millisecond
			open(t, c, newEvent()).rest()
			p.mustHaveEnded(t, false)
		})
	}
	for name, end := range map[string]string{
		"a deleted session":     `{"type":"thread.deleted","session_id":"s1","cursor":"0.0.0","prev":"0.0.0"}`,
		"a revoked permission":  `{"type":"unsubscribed","session_id":"s1","reason":"revoked","status":403}`,
		"a denied subscription": `{"type":"error","request_id":"stream","status":404,"detail":"no"}`,
	} {
		bubble(t, "does not reserve the lease after "+name, func(t *testing.T) {
			p := &fakeLeases{}
			a := open(t, counting(t, p, func(s *session) {
				if !strings.Contains(end, "error") {
					s.subscribed()
					status(s, "0.1.0")
				}
				s.send("%s", end)
				s.untilClosed()
			}), newEvent())
			a.rest()
			p.mustHaveEnded(t, false)
		})
	}
	bubble(t, "ends a stream whose reader has reconnected, and leaves the lease to the new stream", func(t *testing.T) {
		p := &fakeLeases{}
		c := counting(t, p, func(s *session) { s.subscribed(); status(s, "0.1.0"); s.untilClosed() })
		c.Check = time.Millisecond
		a := open(t, c, newEvent())
		a.next()
		a.ids(1)
		p.lose()
		want(t, a.rest(), "")
		p.mustHaveEnded(t)
	})
}

func TestTooManyStreams(t *testing.T) {
	full := quota.Exceeded(quota.OpenStreams, 2, 2, 40*time.Second)
	unread := func(s *session) { s.t.Error("unexpected subscription") }
	later := regexp.MustCompile(`^retry: (\d+)\n: (429|503), come back later\n\n$`)
	bubble(t, "refuses one stream too many", func(t *testing.T) {
		a := open(t, counting(t, &fakeLeases{refusal: full}, unread), newEvent())
		var got map[string]any
		if err := json.Unmarshal([]byte(a.rest()), &got); err != nil {
			t.Fatal(err)
		}
		wantBody := map[string]any{
			"type": problem.TypeOf(fault.QuotaExceeded), "code": string(fault.QuotaExceeded), "title": "Too Many Requests", "status": 429.0, "request_id": "r1", "quota": "streams",
			"limit": 2.0, "used": 2.0, "detail": full.Detail,
		}
		if diff := cmp.Diff(wantBody, got); diff != "" || a.Status != 429 || a.Headers["Retry-After"] != "40" {
			t.Errorf("%d %v (-want +got):\n%s", a.Status, a.Headers, diff)
		}
	})
	for name, test := range map[string]struct {
		refusal error // of a lease
		play    func(*session)
	}{
		"too many streams":          {full, unread},
		"streams cannot be counted": {errors.New("the table is gone"), unread},
		"the websocket is busy":     {nil, func(s *session) { s.send(`{"type":"error","request_id":"stream","status":429}`); s.untilClosed() }},
		"the websocket is closed":   {nil, func(*session) {}},
	} {
		bubble(t, "asks a returning reader to reconnect later: "+name, func(t *testing.T) {
			c := counting(t, &fakeLeases{refusal: test.refusal}, test.play)
			for _, random := range []float64{0, 0.99} {
				c.Random = func() float64 { return random }
				a := open(t, c, resuming("0.4.0"))
				text := a.rest()
				var wait int
				if m := later.FindStringSubmatch(text); m == nil || a.Status != 200 || a.Headers["Content-Type"] != "text/event-stream" {
					t.Fatalf("got %d %q", a.Status, text)
				} else if _, err := fmt.Sscan(m[1], &wait); err != nil || wait < 1000 || wait > 20_000 {
					t.Errorf("the wait is %d ms", wait)
				}
			}
		})
	}
	bubble(t, "refuses a returning reader without access", func(t *testing.T) {
		a := open(t, newAPI(t, func(s *session) {
			s.send(`{"type":"error","request_id":"stream","status":404,"detail":"no"}`)
			s.untilClosed()
		}), resuming("0.4.0"))
		if a.Status != 404 {
			t.Errorf("got %d", a.Status)
		}
	})
	if !errors.Is(full, fault.Of(fault.Busy)) {
		t.Error("the fault does not map to 429")
	}
}
