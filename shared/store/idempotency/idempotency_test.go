package idempotency_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/idempotency"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

// keys takes idempotency keys, each time as another attempt.
type keys struct {
	*stores.Store
	engine table.Engine
	clock  *fixture.Calendar
	tries  int
}

func newKeys(t *testing.T, opts ...stores.Option) *keys {
	t.Helper()
	k := &keys{engine: storetest.Engine(t), clock: &fixture.Calendar{}}
	k.Store = stores.New(k.engine, append(opts, stores.WithCodec(storetest.Codec()), stores.WithClock(k.clock.Now))...)
	return k
}

// left returns how many items a partition has.
func (k *keys) left(t *testing.T, pk string) int {
	t.Helper()
	return len(storetest.Partition(t, k.engine, pk, ""))
}

// begin takes a key as a new attempt and compares the result; kind 0 is none.
func (k *keys) begin(t *testing.T, c idempotency.Claim, want *idempotency.Answer, kind fault.Kind) idempotency.Claim {
	t.Helper()
	k.tries++
	c.Nonce = "try " + strconv.Itoa(k.tries)
	got, err := k.Idempotency.Begin(t.Context(), c)
	if (kind == 0) != (err == nil) || (kind != 0 && !errors.Is(err, fault.Of(kind))) {
		t.Errorf("begin %+v: %v", c, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("begin %+v (-want +got):\n%.500s", c, diff)
	}
	return c
}

func (k *keys) finish(t *testing.T, c idempotency.Claim, a idempotency.Answer) {
	t.Helper()
	if err := k.Idempotency.Finish(t.Context(), c, a); err != nil {
		t.Fatal(err)
	}
}

// noise is an answer that is larger than an item and does not compress.
func noise() idempotency.Answer {
	body := make([]byte, 500_000)
	for i := range body {
		body[i] = byte(rand.Uint32()) //nolint:gosec // a test
	}
	return idempotency.Answer{Status: 201, Header: map[string]string{"Etag": `"1"`}, Body: body}
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	for name, log := range map[string]string{"about nothing": "", "about a session": "log"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newKeys(t)
			c := idempotency.Claim{UserID: fixture.Alice, Key: "k", Route: "POST /x", Digest: "d", Log: log}
			first := s.begin(t, c, nil, 0)
			s.begin(t, c, nil, fault.Busy)
			if err := s.Idempotency.Release(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			died := s.begin(t, c, nil, 0)
			s.clock.Forward(idempotency.Lease + time.Second)
			second := s.begin(t, c, nil, 0)
			if err := s.Idempotency.Release(t.Context(), died); err != nil { // the key is no longer held by it
				t.Fatal(err)
			}
			s.begin(t, c, nil, fault.Busy)

			answer := noise()
			s.finish(t, second, answer)
			s.begin(t, c, &answer, 0)
			other := c
			other.Digest = "another body"
			s.begin(t, other, nil, fault.Invalid)
			for _, apart := range []idempotency.Claim{
				{UserID: fixture.Bob, Key: "k", Route: "POST /x", Digest: "d", Log: log},
				{UserID: fixture.Alice, Key: "k", Route: "POST /y", Digest: "d", Log: log},
			} {
				s.begin(t, apart, nil, 0)
			}
			s.clock.Forward(idempotency.Lifetime)
			s.begin(t, other, nil, 0) // a day later the key is free
		})
	}
}

// A key is held as long as its request can be executing, and no longer.
func TestIdempotency_lease(t *testing.T) {
	t.Parallel()
	s := newKeys(t)
	c := idempotency.Claim{UserID: fixture.Alice, Key: "k", Route: "POST /x", Digest: "d", Nonce: "first"}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := s.Idempotency.Begin(ctx, c); err != nil {
		t.Fatal(err)
	}
	s.clock.Forward(4 * time.Second)
	s.begin(t, c, nil, fault.Busy)
	s.clock.Forward(time.Second + idempotency.LeaseMargin)
	s.begin(t, c, nil, 0)
}

// Nothing is left of an answer when its session is deleted, and its key stays used.
func TestIdempotency_is_deleted_with_its_session(t *testing.T) {
	t.Parallel()
	s := newKeys(t, stores.WithRetention(func(string) int64 { return 3600 }))
	create := func(id, keyedBy string) (log string) {
		t.Helper()
		n := session.New{ID: id, UserID: fixture.Alice, Nonce: uuid.NewString(), KeyedBy: keyedBy}
		if err := n.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Sessions.Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		at, err := s.Shares.CallerGrants(t.Context(), fixture.Alice, id)
		if err != nil {
			t.Fatal(err)
		}
		return at.Log
	}
	answer, small := noise(), idempotency.Answer{Status: 201, Body: []byte("it is made")}
	remove := func(id string) error { return s.Sessions.Delete(t.Context(), fixture.Alice, id) }
	for how, end := range map[string]func(id string) error{
		"deleted": remove,
		"deleted while forks read it": func(id string) error {
			_, err := s.History.Fork(t.Context(), session.ForkOf{UserID: fixture.Alice, SessionID: id, ID: "fork of " + id, Nonce: "n"})
			return errors.Join(err, remove(id))
		},
		"expired by its retention": func(string) error {
			s.clock.Forward(2 * time.Hour)
			_, err := s.Lifecycle.SweepRetention(t.Context())
			return err
		},
		"erased with its user": func(string) error {
			s.clock.Forward(time.Second)
			_, err := s.Lifecycle.Erase(t.Context(), fixture.Alice)
			return err
		},
	} {
		t.Run(how, func(t *testing.T) {
			making := idempotency.Claim{UserID: fixture.Alice, Key: "made " + how, Route: "POST /sessions", Digest: "d"}
			died := idempotency.Claim{UserID: fixture.Alice, Key: "died " + how, Route: "POST /sessions", Digest: "d"}
			making = s.begin(t, making, nil, 0)
			died = s.begin(t, died, nil, 0)
			log := create(how, making.Name())
			create("died "+how, died.Name())
			s.finish(t, making, small)
			about := map[string]idempotency.Claim{}
			for _, user := range []string{fixture.Alice, fixture.Bob} { // one of them a guest
				c := idempotency.Claim{UserID: user, Key: how, Route: "POST /sessions/x/events", Digest: "d", Log: log}
				about[user] = s.begin(t, c, nil, 0)
				s.finish(t, about[user], answer)
				s.begin(t, c, &answer, 0)
			}
			s.begin(t, making, &small, 0)
			s.clock.Forward(idempotency.Lease + time.Second)

			if err := end(how); err != nil {
				t.Fatal(err)
			}
			if err := remove("died " + how); err != nil && !errors.Is(err, fault.Of(fault.NotFound)) {
				t.Fatal(err)
			}
			s.begin(t, making, nil, fault.NotFound)
			s.begin(t, died, nil, fault.NotFound) // it was created, and the answer was lost
			for _, c := range about {
				if left := s.left(t, "KA#"+c.Log); left != 0 {
					t.Errorf("%d items are left of the answers", left)
				}
				again := c
				again.Log = create("again "+how+c.UserID, "")
				s.begin(t, again, nil, fault.NotFound)
			}
			other := making
			other.Digest = "another body"
			s.begin(t, other, nil, fault.NotFound)
			if err := s.Idempotency.Finish(t.Context(), died, small); err != nil {
				t.Error(err)
			}
			s.begin(t, died, nil, fault.NotFound) // a late answer is not stored
			s.clock.Forward(idempotency.Lifetime)
			s.begin(t, making, nil, 0)
		})
	}
}

// The answers to a guest are deleted with the guest.
func TestIdempotency_erasure_of_a_guest(t *testing.T) {
	t.Parallel()
	s := newKeys(t)
	claim := func(key string) idempotency.Claim {
		return idempotency.Claim{UserID: fixture.Bob, Key: key, Route: "POST /x", Digest: "d", Log: "log of fixture.Alice's"}
	}
	answer := noise()
	done := s.begin(t, claim("done"), nil, 0)
	s.finish(t, done, answer)
	working := s.begin(t, claim("working"), nil, 0)
	s.clock.Forward(time.Second)
	report, err := s.Lifecycle.Erase(t.Context(), fixture.Bob)
	if err != nil || report.Removed.Records != 1 {
		t.Errorf("removed %+v, %v", report.Removed, err)
	}
	if left := s.left(t, "KA#log of fixture.Alice's"); left != 0 {
		t.Errorf("%d items are left of the answers", left)
	}
	s.begin(t, claim("done"), nil, fault.NotFound)
	s.begin(t, claim("working"), nil, fault.Busy)
	s.finish(t, working, answer)
	s.clock.Forward(time.Minute)
	later := s.begin(t, claim("later"), nil, 0)
	s.finish(t, later, answer)
	if n, err := s.Lifecycle.SweepErasures(t.Context()); err != nil || n != 1 {
		t.Errorf("%d erasures, %v", n, err)
	}
	s.begin(t, claim("working"), nil, fault.NotFound)
	s.begin(t, claim("later"), &answer, 0) // a later one stays
}

// A key costs a write for the claim and one for each kilobyte of the answer. A repeat
// is a refused claim, which is charged like a write of the stored item: the claim,
// with the answer if that is about no session.
func TestIdempotency_cost(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		log   string
		again capacity.Usage
	}{
		"about nothing":   {"", capacity.Usage{Writes: 3}},
		"about a session": {"log", capacity.Usage{Writes: 1, Reads: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meter := &capacity.Meter{}
			s := &keys{Store: stores.New(meter.Around(storetest.Engine(t)))}
			cost := func(work func()) capacity.Usage {
				before := meter.Total()
				work()
				return meter.Total().Sub(before)
			}
			c := idempotency.Claim{UserID: fixture.Alice, Key: "k", Route: "POST /x", Digest: "d", Log: of.log}
			answer := idempotency.Answer{Status: 201, Body: noise().Body[:2000]}
			first := cost(func() { s.finish(t, s.begin(t, c, nil, 0), answer) })
			again := cost(func() { s.begin(t, c, &answer, 0) })
			t.Logf("first %+v, again %+v", first, again)
			if first.Writes != 4 || first.Reads != 0 || again.Writes > of.again.Writes || again.Reads > of.again.Reads {
				t.Errorf("first %+v, again %+v", first, again)
			}
		})
	}
}
