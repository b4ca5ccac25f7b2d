package quota_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/quota"
)

const at = 1_000_000 // now, in epoch milliseconds

func TestLimits_PickStream(t *testing.T) {
	t.Parallel()
	running := func(slot int64, subject string) quota.Place {
		return quota.Place{Slot: slot, Subject: subject, Taken: at - slot, Until: at + 1}
	}
	ended := func(slot int64, subject string) quota.Place {
		return quota.Place{Slot: slot, Subject: subject, Until: at + 1, Ended: true}
	}
	free := quota.Place{Slot: 1, Subject: "s", Until: at}
	handedOver := running(0, "s")
	handedOver.Former = at + 1
	for name, c := range map[string]struct {
		places  []quota.Place
		resumed bool
		from    int64
		want    quota.Pick
		none    bool
	}{
		"the first place":                           {want: quota.Pick{}},
		"a place from which to look on":             {from: 1, want: quota.Pick{Slot: 1}},
		"the next free one":                         {places: []quota.Place{running(1, "s")}, from: 1, want: quota.Pick{Slot: 0}},
		"one that was released":                     {places: []quota.Place{running(0, "s"), free}, want: quota.Pick{Slot: 1}},
		"a free one before one that ended":          {places: []quota.Place{ended(0, "s")}, want: quota.Pick{Slot: 1}},
		"one that ended where none is free":         {places: []quota.Place{ended(0, "s"), running(1, "s")}, want: quota.Pick{Slot: 0}},
		"not another subject's":                     {places: []quota.Place{ended(0, "other"), running(1, "s")}, none: true},
		"not a running one":                         {places: []quota.Place{running(0, "s"), running(1, "s")}, none: true},
		"resumed: one that ended before a free one": {places: []quota.Place{ended(0, "s")}, from: 1, resumed: true, want: quota.Pick{Slot: 0}},
		"resumed: a free one before a running one":  {places: []quota.Place{running(0, "s")}, resumed: true, want: quota.Pick{Slot: 1}},
		"resumed: the oldest running one":           {places: []quota.Place{running(0, "s"), running(1, "s")}, resumed: true, want: quota.Pick{Slot: 1, Over: true}},
		"resumed: not one that was just taken over": {places: []quota.Place{handedOver, running(1, "other")}, resumed: true, none: true},
		"none where the limit was lowered":          {places: []quota.Place{running(5, "s"), running(6, "s")}, none: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := quota.Stream{Subject: "s", Resumed: c.resumed}
			got, ok := quota.Limits{Streams: 2}.PickStream(c.places, s, time.UnixMilli(at), c.from)
			if got != c.want || ok == c.none {
				t.Errorf("picked %+v, %t", got, ok)
			}
		})
	}
}

// A new stream gets a place exactly if fewer are taken than the limit, or one of its
// subject has ended; never one that is active.
func TestLimits_PickStream_within_limit(t *testing.T) {
	t.Parallel()
	property.Check(t, func(rt *rapid.T) {
		l := quota.Limits{Streams: rapid.Int64Range(1, 4).Draw(rt, "limit")}
		var places []quota.Place
		taken, ended := map[int64]bool{}, false
		for slot := range int64(6) {
			if rapid.Bool().Draw(rt, "is there") {
				p := quota.Place{
					Slot: slot, Subject: rapid.SampledFrom([]string{"s", "other"}).Draw(rt, "subject"),
					Until: at + rapid.Int64Range(-1, 1).Draw(rt, "until"), Ended: rapid.Bool().Draw(rt, "ended"),
				}
				places = append(places, p)
				if p.Until > at {
					taken[slot] = !p.Ended || p.Subject != "s"
					ended = ended || !taken[slot]
				}
			}
		}
		used := int64(len(taken))
		s := quota.Stream{Subject: "s"}
		got, ok := l.PickStream(places, s, time.UnixMilli(at), rapid.Int64Range(0, l.Streams-1).Draw(rt, "from"))
		if want := used < l.Streams || ended; ok != want {
			rt.Fatalf("%d of %d taken, one ended %t: picked %t", used, l.Streams, ended, ok)
		}
		if ok && (taken[got.Slot] || got.Over) {
			rt.Fatalf("picked %+v, which is at work", got)
		}
	})
}

func TestLimits_StreamsExceeded(t *testing.T) {
	t.Parallel()
	places := []quota.Place{{Until: at + 9_000}, {Until: at + 7_000}, {Until: at}}
	err := quota.Limits{Streams: 2}.StreamsExceeded(places, time.UnixMilli(at))
	var f *fault.Error
	if !exceeds(err, quota.OpenStreams, 2, 2) || !errors.As(err, &f) || f.RetryAfter != 7*time.Second {
		t.Errorf("until the first is free: %v", err)
	}
	long := slices.Repeat([]quota.Place{{Until: at + 3_600_000}}, 2)
	if err := (quota.Limits{Streams: 2}).StreamsExceeded(long, time.UnixMilli(at)); !errors.As(err, &f) || f.RetryAfter != time.Minute {
		t.Errorf("a minute at most: %v", err)
	}
}
