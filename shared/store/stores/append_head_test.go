package stores_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// incompressible returns a text that takes about as many bytes in the table.
func incompressible(bytes int) string {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // repeatable on purpose
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/!?#$%&()*,-.:;<=>@[]^_{|}~"
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteByte(letters[random.IntN(len(letters))])
	}
	return b.String()
}

// chunks returns how many chunks of entries the table has.
func chunks(t *testing.T, of table.Engine) int {
	t.Helper()
	n := 0
	for _, key := range keysIn(t, of) {
		if strings.Contains(key, " B#") {
			n++
		}
	}
	return n
}

func TestHead_behind_a_large_entry(t *testing.T) {
	t.Parallel()
	large := incompressible(200_000)
	for name, spoil := range map[string]func(*testing.T, table.Engine, table.Key){
		"": func(*testing.T, table.Engine, table.Key) {},
		" without its marks": func(t *testing.T, of table.Engine, k table.Key) {
			t.Helper()
			storetest.Spoil(t, of, k, table.Remove(table.Path{"ht"}), table.Remove(table.Path{"hi"}))
		},
	} {
		t.Run("ids in it are found"+name, func(t *testing.T) {
			t.Parallel()
			engine := storetest.Engine(t)
			s := stores.New(engine)
			mustCreate(t, s, alice, "s", nil)
			mustAppend(t, s, alice, "s", ofA(t, 1))
			batch := []session.Event{event(t, "x", "a", large), ofA(t, 2)}
			mustAppend(t, s, alice, "s", batch...)
			log := storetest.Text(t, storetest.Item(t, engine, table.NewKey("S#s", "HEAD")), "l")
			spoil(t, engine, table.NewKey("L#"+log, fmt.Sprintf("E#%010d", 2)))
			redelivered(t, s, batch...)
			redelivered(t, s, ofA(t, 1))
			redelivered(t, s, ofA(t, 2))
			refused(t, s, event(t, "x", "b", "other"))
			refused(t, s, event(t, "a.2", "a", "other"))
			mustAppend(t, s, alice, "s", ofA(t, 3))
			want := []string{"1:a1", "2:" + large, "3:a2", "4:a3"}
			if diff := cmp.Diff(want, texts(mustEvents(t, s, alice, "s", session.EventQuery{}))); diff != "" {
				t.Errorf("events (-want +got):\n%.500s", diff)
			}
			if diff := cmp.Diff([]string{"x"}, claims(t, engine)); diff != "" { // the invocation's opening goes on
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("an append costs as little as behind a small one", func(t *testing.T) {
		t.Parallel()
		meter := &capacity.Meter{}
		s := stores.New(meter.Around(storetest.Engine(t)))
		mustCreate(t, s, alice, "s", nil)
		for _, bytes := range []int{100, 200_000, 900_000} {
			mustAppend(t, s, alice, "s", event(t, "", "a", incompressible(bytes)))
			before := meter.Total()
			mustAppend(t, s, alice, "s", event(t, "", "a", "behind"))
			if u := meter.Total().Sub(before); u.Reads > 2.5 || u.Writes > 1 {
				t.Errorf("behind %d bytes: %+v", bytes, u)
			}
		}
	})
	t.Run("only the first attempt of an append stores chunks", func(t *testing.T) {
		t.Parallel()
		engine, began := storetest.Engine(t), time.Now()
		plain := stores.New(engine)
		mustCreate(t, plain, alice, "s", nil)
		mustAppend(t, plain, alice, "s", event(t, "", "a", "first"))
		losses := 2
		s := before(engine, func(_ context.Context, c hooks.Call) error {
			if putsEntry(c) && losses > 0 {
				losses--
				mustAppend(t, plain, alice, "s", event(t, "", "a", fmt.Sprint("faster ", losses)))
			}
			return nil
		}, stores.WithClock(func() time.Time { return began })) // it has all the time
		mustAppend(t, s, alice, "s", event(t, "", "a", large))
		want := []string{"1:first", "2:faster 1", "3:faster 0", "4:" + large}
		if diff := cmp.Diff(want, texts(mustEvents(t, plain, alice, "s", session.EventQuery{}))); diff != "" {
			t.Errorf("events (-want +got):\n%.500s", diff)
		}
		if n := chunks(t, engine); n != 0 {
			t.Errorf("%d chunks are left", n)
		}
	})
	t.Run("a deletion holds the positions of entries with chunks", func(t *testing.T) {
		t.Parallel()
		engine := storetest.Engine(t)
		s := stores.New(engine)
		mustCreate(t, s, alice, "s", nil)
		mustAppend(t, s, alice, "s", event(t, "", "a", large))
		slow := before(engine, func(ctx context.Context, c hooks.Call) error {
			if putsEntry(c) {
				mustAppend(t, s, alice, "s", event(t, "", "a", large))
				return s.Sessions.Delete(ctx, alice, "s")
			}
			return nil
		})
		_, _, err := slow.Sessions.Append(t.Context(), session.Append{SessionID: "s", UserID: alice, Events: []session.Event{event(t, "", "a", "late")}})
		if !errors.Is(err, fault.Of(fault.NotFound)) {
			t.Errorf("an append during a deletion: %v", err)
		}
		if n := chunks(t, engine); n != 0 {
			t.Errorf("%d chunks are left", n)
		}
	})
}
