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
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/transport/sse"
)

// places counts streams as a test wants it.
type places struct {
	refusal   error // of whoever opens one
	continued bool

	mu    sync.Mutex
	asked []quota.Stream
	ended []bool // whether the reader was expected back
	lost  bool
}

func (p *places) TakeStream(_ context.Context, s quota.Stream) (quota.Lease, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, s)
	if p.refusal != nil {
		return quota.Lease{}, p.refusal
	}
	return quota.Lease{UserID: s.UserID, Holder: "h", Continued: p.continued}, nil
}

func (p *places) HoldsStream(context.Context, quota.Lease) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.lost, nil
}

func (*places) RenewStream(context.Context, quota.Lease, time.Duration) error {
	return errors.New("no turn is longer than its lease")
}

func (p *places) EndStream(_ context.Context, l quota.Lease, expected bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.Holder != "h" {
		return errors.New("another lease")
	}
	p.ended = append(p.ended, expected)
	return nil
}

func (p *places) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = true
}

func (p *places) mustHaveEnded(t *testing.T, want ...bool) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if diff := cmp.Diff(want, p.ended); diff != "" {
		t.Errorf("given back (-want +got):\n%s", diff)
	}
}

// counting is an API whose streams are counted.
func counting(t *testing.T, p *places, play func(*session)) sse.Config {
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
	status := func(s *session, cursor string) { s.stands(cursor, "idle") }
	t.Run("a stream ends after its turn, in order, and its place is kept for the reader", func(t *testing.T) {
		p := &places{}
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
	t.Run("turns are not all of one length, and none is longer than it may be", func(t *testing.T) {
		p := &places{}
		for _, random := range []float64{0, 0.5, 0.999} {
			c := counting(t, p, func(s *session) { s.subscribed(); s.untilClosed() })
			c.Turn, c.Random = 30*time.Second, func() float64 { return random }
			open(t, c, newEvent())
		}
		var got []time.Duration
		for _, s := range p.asked {
			got = append(got, s.Lasting.Round(10*time.Millisecond))
			if s.UserID != "alice" || s.Subject != "s1" || s.Resumed {
				t.Errorf("asked for %+v", s)
			}
		}
		if diff := cmp.Diff([]time.Duration{30 * time.Second, 28500 * time.Millisecond, 27 * time.Second}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a message that is being read at the end of the turn is brought whole", func(t *testing.T) {
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
		over, cancel := context.WithTimeout(t.Context(), 2*c.Turn)
		defer cancel()
		<-over.Done()
		if rest := a.rest(); !strings.HasSuffix(rest, "\"}}\n\n") || !strings.Contains(rest, text) {
			t.Errorf("got %d bytes that end with %q", len(rest), rest[max(0, len(rest)-20):])
		}
	})
	t.Run("who comes back is told nothing twice", func(t *testing.T) {
		for name, test := range map[string]struct {
			at        string
			continued bool
			play      func(*session)
			want      []string
		}{
			"where nothing has happened": {"0.4.0", true, func(s *session) {
				status(s, "0.4.0")
				s.item("0.5.0", "0.4.0", "completed")
			}, []string{"0.5.0"}},
			"in the midst of an item": {"0.4.7", true, func(s *session) {
				s.item("0.4.7", "0.4.7", "in_progress")
				status(s, "0.4.7")
				s.say("item.delta", "0.4.8", "0.4.7")
			}, []string{"0.4.8"}},
			"where the item has grown": {"0.4.7", true, func(s *session) {
				s.item("0.4.9", "0.4.7", "in_progress")
				status(s, "0.4.9")
			}, []string{"0.4.9", "0.4.9"}},
			"where the item is complete": {"0.4.7", true, func(s *session) {
				s.item("0.4.8", "0.4.7", "completed")
				status(s, "0.4.8")
			}, []string{"0.4.8", "0.4.8"}},
			"who may not know the status": {"0.4.0", false, func(s *session) {
				status(s, "0.4.0")
			}, []string{"0.4.0"}},
			"a status that comes later": {"0.4.0", true, func(s *session) {
				s.item("0.5.0", "0.4.0", "completed")
				status(s, "0.5.0")
				status(s, "0.5.0")
			}, []string{"0.5.0", "0.5.0", "0.5.0"}},
		} {
			t.Run(name, func(t *testing.T) {
				a := open(t, counting(t, &places{continued: test.continued}, func(s *session) {
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
		"it did not come": func(s *session) { s.item("0.1.0", "0.0.0", "completed") },
		"history was cut": func(s *session) { status(s, "0.4.0"); s.say("thread.rewound", "1.5.0", "0.4.0") },
		"a run begins":    func(s *session) { status(s, "0.4.0"); s.item("0.5.0", "0.4.0", "completed") },
	} {
		t.Run("a place is kept for nobody who may have missed the status: "+name, func(t *testing.T) {
			p := &places{}
			c := counting(t, p, func(s *session) { s.subscribed(); play(s); s.untilClosed() })
			c.Turn = 300 * time.Millisecond
			open(t, c, newEvent()).rest()
			p.mustHaveEnded(t, false)
		})
	}
	for name, end := range map[string]string{
		"a session that was deleted":    `{"type":"thread.deleted","session_id":"s1","cursor":"0.0.0","prev":"0.0.0"}`,
		"who may watch no longer":       `{"type":"unsubscribed","session_id":"s1","reason":"revoked","status":403}`,
		"a subscription that is denied": `{"type":"error","request_id":"stream","status":404,"detail":"no"}`,
	} {
		t.Run("no place is kept for "+name, func(t *testing.T) {
			p := &places{}
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
	t.Run("a stream ends whose reader goes on elsewhere, and leaves the place to the other", func(t *testing.T) {
		p := &places{}
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

func TestTooMany(t *testing.T) {
	full := quota.Exceeded(quota.OpenStreams, 2, 2, 40*time.Second)
	unread := func(s *session) { s.t.Error("it was asked for a subscription") }
	later := regexp.MustCompile(`^retry: (\d+)\n: (429|503), come back later\n\n$`)
	t.Run("who opens one too many is refused", func(t *testing.T) {
		a := open(t, counting(t, &places{refusal: full}, unread), newEvent())
		var got map[string]any
		if err := json.Unmarshal([]byte(a.rest()), &got); err != nil {
			t.Fatal(err)
		}
		wantBody := map[string]any{
			"type": "about:blank", "title": "Too Many Requests", "status": 429.0, "request_id": "r1", "quota": "streams",
			"limit": 2.0, "used": 2.0, "detail": full.Detail,
		}
		if diff := cmp.Diff(wantBody, got); diff != "" || a.Status != 429 || a.Headers["Retry-After"] != "40" {
			t.Errorf("%d %v (-want +got):\n%s", a.Status, a.Headers, diff)
		}
	})
	for name, c := range map[string]sse.Config{
		"too many are open":         counting(t, &places{refusal: full}, unread),
		"nobody can count them":     counting(t, &places{refusal: errors.New("the table is gone")}, unread),
		"the websocket is busy":     newAPI(t, func(s *session) { s.send(`{"type":"error","request_id":"stream","status":429}`); s.untilClosed() }),
		"the websocket cannot open": newAPI(t, func(*session) {}),
	} {
		t.Run("who comes back is never refused, but told to come later: "+name, func(t *testing.T) {
			for _, random := range []float64{0, 0.99} {
				c.Random = func() float64 { return random }
				a := open(t, c, resuming("0.4.0"))
				text := a.rest()
				var wait int
				if m := later.FindStringSubmatch(text); m == nil || a.Status != 200 || a.Headers["Content-Type"] != "text/event-stream" {
					t.Fatalf("got %d %q", a.Status, text)
				} else if _, err := fmt.Sscan(m[1], &wait); err != nil || wait < 1000 || wait > 20_000 {
					t.Errorf("it is told to wait %d ms", wait)
				}
			}
		})
	}
	t.Run("who comes back for what is not theirs is refused", func(t *testing.T) {
		a := open(t, newAPI(t, func(s *session) {
			s.send(`{"type":"error","request_id":"stream","status":404,"detail":"no"}`)
			s.untilClosed()
		}), resuming("0.4.0"))
		if a.Status != 404 {
			t.Errorf("got %d", a.Status)
		}
	})
	if !errors.Is(full, fault.Of(fault.Busy)) {
		t.Error("the fault is no 429")
	}
}
