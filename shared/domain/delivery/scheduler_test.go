package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
)

var errDown = errors.New("down")

// fixture is the environment of a scheduler: a clock, lanes, wakes under way, the
// queue and receivers. Its requests fail when a test says so, before or after they
// took effect.
type fixture struct {
	now    time.Time
	lanes  map[string]delivery.Lane
	parked map[string]map[string]delivery.Parked
	wakes  []pending
	fail   func() (before, after bool)
	// unparks is how long it takes to remove deliveries from a lane.
	unparks time.Duration

	answers   func(target string) (status int, took time.Duration)
	received  map[string][]string // events by target
	posts     []string
	gone      []string // discarded
	scheduler *delivery.Scheduler
	ids       int
	// requests counts the requests to lanes.
	requests int
}

type pending struct {
	wake delivery.Wake
	at   time.Time
}

func newHall() *fixture {
	h := &fixture{
		now: time.Unix(1_000_000, 0), lanes: map[string]delivery.Lane{}, parked: map[string]map[string]delivery.Parked{},
		received: map[string][]string{}, fail: func() (bool, bool) { return false, false },
		answers: func(string) (int, time.Duration) { return 204, 0 },
	}
	log := slog.New(slog.DiscardHandler)
	h.scheduler = &delivery.Scheduler{
		Worker: &delivery.Worker{
			Builders: map[delivery.Kind]delivery.MessageBuilder{kind: h}, Poster: h, Retries: delivery.DefaultRetryPolicy(),
			Now: func() time.Time { return h.now }, Jitter: func() float64 { return 1 }, Log: log,
		},
		Lanes: h, Waker: h, Discard: h, DirectTimeout: 3 * time.Second, MaxDirectAge: 10 * time.Second, LaneTimeout: 10 * time.Second,
		PassTime: 20 * time.Second, Lease: time.Minute, Log: log,
		NewID: func() string { h.ids++; return fmt.Sprint("id", h.ids) },
	}
	return h
}

// try calls do and may fail before or after it.
func (h *fixture) try(do func() error) error {
	h.requests++
	before, after := h.fail()
	if before {
		return errDown
	}
	if err := do(); err != nil {
		return err
	}
	if after {
		return errDown
	}
	return nil
}

func (h *fixture) Lane(_ context.Context, group string) (l delivery.Lane, err error) {
	err = h.try(func() error { l = h.lanes[group]; l.Group = group; return nil })
	return l, err
}

func (h *fixture) save(l delivery.Lane) error {
	if h.lanes[l.Group].Version != l.Version {
		return delivery.ErrLaneChanged
	}
	l.Version++
	h.lanes[l.Group] = l
	return nil
}

func (h *fixture) SaveLane(_ context.Context, l delivery.Lane) error {
	return h.try(func() error { return h.save(l) })
}

func (h *fixture) CloseLane(_ context.Context, l delivery.Lane) error {
	return h.try(func() error {
		if h.lanes[l.Group].Version != l.Version {
			return delivery.ErrLaneChanged
		}
		delete(h.lanes, l.Group)
		return nil
	})
}

func (h *fixture) Park(_ context.Context, l delivery.Lane, all []delivery.Parked) error {
	return h.try(func() error {
		if err := h.save(l); err != nil {
			return err
		}
		if h.parked[l.Group] == nil {
			h.parked[l.Group] = map[string]delivery.Parked{}
		}
		for _, p := range all {
			h.parked[l.Group][p.Position] = p
		}
		return nil
	})
}

func (h *fixture) Parked(_ context.Context, group string, n int) (out []delivery.Parked, err error) {
	err = h.try(func() error {
		for _, place := range slices.Sorted(maps.Keys(h.parked[group])) {
			if len(out) < n {
				out = append(out, h.parked[group][place])
			}
		}
		return nil
	})
	return out, err
}

func (h *fixture) Unpark(_ context.Context, group string, places ...string) error {
	return h.try(func() error {
		h.now = h.now.Add(h.unparks)
		for _, place := range places {
			delete(h.parked[group], place)
		}
		return nil
	})
}

func (h *fixture) Wake(_ context.Context, w delivery.Wake, after time.Duration) error {
	return h.try(func() error { h.wakes = append(h.wakes, pending{w, h.now.Add(after)}); return nil })
}

func (h *fixture) Discard(_ context.Context, d delivery.Delivery, _ string, _ int) error {
	h.gone = append(h.gone, d.Event.ID)
	return nil
}

func (h *fixture) Messages(_ context.Context, d delivery.Delivery) ([]delivery.Message, error) {
	return []delivery.Message{{URL: d.Target.Name, Body: []byte(d.Event.ID)}}, nil
}

func (h *fixture) Drop(context.Context, delivery.Target, string) error { return nil }

// Post implements delivery.Poster. The clock advances by the time that the answer
// takes, or by the caller's timeout.
func (h *fixture) Post(ctx context.Context, m delivery.Message) (delivery.Answer, error) {
	status, took := h.answers(m.URL)
	h.posts = append(h.posts, m.URL+" "+string(m.Body))
	deadline, _ := ctx.Deadline()
	limit := time.Until(deadline).Round(time.Second)
	h.now = h.now.Add(min(took, limit))
	if took >= limit {
		return delivery.Answer{}, slow{errors.New("late")}
	}
	if status < 300 {
		h.received[m.URL] = append(h.received[m.URL], string(m.Body))
	}
	return delivery.Answer{Status: status}, nil
}

// message is a message in the queue.
type message struct{ arrival delivery.Arrival }

func (h *fixture) message(target string, n int) *message {
	return &message{arrival: delivery.Arrival{
		Delivery: delivery.Delivery{
			Event: notification.Event{ID: fmt.Sprintf("%04d", n)}, Target: delivery.Target{Kind: kind, Name: target},
		},
		Try: delivery.Try{Number: 1, Queued: h.now}, Position: fmt.Sprintf("%039d", n),
	}}
}

// receive passes the first n messages of a queue to the scheduler; those that fail
// stay in the queue.
func (h *fixture) receive(t *rapid.T, queue []*message, n int) []*message {
	n = min(n, len(queue))
	var batch []delivery.Arrival
	for _, m := range queue[:n] {
		batch = append(batch, m.arrival)
	}
	taken, err := h.scheduler.Receive(context.Background(), batch)
	if err == nil && taken != n || err != nil && !errors.Is(err, errDown) {
		t.Fatalf("%d of %d received: %v", taken, n, err)
	}
	for _, m := range queue[taken:n] {
		m.arrival.Try.Number++
	}
	return queue[taken:]
}

// mustReceive passes one message to the scheduler.
func (h *fixture) mustReceive(t *testing.T, m *message) {
	t.Helper()
	if _, err := h.scheduler.Receive(t.Context(), []delivery.Arrival{m.arrival}); err != nil {
		t.Fatal(err)
	}
}

// next handles the wake that is due first, which returns later if that fails.
func (h *fixture) next(t *rapid.T) {
	i := 0
	for j, w := range h.wakes {
		if w.at.Before(h.wakes[i].at) {
			i = j
		}
	}
	w := h.wakes[i]
	h.wakes = slices.Delete(h.wakes, i, i+1)
	if h.now.Before(w.at) {
		h.now = w.at
	}
	if err := h.scheduler.RunPass(context.Background(), w.wake); err != nil {
		if !errors.Is(err, errDown) {
			t.Fatalf("turn: %v", err)
		}
		h.wakes = append(h.wakes, pending{w.wake, h.now.Add(90 * time.Second)})
	}
}

// Whatever fails, and wherever a worker dies, each target receives everything,
// ordered by the first time that it received it, and no lane is left.
func TestScheduler_delivers_in_order(t *testing.T) {
	t.Parallel()
	const least = 50
	lanes, cases, received, failed := 0, 0, 0, 0
	property.Check(t, func(rt *rapid.T) {
		cases++
		h := newHall()
		targets := []string{"a", "b", "c"}
		down := map[string]int{} // remaining failures by target
		slowly := map[string]bool{}
		for _, name := range targets {
			down[name] = rapid.IntRange(0, 6).Draw(rt, "failures of "+name)
			slowly[name] = rapid.Bool().Draw(rt, name+" is slow")
		}
		h.answers = func(name string) (int, time.Duration) {
			if down[name]--; down[name] >= 0 {
				return 500, 0
			}
			if slowly[name] {
				return 204, 5 * time.Second
			}
			return 204, 0
		}
		faults := rapid.IntRange(0, 12).Draw(rt, "faults")
		h.fail = func() (bool, bool) {
			if faults == 0 || rapid.IntRange(0, 3).Draw(rt, "fault") > 0 {
				return false, false
			}
			faults--
			failed++
			before := rapid.Bool().Draw(rt, "before")
			return before, !before
		}
		queues, want := map[string][]*message{}, map[string][]string{}
		for step, n := 0, rapid.IntRange(1, 25).Draw(rt, "events"); n > 0 || len(h.wakes) > 0 || full(queues) != ""; step++ {
			if step > 5000 {
				rt.Fatalf("it comes to no end: %d wakes, %v", len(h.wakes), h.lanes)
			}
			switch action := rapid.IntRange(0, 2).Draw(rt, "action"); {
			case action == 0 && n > 0:
				to := rapid.SampledFrom(targets).Draw(rt, "to")
				queues[to] = append(queues[to], h.message(to, n*-1+1000))
				want[to] = append(want[to], fmt.Sprintf("%04d", n*-1+1000))
				n--
			case action == 1 && full(queues) != "":
				to := full(queues)
				queues[to] = h.receive(rt, queues[to], rapid.IntRange(1, 4).Draw(rt, "batch"))
			case len(h.wakes) > 0:
				h.next(rt)
			}
			lanes = max(lanes, len(h.lanes))
		}
		for _, name := range targets {
			received += len(h.received[name])
			var first []string
			for _, id := range h.received[name] {
				if !slices.Contains(first, id) {
					first = append(first, id)
				}
			}
			if !slices.Equal(first, want[name]) {
				rt.Fatalf("%s received %v, want %v", name, h.received[name], want[name])
			}
			if left := h.parked[delivery.Target{Kind: kind, Name: name}.Group()]; len(left) > 0 {
				rt.Fatalf("%d wait still for %s", len(left), name)
			}
		}
	})
	t.Logf("%d cases: %d deliveries received, %d requests failed, up to %d lanes at once", cases, received, failed, lanes)
	if cases < least || received < least || failed < least || lanes == 0 {
		t.Errorf("%d cases, %d deliveries, %d faults and %d lanes are too few", cases, received, failed, lanes)
	}
}

func full(queues map[string][]*message) string {
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		if len(queues[name]) > 0 {
			return name
		}
	}
	return ""
}

// A dead target gets one POST at a time, however much waits for it, and what waits
// is abandoned after a day.
func TestScheduler_dead_target(t *testing.T) {
	t.Parallel()
	const n = 3000
	h := newHall()
	h.answers = func(string) (int, time.Duration) { return 0, time.Hour }
	began := h.now
	for i := range n {
		h.mustReceive(t, h.message("dead", i))
	}
	if len(h.posts) != 1 || len(h.wakes) != 1 || h.now.Sub(began) != h.scheduler.DirectTimeout {
		t.Fatalf("%d posts, %d wakes, in %s", len(h.posts), len(h.wakes), h.now.Sub(began))
	}
	turns := 0
	for ; len(h.wakes) == 1 && turns < 1000; turns++ {
		w := h.wakes[0]
		h.wakes, h.now = nil, w.at
		if err := h.scheduler.RunPass(t.Context(), w.wake); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.gone) != n || len(h.wakes) > 0 {
		t.Errorf("%d of %d were abandoned, %d wakes are left", len(h.gone), n, len(h.wakes))
	}
	if spent := h.now.Sub(began); spent < 22*time.Hour || spent > 27*time.Hour || len(h.posts) > 60 {
		t.Errorf("%d posts within %s", len(h.posts), spent)
	}
	t.Logf("%d deliveries to a dead target: %d posts in %d turns within %s", n, len(h.posts), turns, h.now.Sub(began))
}

// A slow target times out once, and then has the promised time without delaying
// other targets.
func TestScheduler_slow_target(t *testing.T) {
	t.Parallel()
	h := newHall()
	h.answers = func(string) (int, time.Duration) { return 200, 8 * time.Second }
	for i := range 5 {
		h.mustReceive(t, h.message("slow", i))
		for len(h.wakes) > 0 {
			w := h.wakes[0]
			h.wakes = h.wakes[1:]
			if h.now.Before(w.at) {
				h.now = w.at
			}
			if err := h.scheduler.RunPass(t.Context(), w.wake); err != nil {
				t.Fatal(err)
			}
		}
		h.now = h.now.Add(10 * time.Minute)
	}
	if len(h.posts) != 6 || len(h.received["slow"]) != 5 {
		t.Errorf("posts %v, received %v", h.posts, h.received)
	}
	h.answers = func(string) (int, time.Duration) { return 200, 0 }
	h.now = h.now.Add(2 * time.Hour)
	h.mustReceive(t, h.message("slow", 9))
	w := h.wakes[0]
	h.wakes = nil
	if err := h.scheduler.RunPass(t.Context(), w.wake); err != nil || len(h.lanes) > 0 {
		t.Errorf("it is prompt again, and has a lane still: %v, %v", h.lanes, err)
	}
}
