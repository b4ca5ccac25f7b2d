package stores_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/store/stores"
)

const streamTime = 90 * time.Second

func streamOf(user, subject string, resumed bool) quota.Stream {
	return quota.Stream{UserID: user, Subject: subject, Resumed: resumed, Lasting: streamTime}
}

func mustTake(t testing.TB, s *stores.Store, subject string, resumed bool) quota.Lease {
	t.Helper()
	l, err := s.Usage.TakeStream(t.Context(), streamOf(alice, subject, resumed))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustNotTake(t testing.TB, s *stores.Store, subject string, resumed bool) fault.Error {
	t.Helper()
	l, err := s.Usage.TakeStream(t.Context(), streamOf(alice, subject, resumed))
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Busy || f.Extra["quota"] != quota.OpenStreams {
		t.Fatalf("got %+v, %v, want that too many streams are open", l, err)
	}
	return *f
}

func mustEndStream(t testing.TB, s *stores.Store, l quota.Lease, expected bool) {
	t.Helper()
	if err := s.Usage.EndStream(t.Context(), l, expected); err != nil {
		t.Fatal(err)
	}
}

func mustHold(t testing.TB, s *stores.Store, l quota.Lease, want bool) {
	t.Helper()
	if held, err := s.Usage.HoldsStream(t.Context(), l); err != nil || held != want {
		t.Errorf("it is held: %v, %v, want %v", held, err, want)
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	t.Run("as many are open as may be, for each user", func(t *testing.T) {
		t.Parallel()
		s, _ := limited(t, quota.Limits{Streams: 2})
		first := mustTake(t, s, "a", false)
		mustTake(t, s, "a", false)
		f := mustNotTake(t, s, "a", false)
		if f.RetryAfter <= 0 || f.RetryAfter > time.Minute || f.Extra["limit"] != int64(2) || f.Extra["used"] != int64(2) {
			t.Errorf("refused with %v %v", f.RetryAfter, f.Extra)
		}
		if _, err := s.Usage.TakeStream(t.Context(), streamOf(bob, "a", false)); err != nil {
			t.Errorf("another user: %v", err)
		}
		u, err := s.Runs.Usage(t.Context(), alice)
		if err != nil || u.Streams.Used != 2 || *u.Streams.Limit != 2 {
			t.Errorf("used is %+v, %v", u.Streams, err)
		}
		mustEndStream(t, s, first, false)
		mustTake(t, s, "b", false)
	})
	t.Run("nothing is counted without a limit", func(t *testing.T) {
		t.Parallel()
		s, _ := limited(t, quota.Limits{})
		for range 30 {
			l := mustTake(t, s, "a", false)
			mustHold(t, s, l, true)
			mustEndStream(t, s, l, true)
		}
		if u, err := s.Runs.Usage(t.Context(), alice); err != nil || u.Streams.Used != 0 || u.Streams.Limit != nil {
			t.Errorf("used is %+v, %v", u.Streams, err)
		}
	})
	t.Run("a stream that died is free a while after its end", func(t *testing.T) {
		t.Parallel()
		s, clock := limited(t, quota.Limits{Streams: 1})
		mustTake(t, s, "a", false)
		clock.forward(streamTime)
		mustNotTake(t, s, "a", false)
		clock.forward(20 * time.Second)
		mustTake(t, s, "a", false)
	})
	t.Run("a reader that reconnects gets the place of its ended stream", func(t *testing.T) {
		t.Parallel()
		s, clock := limited(t, quota.Limits{Streams: 2})
		kept, ended := mustTake(t, s, "a", false), mustTake(t, s, "a", false)
		mustEndStream(t, s, ended, true)
		mustNotTake(t, s, "b", false)
		mustNotTake(t, s, "b", true)
		again := mustTake(t, s, "a", true)
		if !again.Continued || again.Slot != ended.Slot {
			t.Errorf("it continues in %+v, want the place of %+v", again, ended)
		}
		mustEndStream(t, s, ended, false) // which is somebody else's by now
		mustHold(t, s, again, true)
		mustHold(t, s, ended, false)
		mustHold(t, s, kept, true)
		mustNotTake(t, s, "a", false)
		mustEndStream(t, s, again, true)
		clock.forward(quota.StreamGrace + time.Second)
		if l := mustTake(t, s, "b", false); l.Continued {
			t.Error("another subject goes on with what ended")
		}
	})
	t.Run("a new reader gets the place of an ended stream only if none is free", func(t *testing.T) {
		t.Parallel()
		s, _ := limited(t, quota.Limits{Streams: 2})
		ended := mustTake(t, s, "a", false)
		mustEndStream(t, s, ended, true)
		if l := mustTake(t, s, "a", false); l.Continued {
			t.Error("it took the place of who may come back")
		}
		if l := mustTake(t, s, "a", false); !l.Continued {
			t.Error("it took another place")
		}
	})
	t.Run("a reader that lost its stream takes over the oldest one, whose function finds out", func(t *testing.T) {
		t.Parallel()
		s, clock := limited(t, quota.Limits{Streams: 2})
		broken := mustTake(t, s, "a", false)
		clock.forward(time.Second)
		other := mustTake(t, s, "a", false)
		again := mustTake(t, s, "a", true)
		if again.Slot != broken.Slot || again.Continued {
			t.Errorf("it took %+v", again)
		}
		mustHold(t, s, broken, false)
		mustHold(t, s, other, true)
		if err := s.Usage.RenewStream(t.Context(), broken, streamTime); !errors.Is(err, fault.Of(fault.Conflict)) {
			t.Errorf("a lost place is renewed: %v", err)
		}
		mustNotTake(t, s, "b", true)
	})
	t.Run("a false claim to reconnect does not exceed the limit", func(t *testing.T) {
		t.Parallel()
		const most = 3
		s, clock := limited(t, quota.Limits{Streams: most})
		for range most {
			mustTake(t, s, "a", false)
		}
		for round := range 3 {
			for range most { // a stream that was taken over ends within this time
				mustTake(t, s, "a", true)
			}
			for range 10 {
				if f := mustNotTake(t, s, "a", true); f.RetryAfter <= 0 {
					t.Errorf("round %d: %v", round, f.RetryAfter)
				}
			}
			clock.forward(2*quota.StreamCheck + time.Millisecond)
		}
		if u, err := s.Runs.Usage(t.Context(), alice); err != nil || u.Streams.Used != most {
			t.Errorf("used is %+v, %v", u.Streams, err)
		}
	})
	t.Run("a lease may last longer", func(t *testing.T) {
		t.Parallel()
		s, clock := limited(t, quota.Limits{Streams: 1})
		l := mustTake(t, s, "task", false)
		for range 3 {
			clock.forward(streamTime)
			if err := s.Usage.RenewStream(t.Context(), l, streamTime); err != nil {
				t.Fatal(err)
			}
			mustNotTake(t, s, "task", false)
		}
	})
	t.Run("one of several concurrent readers gets the last place", func(t *testing.T) {
		t.Parallel()
		const most = 5
		s, _ := limited(t, quota.Limits{Streams: most})
		for range most - 1 {
			mustTake(t, s, "a", false)
		}
		var won, refused atomic.Int64
		var racing sync.WaitGroup
		for range 12 {
			racing.Go(func() {
				switch _, err := s.Usage.TakeStream(t.Context(), streamOf(alice, "a", false)); {
				case err == nil:
					won.Add(1)
				case errors.Is(err, fault.Of(fault.Busy)):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		racing.Wait()
		if won.Load() != 1 || refused.Load() != 11 {
			t.Errorf("%d won and %d were refused", won.Load(), refused.Load())
		}
	})
	t.Run("a write whose answer was lost takes one place", func(t *testing.T) {
		t.Parallel()
		const most = 20
		s := losing(t, 0.6, stores.WithQuotas(quota.Limits{Streams: most}))
		for range most {
			mustHold(t, s, mustTake(t, s, "a", false), true)
		}
		mustNotTake(t, s, "a", false)
	})
}

// TestStreams_cost: a turn costs two write units at most, and one read unit with
// twenty others.
func TestStreams_cost(t *testing.T) {
	t.Parallel()
	meter := &capacity.Meter{}
	s := stores.New(meter.Around(storetest.Engine(t)), stores.WithQuotas(quota.Limits{Streams: 21}))
	for range 20 {
		mustTake(t, s, "a session with a long name of its own, as some have", false)
	}
	for _, resumed := range []bool{false, true, true} {
		before := meter.Total()
		mustEndStream(t, s, mustTake(t, s, "s", resumed), true)
		if got := meter.Total().Sub(before); got.Writes > 2 || got.Reads > 2 {
			t.Errorf("a turn costs %+v", got)
		}
	}
	free, before := stores.New(meter.Around(storetest.Engine(t))), meter.Total()
	mustEndStream(t, free, mustTake(t, free, "s", false), true)
	if got := meter.Total().Sub(before); got != (capacity.Usage{}) {
		t.Errorf("without a limit a turn costs %+v", got)
	}
}

// TestStreams_schedules opens, loses, ends and resumes streams in any order:
// there are never more than the limit, a reader whose stream just ended can
// always continue, and no stream is refused while a place is free.
func TestStreams_schedules(t *testing.T) {
	t.Parallel()
	const most, least, slack = 3, 1000, 16 * time.Second
	engine := storetest.Engine(t)
	steps, user := 0, 0
	property.Check(t, func(rt *rapid.T) {
		if steps >= least {
			return
		}
		user++
		clock := &calendar{}
		s := stores.New(engine, stores.WithClock(clock.now), stores.WithQuotas(quota.Limits{Streams: most}))
		name := fmt.Sprint("user", user)
		type open struct {
			quota.Lease
			subject string
			until   time.Time
		}
		held := map[int64]open{}
		live := func(more time.Duration) (n int) {
			for _, o := range held {
				if clock.now().Before(o.until.Add(more)) {
					n++
				}
			}
			return n
		}
		take := func(rt *rapid.T, resumed bool) {
			subject := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "subject")
			taken := live(slack)
			l, err := s.Usage.TakeStream(t.Context(), streamOf(name, subject, resumed))
			switch {
			case err == nil:
				held[l.Slot] = open{l, subject, clock.now().Add(streamTime)}
			case !errors.Is(err, fault.Of(fault.Busy)):
				rt.Fatal(err)
			case taken < most:
				rt.Fatalf("refused with %d streams open", taken)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) {
				steps++
				if n := live(0); n > most {
					rt.Fatalf("%d streams are open", n)
				}
			},
			"open":   func(rt *rapid.T) { take(rt, false) },
			"resume": func(rt *rapid.T) { take(rt, true) },
			"end, and come back": func(rt *rapid.T) {
				for slot, o := range held {
					if !clock.now().Before(o.until) {
						continue
					}
					if err := s.Usage.EndStream(t.Context(), o.Lease, true); err != nil {
						rt.Fatal(err)
					}
					delete(held, slot)
					l, err := s.Usage.TakeStream(t.Context(), streamOf(name, o.subject, true))
					if err != nil {
						rt.Fatalf("who comes back is refused: %v", err)
					}
					held[l.Slot] = open{l, o.subject, clock.now().Add(streamTime)}
					return
				}
			},
			"end": func(rt *rapid.T) {
				for slot, o := range held {
					if err := s.Usage.EndStream(t.Context(), o.Lease, false); err != nil {
						rt.Fatal(err)
					}
					delete(held, slot)
					return
				}
			},
			"wait": func(rt *rapid.T) {
				clock.forward(time.Duration(rapid.IntRange(1, 60).Draw(rt, "seconds")) * time.Second)
			},
		})
	})
	t.Logf("%d steps of %d users", steps, user)
	if steps < least {
		t.Errorf("only %d steps", steps)
	}
}
