package deliveries_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// waiting is more than one page of a pass, and more than one batch of deletions.
const waiting = 30

var errCut = errors.New("the connection was cut")

// turns handles passes over lanes of a deleted target.
type turns struct {
	wakes []delivery.Wake
	desk  *delivery.Scheduler
	// look is called when the target is looked up; it may be nil.
	look func(context.Context) error
	// hear, unless it is nil, gets the deliveries: the target exists.
	hear func(delivery.Delivery)
}

func newTurns(s *stores.Store, target delivery.Target) *turns {
	w := &turns{}
	log := slog.New(slog.DiscardHandler)
	w.desk = &delivery.Scheduler{
		Worker: &delivery.Worker{
			Builders: map[delivery.Kind]delivery.MessageBuilder{target.Kind: w}, Retries: delivery.DefaultRetryPolicy(), Now: time.Now,
			Jitter: func() float64 { return 0 }, Log: log,
		},
		Lanes: s.Lanes, Waker: w, DirectTimeout: time.Second, MaxDirectAge: time.Minute, LaneTimeout: time.Second, PassTime: time.Minute,
		Lease: time.Minute, NewID: func() string { return "turn" }, Log: log,
	}
	return w
}

func (w *turns) Messages(ctx context.Context, d delivery.Delivery) ([]delivery.Message, error) {
	if w.hear != nil {
		w.hear(d)
		return nil, nil
	}
	if w.look != nil {
		if err := w.look(ctx); !errors.Is(err, fault.Of(fault.NotFound)) {
			return nil, err
		}
	}
	return nil, delivery.ErrGone
}

func (w *turns) Drop(context.Context, delivery.Target, string) error { return nil }

func (w *turns) Wake(_ context.Context, wake delivery.Wake, _ time.Duration) error {
	w.wakes = append(w.wakes, wake)
	return nil
}

func parkedAt(target delivery.Target, from, to int) []delivery.Parked {
	var all []delivery.Parked
	for i := from; i < to; i++ {
		all = append(all, delivery.Parked{
			Position: fmt.Sprintf("%04d", i), Queued: time.Now(),
			Delivery: delivery.Delivery{Event: notification.Event{ID: fmt.Sprint("e", i)}, Target: target},
		})
	}
	return all
}

// mustFill parks deliveries for a target that is slow, or none.
func mustFill(t *testing.T, s *stores.Store, target delivery.Target, n int) {
	t.Helper()
	lane := delivery.Lane{Group: target.Group(), Pass: 1, Slow: time.Now().Add(time.Hour)}
	if n == 0 {
		if err := s.Lanes.SaveLane(t.Context(), lane); err != nil {
			t.Fatal(err)
		}
		return
	}
	lane.Due = time.Now()
	for i := 0; i < n; i += delivery.MaxParked {
		if err := s.Lanes.Park(t.Context(), lane, parkedAt(target, i, i+delivery.MaxParked)); err != nil {
			t.Fatal(err)
		}
		lane.Version++
	}
}

// leftOf counts the items of the lanes of targets that share a partition.
func leftOf(t *testing.T, engine table.Engine, targets []delivery.Target) int {
	t.Helper()
	family, _ := delivery.SplitGroup(targets[0].Group())
	return leftOfLane(t, engine, family)
}

// leftOfLane counts the items of a lane, of any kind.
func leftOfLane(t *testing.T, engine table.Engine, group string) int {
	t.Helper()
	return len(storetest.Partition(t, engine, "DL#"+group, ""))
}

// owner creates something with delivery targets of its own.
type owner struct {
	make  func(t *testing.T, s *stores.Store, id string) []delivery.Target
	erase func(ctx context.Context, s *stores.Store, id string) error
	// there reports whether it is partially erased and must be erased again.
	there func(t *testing.T, s *stores.Store, id string) bool
	// neverIdle is set if no empty lane is kept.
	neverIdle bool
}

func owners(t *testing.T, s *stores.Store) map[string]owner {
	t.Helper()
	task := receiver.PushTask{UserID: fixture.Alice, SessionID: uuid.NewString(), ID: uuid.NewString()}
	fixture.Session(t, s, fixture.Alice, task.SessionID, nil)
	log := fixture.EventOf(t, s, task).Log
	return map[string]owner{
		"webhook": {
			make: func(t *testing.T, s *stores.Store, id string) []delivery.Target {
				t.Helper()
				w := fixture.Webhook(fixture.Alice, id, 1)
				fixture.CreateWebhook(t, s, w)
				return []delivery.Target{w.Target()}
			},
			erase: func(ctx context.Context, s *stores.Store, id string) error {
				return s.Webhooks.DeleteWebhook(ctx, fixture.Alice, id)
			},
			there: func(t *testing.T, s *stores.Store, id string) bool {
				t.Helper()
				_, err := s.Webhooks.Webhook(t.Context(), fixture.Alice, id)
				return err == nil
			},
		},
		"push configuration": {
			make: func(t *testing.T, s *stores.Store, id string) []delivery.Target {
				t.Helper()
				fixture.PutConfigs(t, s, task, fixture.PushConfig(id))
				return []delivery.Target{receiver.PushTarget(log, task.ID, id)}
			},
			erase: func(ctx context.Context, s *stores.Store, id string) error {
				return s.Pushes.DeleteConfig(ctx, task, id)
			},
			there: func(t *testing.T, s *stores.Store, id string) bool {
				t.Helper()
				all, err := s.Pushes.Configs(t.Context(), task)
				return err == nil && slices.ContainsFunc(all, func(c receiver.PushConfig) bool { return c.ID == id })
			},
		},
		"automation": {
			make: func(t *testing.T, s *stores.Store, id string) []delivery.Target {
				t.Helper()
				a := automation.Automation{ID: id, UserID: fixture.Alice, Status: automation.Active, Version: 1}
				if _, err := s.Automations.CreateAutomation(t.Context(), a); err != nil {
					t.Fatal(err)
				}
				return []delivery.Target{automation.Target(fixture.Alice, id, "s1"), automation.Target(fixture.Alice, id, "s2")}
			},
			erase: func(ctx context.Context, s *stores.Store, id string) error {
				return s.Automations.DeleteAutomation(ctx, fixture.Alice, id)
			},
			there: func(t *testing.T, s *stores.Store, id string) bool {
				t.Helper()
				_, err := s.Automations.Automation(t.Context(), fixture.Alice, id)
				return err == nil
			},
			neverIdle: true,
		},
	}
}

// Deleting anything that has lanes leaves no parked delivery, even if others park
// concurrently; if the deletion is interrupted anywhere, a pass completes it. Other
// lanes stay.
func TestLanes_of_deleted_targets(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	whole := stores.New(engine)
	const least = 80
	cases := 0
	for name, o := range owners(t, whole) {
		neighbours := o.make(t, whole, "neighbour")
		for _, target := range neighbours {
			mustFill(t, whole, target, 10)
		}
		for _, n := range []int{0, waiting} {
			for _, cut := range []bool{false, true} {
				if n == 0 && cut && o.neverIdle {
					continue
				}
				for at, ended := 1, false; !ended; at++ {
					cases++
					id := fmt.Sprintf("w%d.%v.%d", n, cut, at)
					targets := o.make(t, whole, id)
					for _, target := range targets {
						mustFill(t, whole, target, n)
					}
					desk := newTurns(whole, targets[0])
					var requests atomic.Int64
					s := stores.New(storetest.Before(engine, func(ctx context.Context, _ hooks.Call) error {
						ctx = context.WithoutCancel(ctx) // a delivery is not part of the deletion, which may stop other requests
						switch n := int(requests.Add(1)); {
						case n < at:
						case cut:
							return errCut
						case n == at: // another delivery arrives, from before the deletion
							desk.mustTakeLate(ctx, t, targets[0])
						}
						return nil
					}))
					err := o.erase(t.Context(), s, id)
					ended = int(requests.Load()) < at
					if !cut && err != nil || cut && !ended && err == nil {
						t.Fatalf("%s: deletion, request %d: %v", name, at, err)
					}
					if o.there(t, whole, id) { // again
						if err := o.erase(t.Context(), whole, id); err != nil {
							t.Fatal(err)
						}
					} else if left := leftOf(t, engine, targets); !cut && left > 2 { // a late one and its lane
						t.Errorf("%s: %d items are left immediately", name, left)
					}
					for _, target := range targets {
						if n > 0 {
							desk.wakes = append(desk.wakes, delivery.Wake{Kind: target.Kind, Group: target.Group(), Pass: 1})
						}
					}
					desk.mustTurn(t)
					if left := leftOf(t, engine, targets); left > 0 {
						t.Errorf("%s: %d waiting, cut %v, at request %d: %d items are left", name, n, cut, at, left)
					}
				}
			}
		}
		if left := leftOf(t, engine, neighbours); left != 11*len(neighbours) {
			t.Errorf("of another %s %d items are left", name, left)
		}
	}
	t.Logf("%d deletions", cases)
	if cases < least {
		t.Errorf("%d deletions are too few", cases)
	}
}

func (w *turns) mustTakeLate(ctx context.Context, t *testing.T, target delivery.Target) {
	t.Helper()
	late := delivery.Arrival{
		Delivery: parkedAt(target, 50, 51)[0].Delivery, Position: "0050", Try: delivery.Try{Number: 1, Queued: time.Now()},
	}
	if taken, err := w.desk.Receive(ctx, []delivery.Arrival{late}); err != nil || taken != 1 {
		t.Errorf("%d, %v", taken, err)
	}
}

// mustTurn handles all wakes.
func (w *turns) mustTurn(t *testing.T) {
	t.Helper()
	for i := 0; i < len(w.wakes); i++ {
		if err := w.desk.RunPass(t.Context(), w.wakes[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// A pass for a deleted target removes all parked deliveries by few requests, and
// nothing of other targets.
func TestLanes_of_gone_targets_cost_little(t *testing.T) {
	t.Parallel()
	const parked, mostRequests, mostUnits = 2000, 150, 2300 // removing one takes a unit
	engine := storetest.Engine(t)
	whole := stores.New(engine)
	target, other := fixture.Webhook(fixture.Alice, "gone", 1).Target(), fixture.Webhook(fixture.Alice, "other", 1).Target()
	mustFill(t, whole, target, parked)
	mustFill(t, whole, other, 20)
	meter := &capacity.Meter{}
	s := stores.New(meter.Around(engine))
	desk := newTurns(s, target)
	desk.look = func(ctx context.Context) error {
		_, err := s.Webhooks.Webhook(ctx, fixture.Alice, "gone")
		return err
	}
	desk.wakes = []delivery.Wake{{Kind: target.Kind, Group: target.Group(), Pass: 1}}
	desk.mustTurn(t)
	if left := leftOfLane(t, engine, target.Group()); left > 0 {
		t.Errorf("%d items are left", left)
	}
	if left := leftOfLane(t, engine, other.Group()); left != 21 {
		t.Errorf("%d items are left of another target's lane, want 21", left)
	}
	used := meter.Total()
	units := used.Reads + used.Writes
	t.Logf("%d deliveries for a deleted webhook: %d requests, %.1f units", parked, used.Requests, units)
	if used.Requests > mostRequests || units < parked || units > mostUnits {
		t.Errorf("%d requests, %.1f units, want %d and %d at most", used.Requests, units, mostRequests, mostUnits)
	}
}

// Deliveries parked for an A2A client are deleted with the session.
func TestLanes_of_deleted_sessions(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	task := receiver.PushTask{UserID: fixture.Alice, SessionID: uuid.NewString(), ID: uuid.NewString()}
	fixture.Session(t, s, fixture.Alice, task.SessionID, nil)
	fixture.PutConfigs(t, s, task, fixture.PushConfig("a"), fixture.PushConfig("b"))
	targets, err := s.Targets(t.Context(), fixture.EventOf(t, s, task))
	if err != nil || len(targets) != 2 {
		t.Fatalf("%v, %v", targets, err)
	}
	mustFill(t, s, targets[0], waiting)
	mustFill(t, s, targets[1], 0)
	if err := s.Sessions.Delete(t.Context(), fixture.Alice, task.SessionID); err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		if left := leftOfLane(t, engine, target.Group()); left > 0 {
			t.Errorf("%d items are left", left)
		}
	}
}
