package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// mustAppendA appends the events a.from to a.to, one at a time.
func mustAppendA(t *testing.T, s *stores.Store, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		mustAppend(t, s, alice, "s", ofA(t, n))
	}
}

func TestAppend_remembered_head(t *testing.T) {
	t.Parallel()
	// usage is that of one more append.
	usage := func(t *testing.T, meter *capacity.Meter, s *stores.Store, n int) capacity.Usage {
		t.Helper()
		before := meter.Total()
		mustAppendA(t, s, n, n)
		return meter.Total().Sub(before)
	}
	t.Run("is used by the fourth append in a row", func(t *testing.T) {
		t.Parallel()
		meter := &capacity.Meter{}
		s := stores.New(meter.Around(storetest.Engine(t)))
		mustCreate(t, s, alice, "s", nil)
		mustAppendA(t, s, 1, 3)
		for n := 4; n < 20; n++ {
			if u := usage(t, meter, s, n); u.Requests > 2 || u.Reads > 0.5 || u.Writes > 1 {
				t.Errorf("append %d: %+v, want the put and a look at the list of sessions", n, u)
			}
		}
	})
	t.Run("is read again after ten seconds, and compared with an expected one", func(t *testing.T) {
		t.Parallel()
		meter, began, ahead := &capacity.Meter{}, time.Now(), time.Duration(0)
		s := stores.New(meter.Around(storetest.Engine(t)), sessions.WithClock(func() time.Time { return began.Add(ahead) }))
		mustCreate(t, s, alice, "s", nil)
		mustAppendA(t, s, 1, 4)
		ahead += 11 * time.Second
		if u := usage(t, meter, s, 5); u.Requests != 3 {
			t.Errorf("after 11 s: %+v, want the head to be read", u)
		}
		if u := usage(t, meter, s, 6); u.Requests != 2 {
			t.Errorf("after the read: %+v, want the head to be remembered", u)
		}
		before, expected := meter.Total(), int64(6)
		if _, _, err := s.Append(t.Context(), session.Append{
			SessionID: "s", UserID: alice, ExpectedSeq: &expected, Events: []session.Event{ofA(t, 7)},
		}); err != nil {
			t.Fatal(err)
		}
		if u := meter.Total().Sub(before); u.Requests != 3 {
			t.Errorf("with expected_seq: %+v, want the head to be read", u)
		}
	})
	t.Run("costs a unit and a read when another instance was faster, and is then used more rarely", func(t *testing.T) {
		t.Parallel()
		engine, meter := storetest.Engine(t), &capacity.Meter{}
		s, other := stores.New(meter.Around(engine)), stores.New(engine)
		mustCreate(t, s, alice, "s", nil)
		mustAppendA(t, s, 1, 4)
		mustAppendA(t, other, 5, 6)
		if u := usage(t, meter, s, 7); u.Requests > 4 || u.Writes > 2 {
			t.Errorf("after an append by another instance: %+v", u)
		}
		for i, requests := range []int{3, 3, 3, 3, 3, 3, 3, 3, 2, 2} {
			if u := usage(t, meter, s, 8+i); u.Requests != requests {
				t.Errorf("append %d after that: %+v, want %d requests", i+1, u, requests)
			}
		}
		if got := texts(mustEvents(t, s, alice, "s", session.EventQuery{})); len(got) != 17 || got[4] != "5:a5" || got[16] != "17:a17" {
			t.Errorf("events: %v", got)
		}
	})
	t.Run("does not store twice what another instance has stored", func(t *testing.T) {
		t.Parallel()
		engine := storetest.Engine(t)
		s, other := stores.New(engine), stores.New(engine)
		mustCreate(t, s, alice, "s", nil)
		mustAppendA(t, s, 1, 4)
		mustAppendA(t, other, 5, 6)
		redelivered(t, s, "s", ofA(t, 5), ofA(t, 6))
		mustAppendA(t, s, 7, 20)
		mustAppendA(t, other, 21, 21)
		refused(t, s, "s", fault.Conflict, event(t, "a.21", "a", "other"))
	})
}

// A deletion that has been answered leaves no position to an instance that remembers the
// head, wherever its append is.
func TestAppend_remembered_head_of_a_deleted_session(t *testing.T) {
	t.Parallel()
	late := func(t *testing.T, s *stores.Store) {
		t.Helper()
		_, n, err := s.Append(t.Context(), session.Append{SessionID: "s", UserID: alice, Events: []session.Event{ofA(t, 9)}})
		if !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("%d appended, %v; want NotFound", n, err)
		}
	}
	for name, fork := range map[string]bool{"": false, " that a fork reads": true} {
		t.Run("before the append"+name, func(t *testing.T) {
			t.Parallel()
			engine := storetest.Engine(t)
			s, other := stores.New(engine), stores.New(engine)
			mustCreate(t, s, alice, "s", nil)
			mustAppendA(t, s, 1, 3)
			if fork {
				mustFork(t, other, "s", "fork", nil)
			}
			if err := other.Delete(t.Context(), alice, "s"); err != nil {
				t.Fatal(err)
			}
			late(t, s)
			if fork {
				want := []string{"1:a1", "2:a2", "3:a3"}
				if diff := cmp.Diff(want, texts(mustEvents(t, other, alice, "fork", session.EventQuery{}))); diff != "" {
					t.Errorf("events of the fork (-want +got):\n%s", diff)
				}
			}
		})
	}
	t.Run("just before the put", func(t *testing.T) {
		t.Parallel()
		engine, puts := storetest.Engine(t), 0
		other := stores.New(engine)
		s := before(engine, func(ctx context.Context, c hooks.Call) error {
			if !putsEntry(c) {
				return nil
			}
			if puts++; puts == 4 {
				return other.Delete(ctx, alice, "s")
			}
			return nil
		})
		mustCreate(t, s, alice, "s", nil)
		mustAppendA(t, s, 1, 3)
		late(t, s)
	})
	t.Run("and before the deletion holds the position", func(t *testing.T) {
		t.Parallel()
		engine, faster := storetest.Engine(t), 0
		s := stores.New(engine)
		mustCreate(t, s, alice, "s", nil)
		mustAppendA(t, s, 1, 3)
		other := before(engine, func(_ context.Context, c hooks.Call) error {
			if putsEntry(c) && faster < 3 {
				faster++
				mustAppendA(t, s, 3+faster, 3+faster)
			}
			return nil
		})
		if err := other.Delete(t.Context(), alice, "s"); err != nil {
			t.Fatal(err)
		}
		if faster != 3 {
			t.Errorf("%d appends were faster than the deletion, want 3", faster)
		}
		late(t, s)
		mustSweepAll(t, engine, 0)
	})
	t.Run("while appends follow one another", func(t *testing.T) {
		t.Parallel()
		engine := storetest.Engine(t)
		s, other := stores.New(engine), stores.New(engine)
		mustCreate(t, s, alice, "s", nil)
		var deleted atomic.Bool
		enough, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			for n := 1; ; n++ {
				after := deleted.Load()
				_, _, err := s.Append(t.Context(), session.Append{SessionID: "s", UserID: alice, Events: []session.Event{ofA(t, n)}})
				if n == 20 {
					close(enough)
				}
				if err != nil || after {
					ended <- err
					return
				}
			}
		}()
		select {
		case <-enough:
		case err := <-ended:
			t.Fatal(err)
		}
		if err := other.Delete(t.Context(), alice, "s"); err != nil {
			t.Error(err)
		}
		deleted.Store(true)
		if err := <-ended; !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("the last append: %v, want NotFound", err)
		}
	})
}

// A deletion succeeds whatever the newest entry is.
func TestDelete_behind_an_unreadable_entry(t *testing.T) {
	t.Parallel()
	for _, attribute := range []string{"n", "ls", "b"} {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			engine := storetest.Engine(t)
			s := stores.New(engine)
			mustCreate(t, s, alice, "s", nil)
			mustAppendA(t, s, 1, 2)
			log := storetest.Text(t, storetest.Item(t, engine, table.NewKey("S#s", "HEAD")), "l")
			storetest.Spoil(t, engine, table.NewKey("L#"+log, "E#0000000002"), table.Set(table.At(attribute), "of another form"))
			if err := s.Delete(t.Context(), alice, "s"); err != nil {
				t.Error(err)
			}
			mustSweepAll(t, engine, 0)
		})
	}
}

// instances are those of a system that append to one session.
type instances struct {
	engine table.Engine
	opts   []sessions.Option
	warm   []*stores.Store // none if each request has a new one
	clock  time.Time
}

func newInstances(engine table.Engine, warm int) *instances {
	in := &instances{engine: engine, clock: time.UnixMilli(1_800_000_000_000)}
	space, random := uuid.NameSpaceOID, 0
	if !storetest.InMemory() { // its tables share the tokens of transactions, which are random
		space = uuid.New()
	}
	in.opts = []sessions.Option{
		sessions.WithCodec(storetest.Codec()),
		sessions.WithClock(func() time.Time { return in.clock }),
		sessions.WithRandom(func() uuid.UUID { random++; return uuid.NewSHA1(space, fmt.Append(nil, random)) }),
	}
	for range warm {
		in.warm = append(in.warm, stores.New(engine, in.opts...))
	}
	return in
}

// one returns the instance that gets the next request.
func (in *instances) one(n int) *stores.Store {
	in.clock = in.clock.Add(time.Second)
	if len(in.warm) == 0 {
		return stores.New(in.engine, in.opts...)
	}
	return in.warm[n%len(in.warm)]
}

// entries returns what the session's log contains, without what differs: the lower bounds of
// invocations, which are lower after an attempt by an instance whose memory was out of date,
// and on DynamoDB Local random ids.
func (in *instances) entries(t *testing.T) []map[string]any {
	t.Helper()
	log := storetest.Text(t, storetest.Item(t, in.engine, table.NewKey("S#s", "HEAD")), "l")
	var out []map[string]any
	for _, item := range storetest.Partition(t, in.engine, "L#"+log, "E#") {
		var members map[string]any
		if err := table.Decode(item, &members); err != nil {
			t.Fatal(err)
		}
		delete(members, "vf")
		for _, name := range []string{"PK", "b", "tl"} {
			if !storetest.InMemory() {
				delete(members, name)
			}
		}
		out = append(out, members)
	}
	return out
}

// refusalOf returns the text of an error that a caller of the API sees.
func refusalOf(err error) string {
	var refusal *fault.Error
	if errors.As(err, &refusal) {
		return refusal.Error()
	}
	return fmt.Sprint(err)
}

// Instances that remember heads write the same log as instances that do not.
func TestAppend_remembered_head_changes_nothing(t *testing.T) {
	t.Parallel()
	operation := rapid.Custom(func(r *rapid.T) func(*stores.Store, int) error {
		invocation, number := rapid.SampledFrom([]string{"a", "b"}).Draw(r, "invocation"), rapid.IntRange(1, 9).Draw(r, "number")
		id := rapid.SampledFrom([]string{fmt.Sprint(invocation, ".", number), fmt.Sprint("x", number)}).Draw(r, "id")
		delta := map[string]any{}
		if rapid.IntRange(0, 3).Draw(r, "changes state") == 0 {
			delta["k"] = number
		}
		e := parse(t, map[string]any{
			"id": id, "invocation_id": invocation, "author": "agent", "actions": map[string]any{"state_delta": delta},
		})
		rewinds := rapid.IntRange(0, 9).Draw(r, "rewinds") == 0
		return func(s *stores.Store, n int) error {
			if rewinds {
				_, err := s.Rewind(t.Context(), session.Rewind{SessionID: "s", UserID: alice, Before: invocation, Nonce: fmt.Sprint("nonce", n)})
				return err
			}
			_, _, err := s.Append(t.Context(), session.Append{SessionID: "s", UserID: alice, Events: []session.Event{e}})
			return err
		}
	})
	storetest.Check(t, 5, func(r *rapid.T) {
		cold, warm := newInstances(storetest.Engine(t), 0), newInstances(storetest.Engine(t), 2)
		for _, in := range []*instances{cold, warm} {
			mustCreate(t, in.one(0), alice, "s", nil)
		}
		for n, do := range rapid.SliceOfN(operation, 1, 40).Draw(r, "operations") {
			to := rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1}).Draw(r, "instance")
			want, got := refusalOf(do(cold.one(to), n)), refusalOf(do(warm.one(to), n))
			if want != got {
				r.Fatalf("operation %d: %v, want %v", n, got, want)
			}
		}
		if diff := cmp.Diff(cold.entries(t), warm.entries(t)); diff != "" {
			r.Fatalf("entries (-cold +warm):\n%s", diff)
		}
	})
}
