package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/infra/test/e2e"
)

func testRacingWriters(t *testing.T, sys *e2e.System) {
	t.Helper()
	t.Run("16 writers leave dense positions, without losses or duplicates", func(t *testing.T) {
		const writers, total = 16, 300
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		group, ctx := errgroup.WithContext(t.Context())
		for w := range writers {
			group.Go(func() error {
				for i := w; i < total; i += writers {
					if err := appendUntilTaken(ctx, alice, s, fmt.Sprint("e", i)); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		checkDense(t, alice, s, total)
	})
	t.Run("one of two concurrent creates with the same id succeeds", func(t *testing.T) {
		alice := sys.User(t, "alice")
		for round := range 5 {
			statuses := race(t, 2, func(ctx context.Context) (*e2e.Answer, error) {
				return alice.Try(ctx, "POST", api+"/sessions", e2e.M{"id": fmt.Sprint(alice.ID, round)})
			})
			if !slices.Equal(statuses, []int{201, 409}) {
				t.Fatalf("statuses %v", statuses)
			}
		}
	})
	t.Run("a task saved concurrently is one task", func(t *testing.T) {
		alice := sys.User(t, "alice")
		s := mustCreate(t, alice, nil)
		statuses := race(t, 8, func(ctx context.Context) (*e2e.Answer, error) {
			return alice.Try(ctx, "POST", s+"/tasks", e2e.M{"task_id": "t1", "message_bubbles": []e2e.M{bubble("b", "user", "x")}})
		})
		if slices.Max(statuses) != 201 || statuses[len(statuses)-2] != 200 {
			t.Errorf("statuses %v, want one 201 and else 200", statuses)
		}
		if n := len(alice.Get(s + "/tasks").Want(200).List("tasks")); n != 1 {
			t.Errorf("%d tasks", n)
		}
	})
}

// appendUntilTaken appends an event with its own id, retrying as long as the
// server asks for it.
func appendUntilTaken(ctx context.Context, u *e2e.User, session, id string) error {
	e := event("i-"+id, id)
	e["id"] = id
	for {
		answer, err := u.Try(ctx, "POST", session+"/events", e2e.M{"events": []e2e.M{e}}, e2e.Off)
		if err != nil {
			return err
		}
		switch answer.Status {
		case 200, 201:
			return nil
		case 429, 503:
		default:
			return fmt.Errorf("append %s: %d %s", id, answer.Status, answer.Body)
		}
	}
}

func checkDense(t *testing.T, u *e2e.User, session string, total int) {
	t.Helper()
	seen := map[string]bool{}
	next := 1
	for _, page := range allPages(t, u, session+"/events?limit=1000") {
		ids := page.Each("data", "id")
		for i, seq := range page.Each("data", "seq") {
			if seq != fmt.Sprint(next) || seen[ids[i]] {
				t.Fatalf("event %s stands at %s, want %d; seen before: %v", ids[i], seq, next, seen[ids[i]])
			}
			seen[ids[i]] = true
			next++
		}
	}
	if len(seen) != total {
		t.Errorf("%d events are stored, want %d", len(seen), total)
	}
}

// race calls a function n times concurrently and returns the sorted statuses.
func race(t *testing.T, n int, do func(context.Context) (*e2e.Answer, error)) []int {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	statuses := make([]int, n)
	for i := range n {
		group.Go(func() error {
			answer, err := do(ctx)
			if err != nil {
				return err
			}
			statuses[i] = answer.Status
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(statuses)
	return statuses
}
