package stores_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
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
			if u := usage(t, meter, s, n); u.Requests > 2 || u.Reads > 1 || u.Writes > 1 {
				t.Errorf("append %d: %+v, want the put and a read of the header", n, u)
			}
		}
	})
	t.Run("is not used after an expected one is named, which is compared with the head", func(t *testing.T) {
		t.Parallel()
		meter := &capacity.Meter{}
		s := stores.New(meter.Around(storetest.Engine(t)))
		mustCreate(t, s, alice, "s", nil)
		mustAppendA(t, s, 1, 6)
		before, expected := meter.Total(), int64(6)
		if _, _, err := s.Sessions.Append(t.Context(), session.Append{
			SessionID: "s", UserID: alice, ExpectedSeq: &expected, Events: []session.Event{ofA(t, 7)},
		}); err != nil {
			t.Fatal(err)
		}
		if u := meter.Total().Sub(before); u.Requests != 3 {
			t.Errorf("with expected_seq: %+v, want the head to be read", u)
		}
	})
	t.Run("is used however large the metadata is", func(t *testing.T) {
		t.Parallel()
		meter := &capacity.Meter{}
		s := stores.New(meter.Around(storetest.Engine(t)))
		if _, err := s.Sessions.Create(t.Context(), session.New{
			ID: "s", UserID: alice, AppName: "app", Agent: "agent", Metadata: json.RawMessage(fmt.Sprintf(`{"k":%q}`, incompressible(8<<10))),
		}); err != nil {
			t.Fatal(err)
		}
		mustAppendA(t, s, 1, 6)
		if u := usage(t, meter, s, 7); u.Requests != 2 || u.Reads > 1 {
			t.Errorf("%+v, want the put and the header", u)
		}
	})
	t.Run("looks at the list of sessions again after five seconds", func(t *testing.T) {
		t.Parallel()
		meter, began, ahead := &capacity.Meter{}, time.Now(), time.Duration(0)
		s := stores.New(meter.Around(storetest.Engine(t)), stores.WithClock(func() time.Time { return began.Add(ahead) }))
		mustCreate(t, s, alice, "s", nil)
		mustAppendA(t, s, 1, 4)
		ahead += 6 * time.Second
		if u := usage(t, meter, s, 5); u.Requests != 3 || u.Reads > 1.5 {
			t.Errorf("after 6 s: %+v, want the put, the header and a look at the list", u)
		}
		if u := usage(t, meter, s, 6); u.Requests != 2 || u.Reads > 1 {
			t.Errorf("after the look: %+v, want the put and the header", u)
		}
		mustCreate(t, s, alice, "other", nil)
		mustAppend(t, s, alice, "other", event(t, "", "b", "later"))
		mustAppendA(t, s, 7, 7)
		if ids := list(t, s, session.ListQuery{UserID: alice}); ids[0] != "s" {
			t.Errorf("the list is %v, want the session that was used last at the top", ids)
		}
	})
	t.Run("costs a unit and a read when another instance was faster, and is then used more rarely", func(t *testing.T) {
		t.Parallel()
		engine, meter := storetest.Engine(t), &capacity.Meter{}
		s, other := stores.New(meter.Around(engine)), stores.New(engine)
		mustCreate(t, s, alice, "s", nil)
		mustAppendA(t, s, 1, 4)
		mustAppendA(t, other, 5, 6)
		if u := usage(t, meter, s, 7); u.Requests > 3 || u.Writes > 2 {
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
		redelivered(t, s, ofA(t, 5), ofA(t, 6))
		mustAppendA(t, s, 7, 20)
		mustAppendA(t, other, 21, 21)
		refused(t, s, event(t, "a.21", "a", "other"))
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
			storetest.Spoil(t, engine, table.NewKey("L#"+log, "E#0000000002"), table.Set(table.Path{attribute}, "of another form"))
			if err := s.Sessions.Delete(t.Context(), alice, "s"); err != nil {
				t.Error(err)
			}
			mustSweepAll(t, engine, 0)
		})
	}
}

// instances are those of a system that append to one session.
type instances struct {
	engine table.Engine
	opts   []stores.Option
	warm   []*stores.Store // none if each request has a new one
	clock  time.Time
}

func newInstances(engine table.Engine, warm int) *instances {
	in := &instances{engine: engine, clock: time.UnixMilli(1_800_000_000_000)}
	space, random := uuid.NameSpaceOID, 0
	if !storetest.InMemory() { // its tables share the tokens of transactions, which are random
		space = uuid.New()
	}
	in.opts = []stores.Option{
		stores.WithCodec(storetest.Codec()),
		stores.WithClock(func() time.Time { return in.clock }),
		stores.WithRandom(func() uuid.UUID { random++; return uuid.NewSHA1(space, fmt.Append(nil, random)) }),
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
				_, err := s.History.Rewind(t.Context(), session.Rewind{SessionID: "s", UserID: alice, Before: invocation, Nonce: fmt.Sprint("nonce", n)})
				return err
			}
			_, _, err := s.Sessions.Append(t.Context(), session.Append{SessionID: "s", UserID: alice, Events: []session.Event{e}})
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
