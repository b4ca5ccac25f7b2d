package dynamostore_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/dynamotest"
	"github.com/rethread/rethread/shared/delivery"
	"github.com/rethread/rethread/shared/dynamostore"
	"github.com/rethread/rethread/shared/push"
	"github.com/rethread/rethread/shared/webhook"
)

// waiting is more than one page of a turn, and more than one batch of deletions.
const waiting = 30

// turns are those of a target that is gone.
type turns struct {
	wakes []delivery.Wake
	desk  *delivery.Desk
}

func newTurns(s *dynamostore.Store, target delivery.Target) *turns {
	w := &turns{}
	log := slog.New(slog.DiscardHandler)
	w.desk = &delivery.Desk{
		Courier: &delivery.Courier{
			Makers: map[delivery.Kind]delivery.Maker{target.Kind: w}, Pace: delivery.DefaultPace(), Now: time.Now,
			Jitter: func() float64 { return 0 }, Log: log,
		},
		Lanes: s, Waker: w, Prompt: time.Second, Behind: time.Minute, Patience: time.Second, Slice: time.Minute,
		Lease: time.Minute, NewID: func() string { return "turn" }, Log: log,
	}
	return w
}

func (w *turns) Messages(context.Context, delivery.Delivery) ([]delivery.Message, error) {
	return nil, delivery.ErrNothing
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
			Place: fmt.Sprintf("%04d", i), Queued: time.Now(),
			Delivery: delivery.Delivery{Event: delivery.Event{ID: fmt.Sprint("e", i)}, Target: target},
		})
	}
	return all
}

// mustFill has deliveries wait for a target that is slow, or for none.
func mustFill(t *testing.T, s *dynamostore.Store, target delivery.Target, n int) {
	t.Helper()
	lane := delivery.Lane{Group: target.Group(), Turn: 1, Slow: time.Now().Add(time.Hour)}
	if n == 0 {
		if err := s.SaveLane(t.Context(), lane); err != nil {
			t.Fatal(err)
		}
		return
	}
	lane.Due = time.Now()
	for i := 0; i < n; i += delivery.MaxParked {
		if err := s.Park(t.Context(), lane, parkedAt(target, i, i+delivery.MaxParked)); err != nil {
			t.Fatal(err)
		}
		lane.Version++
	}
}

// leftOfLane counts the items of a lane, of any kind.
func leftOfLane(t *testing.T, client *dynamodb.Client, table, group string) int {
	t.Helper()
	keys := "PK = :l"
	out, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: &table, KeyConditionExpression: &keys, ExpressionAttributeValues: map[string]types.AttributeValue{":l": text("DL#" + group)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Items)
}

// A webhook that is deleted leaves nothing that waits for it, whoever parks meanwhile
// and wherever its deletion is cut short: a turn finishes it.
func TestLanes_of_deleted_webhooks(t *testing.T) {
	t.Parallel()
	client, table := dynamotest.Client(t), dynamotest.Table(t)
	whole := dynamostore.New(client, table)
	const least = 20
	cases := 0
	for _, n := range []int{0, waiting} {
		for _, cut := range []bool{false, true} {
			for at, ended := 1, false; !ended; at++ {
				cases++
				w := hook(alice, fmt.Sprintf("w%d.%v.%d", n, cut, at), 1)
				mustCreateWebhook(t, whole, w)
				target := w.Target()
				mustFill(t, whole, target, n)
				desk := newTurns(whole, target)
				requests := 0
				s := faultyStoreOn(t, table, beforeRequests(func(ctx context.Context, _ any) error {
					if requests++; requests < at {
						return nil
					}
					if cut {
						return errCut
					}
					if requests == at { // another delivery comes, from before the webhook went
						late := delivery.Arrival{
							Delivery: parkedAt(target, 50, 51)[0].Delivery, Place: "0050", Try: delivery.Try{Number: 1, Queued: time.Now()},
						}
						if taken, err := desk.desk.Receive(ctx, []delivery.Arrival{late}); err != nil || taken != 1 {
							t.Errorf("%d, %v", taken, err)
						}
					}
					return nil
				}))
				err := s.DeleteWebhook(t.Context(), alice, w.ID)
				ended = requests < at
				if !cut && err != nil || cut && !ended && err == nil {
					t.Fatalf("deletion, request %d: %v", at, err)
				}
				if _, err := whole.Webhook(t.Context(), alice, w.ID); err == nil { // it is there still: again
					if err := whole.DeleteWebhook(t.Context(), alice, w.ID); err != nil {
						t.Fatal(err)
					}
				}
				if n > 0 {
					desk.wakes = append(desk.wakes, delivery.Wake{Kind: webhook.Kind, Group: target.Group(), Turn: 1})
				}
				for i := 0; i < len(desk.wakes); i++ {
					if err := desk.desk.Turn(t.Context(), desk.wakes[i]); err != nil {
						t.Fatal(err)
					}
				}
				if left := leftOfLane(t, client, table, target.Group()); left > 0 {
					t.Errorf("%d waiting, cut %v, at request %d: %d items are left", n, cut, at, left)
				}
			}
		}
	}
	t.Logf("%d deletions", cases)
	if cases < least {
		t.Errorf("%d deletions are too few", cases)
	}
}

// What waits for a client over A2A goes with its session.
func TestLanes_of_deleted_sessions(t *testing.T) {
	t.Parallel()
	client, table := dynamotest.Client(t), dynamotest.Table(t)
	s := dynamostore.New(client, table)
	task := push.Task{UserID: alice, SessionID: mustID(t), ID: mustID(t)}
	mustCreate(t, s, alice, task.SessionID, nil)
	mustPutConfigs(t, s, task, config("a"), config("b"))
	targets, err := s.Targets(t.Context(), mustEventOf(t, s, task))
	if err != nil || len(targets) != 2 {
		t.Fatalf("%v, %v", targets, err)
	}
	mustFill(t, s, targets[0], waiting)
	mustFill(t, s, targets[1], 0)
	if err := s.Delete(t.Context(), alice, task.SessionID); err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		if left := leftOfLane(t, client, table, target.Group()); left > 0 {
			t.Errorf("%d items are left", left)
		}
	}
}
