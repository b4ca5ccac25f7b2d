package dynamostore_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/dynamotest"
	"github.com/rethread/rethread/shared/dynamostore"
	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/quota"
	"github.com/rethread/rethread/shared/run"
	"github.com/rethread/rethread/shared/session"
)

// limited is a store with quotas and a clock of its own.
func limited(t *testing.T, l quota.Limits) (*dynamostore.Store, *calendar) {
	t.Helper()
	c := &calendar{}
	return newStore(t, dynamostore.WithClock(c.now), dynamostore.WithQuotas(l)), c
}

// mustExceed checks that an error says which quota is full, and returns what it
// tells of it.
func mustExceed(t *testing.T, err error, name string, limit int64) map[string]any {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Busy || f.Extra["quota"] != name || f.Extra["limit"] != limit || f.RetryAfter <= 0 {
		t.Fatalf("%v (%+v), want that %s are limited to %d", err, f, name, limit)
	}
	return f.Extra
}

func mustUse(t *testing.T, s *dynamostore.Store, sessions, runs int64) {
	t.Helper()
	u, err := s.Usage(t.Context(), alice)
	if err != nil {
		t.Fatal(err)
	}
	if u.Sessions.Used != sessions || u.Runs.Used != runs {
		t.Errorf("%d sessions and %d runs are used, want %d and %d", u.Sessions.Used, u.Runs.Used, sessions, runs)
	}
}

func tryCreate(t *testing.T, s *dynamostore.Store, id string) error {
	t.Helper()
	n := session.New{ID: id, UserID: alice, Nonce: mustID(t)}
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Create(t.Context(), n)
	return err
}

func TestRunQuota(t *testing.T) {
	t.Parallel()
	const most = 3
	setUp := func(t *testing.T) (*dynamostore.Store, *calendar) {
		t.Helper()
		s, clock := limited(t, quota.Limits{Runs: most})
		for i := range most + 1 {
			mustCreate(t, s, alice, fmt.Sprint("s", i), nil)
			mustCreate(t, s, bob, fmt.Sprint("b", i), nil)
		}
		for i := range most {
			mustStart(t, s, startOf(t, fmt.Sprint("s", i), fmt.Sprint("r", i), "hi"))
		}
		return s, clock
	}
	another := func(t *testing.T, s *dynamostore.Store) error {
		t.Helper()
		_, err := s.Start(t.Context(), startOf(t, "s3", "r3", "hi"))
		return err
	}

	t.Run("one more is refused, and told what is at work", func(t *testing.T) {
		t.Parallel()
		s, _ := setUp(t)
		told := mustExceed(t, another(t, s), quota.Runs, most)
		if told["used"] != int64(most) || fmt.Sprint(told["running"]) == "[]" {
			t.Errorf("told %v", told)
		}
		mustUse(t, s, most+1, most)
		if got := mustThread(t, s, "s3"); got.Session.Status != session.Idle || len(got.Items) != 0 {
			t.Errorf("the refusal left %q", shown(got))
		}
	})
	t.Run("the end of a run makes room, however it ends", func(t *testing.T) {
		t.Parallel()
		s, clock := setUp(t)
		for i, end := range []func() error{
			func() error { _, err := s.End(t.Context(), refOf("s0", "r0"), run.Completed, nil); return err },
			func() error { _, err := s.Cancel(t.Context(), refOf("s0", "again1")); return err },
			func() error {
				clock.forward(2 * time.Minute)
				_, err := s.Expire(t.Context())
				return err
			},
		} {
			if err := end(); err != nil {
				t.Fatal(err)
			}
			mustStart(t, s, startOf(t, "s0", fmt.Sprint("again", i+1), "hi"))
		}
		mustUse(t, s, most+1, 1)
	})
	t.Run("a start that is repeated takes one slot", func(t *testing.T) {
		t.Parallel()
		s, _ := setUp(t)
		for range 3 {
			mustStart(t, s, startOf(t, "s0", "r0", "hi"))
		}
		mustEnd(t, s, refOf("s0", "r0"), run.Completed, nil)
		mustStart(t, s, startOf(t, "s0", "r0", "hi")) // it is over
		mustUse(t, s, most+1, most-1)
		if err := another(t, s); err != nil {
			t.Error(err)
		}
	})
	t.Run("what a start replaces makes room for it", func(t *testing.T) {
		t.Parallel()
		s, _ := setUp(t)
		next := startOf(t, "s0", "next", "hi")
		next.OnActive = run.CancelAndMerge
		mustStart(t, s, next)
		mustUse(t, s, most+1, most)
	})
	t.Run("a start that is refused takes none", func(t *testing.T) {
		t.Parallel()
		s, _ := setUp(t)
		mustEnd(t, s, refOf("s0", "r0"), run.Completed, nil)
		for i := range 3 {
			_, err := s.Start(t.Context(), startOf(t, "s1", fmt.Sprint("other", i), "hi"))
			if !errors.Is(err, fault.Of(fault.Conflict)) {
				t.Fatal(err)
			}
		}
		if err := another(t, s); err != nil {
			t.Error(err)
		}
	})
	t.Run("others have slots of their own", func(t *testing.T) {
		t.Parallel()
		s, _ := setUp(t)
		start := startOf(t, "b0", "r", "hi")
		start.UserID = bob
		mustStart(t, s, start)
	})
	t.Run("a slot that was never given back heals", func(t *testing.T) {
		t.Parallel()
		s, clock := setUp(t)
		for i := range 2 { // their runs go with them
			if err := s.Delete(t.Context(), alice, fmt.Sprint("s", i)); err != nil {
				t.Fatal(err)
			}
		}
		mustUse(t, s, 2, 1)
		for range 3 {
			clock.forward(30 * time.Second)
			if err := s.Renew(t.Context(), refOf("s2", "r2")); err != nil {
				t.Fatal(err)
			}
		}
		if err := another(t, s); err != nil {
			t.Error(err)
		}
		mustUse(t, s, 2, 2)
	})
}

// TestRunQuota_racing starts far more runs at once than are allowed, again and
// again: there are never more at work.
func TestRunQuota_racing(t *testing.T) {
	t.Parallel()
	const most, all = 4, 24
	s, _ := limited(t, quota.Limits{Runs: most})
	for i := range all {
		mustCreate(t, s, alice, fmt.Sprint("s", i), nil)
	}
	for round := range 3 {
		var started atomic.Int64
		var racing sync.WaitGroup
		ids := make([]bool, all)
		for i := range all {
			start := startOf(t, fmt.Sprint("s", i), fmt.Sprintf("r%d", round), "hi")
			racing.Go(func() {
				switch _, err := s.Start(t.Context(), start); {
				case err == nil:
					ids[i] = true
					started.Add(1)
				case !errors.Is(err, fault.Of(fault.Busy)):
					t.Error(err)
				}
			})
		}
		racing.Wait()
		if n := started.Load(); n != most {
			t.Errorf("round %d: %d runs started, want %d", round, n, most)
		}
		mustUse(t, s, all, most)
		for i, ran := range ids {
			if ran {
				mustEnd(t, s, refOf(fmt.Sprint("s", i), fmt.Sprintf("r%d", round)), run.Completed, nil)
			}
		}
	}
}

func TestSessionQuota(t *testing.T) {
	t.Parallel()
	const most = 3
	full := func(t *testing.T) (*dynamostore.Store, *calendar) {
		t.Helper()
		s, clock := limited(t, quota.Limits{Sessions: most})
		for i := range most {
			mustCreate(t, s, alice, fmt.Sprint("s", i), nil)
		}
		return s, clock
	}
	t.Run("no way to make one leads past it", func(t *testing.T) {
		t.Parallel()
		s, _ := full(t)
		mustExceed(t, tryCreate(t, s, "more"), quota.Sessions, most)
		_, err := s.Fork(t.Context(), session.ForkOf{UserID: alice, SessionID: "s0", ID: "f", Nonce: "n"})
		mustExceed(t, err, quota.Sessions, most)
		u := upload(t, document(t))
		u.UserID = alice
		_, err = s.Import(t.Context(), u)
		mustExceed(t, err, quota.Sessions, most)
		mustUse(t, s, most, 0)
		if _, err := s.Fork(t.Context(), session.ForkOf{UserID: alice, SessionID: "s0", DryRun: true}); err != nil {
			t.Errorf("what a fork would be: %v", err)
		}
		mustCreate(t, s, bob, "his", nil)
	})
	t.Run("a deletion makes room", func(t *testing.T) {
		t.Parallel()
		s, _ := full(t)
		if err := s.Delete(t.Context(), alice, "s0"); err != nil {
			t.Fatal(err)
		}
		mustCreate(t, s, alice, "more", nil)
		mustExceed(t, tryCreate(t, s, "still more"), quota.Sessions, most)
	})
	t.Run("a creation that is repeated is answered as it was", func(t *testing.T) {
		t.Parallel()
		s, _ := limited(t, quota.Limits{Sessions: 1})
		n := session.New{ID: "s", UserID: alice, Nonce: "n"}
		if err := n.Validate(); err != nil {
			t.Fatal(err)
		}
		var got [2]session.Session
		for i := range got {
			var err error
			if got[i], err = s.Create(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("sessions from before there was a limit count, and make room", func(t *testing.T) {
		t.Parallel()
		clock, client, table := &calendar{}, dynamotest.Client(t), dynamotest.Table(t)
		before := dynamostore.New(client, table)
		for i := range most {
			mustCreate(t, before, alice, fmt.Sprint("s", i), nil)
		}
		s := dynamostore.New(client, table, dynamostore.WithClock(clock.now), dynamostore.WithQuotas(quota.Limits{Sessions: most}))
		mustExceed(t, tryCreate(t, s, "more"), quota.Sessions, most)
		if err := s.Delete(t.Context(), alice, "s0"); err != nil {
			t.Fatal(err)
		}
		mustExceed(t, tryCreate(t, s, "more"), quota.Sessions, most) // they are counted once a minute
		clock.forward(61 * time.Second)
		if err := tryCreate(t, s, "more"); err != nil {
			t.Error(err)
		}
		mustUse(t, s, most, 0)
	})
	t.Run("an erasure forgets what was used", func(t *testing.T) {
		t.Parallel()
		client, table := dynamotest.Client(t), dynamotest.Table(t)
		s := dynamostore.New(client, table, dynamostore.WithQuotas(quota.Limits{Sessions: most, Runs: 1}))
		mustCreate(t, s, alice, "s", nil)
		mustStart(t, s, startOf(t, "s", "r", "hi"))
		if _, err := s.Erase(t.Context(), alice); err != nil {
			t.Fatal(err)
		}
		out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "Q#" + alice}, "SK": &types.AttributeValueMemberS{Value: "USE"},
		}})
		if err != nil || out.Item != nil {
			t.Errorf("left: %v, %v", out.Item, err)
		}
	})
}

// TestSessionQuota_racing makes far more sessions at once than are allowed.
func TestSessionQuota_racing(t *testing.T) {
	t.Parallel()
	const most, all = 5, 20
	s, _ := limited(t, quota.Limits{Sessions: most})
	var made atomic.Int64
	var racing sync.WaitGroup
	for i := range all {
		racing.Go(func() {
			switch err := tryCreate(t, s, fmt.Sprint("s", i)); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, fault.Of(fault.Busy)):
				t.Error(err)
			}
		})
	}
	racing.Wait()
	if n := made.Load(); n != most {
		t.Errorf("%d sessions were made, want %d", n, most)
	}
	mustUse(t, s, most, 0)
}
