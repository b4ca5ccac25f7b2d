package stores_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/quota"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

// lostAnswers is the minimum number of writes in the scenarios; each one's answer
// is lost in each way.
const lostAnswers = 140

// refusals are the ways in which the retry of a write whose answer was lost may be
// refused; nil for not at all.
func refusals() map[string]error {
	return map[string]error{
		"lost":                nil,
		"lost, then conflict": table.ErrConflict,
		"lost, then throttle": table.ErrThrottled,
	}
}

// loser loses the answer to one write: the write is carried out, and the store,
// which does not know that, retries it.
type loser struct {
	refusal error // of that retry, nil for none
	mu      sync.Mutex
	on      bool
	lose    int // the number of the write, from 0; -1 for none
	writes  []string
	lost    string // the write whose answer was lost, until its retry
}

func (l *loser) begin() { l.set(true) }
func (l *loser) end()   { l.set(false) }

func (l *loser) set(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on = on
}

// before refuses the retry of the write whose answer was lost. Other calls may come
// first: a sweep visits several items concurrently.
func (l *loser) before(_ context.Context, c hooks.Call) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !decided(c) || l.lost == "" || identityOf(c) != l.lost {
		return nil
	}
	l.lost = ""
	return l.refusal
}

// after loses the answer to the selected write.
func (l *loser) after(_ context.Context, c hooks.Call, _ table.Units, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.on || !decided(c) {
		return err
	}
	l.writes = append(l.writes, nameOf(c))
	if len(l.writes)-1 != l.lose || err != nil {
		return err
	}
	l.lost = identityOf(c)
	return fmt.Errorf("%w: the answer was lost", table.ErrUndecided)
}

// decided reports whether a call is a write that must not be carried out twice.
func decided(c hooks.Call) bool { return c.Op == hooks.Write || c.Op == hooks.Transact }

// identityOf identifies a write and its retries.
func identityOf(c hooks.Call) string {
	if c.Op == hooks.Transact {
		return c.Token
	}
	return c.Writes[0].Key.PK + " " + c.Writes[0].Key.SK
}

// nameOf describes the kind of write and of item.
func nameOf(c hooks.Call) string {
	if c.Op == hooks.Transact {
		return "transaction"
	}
	w := c.Writes[0]
	name := map[table.Kind]string{table.PutKind: "put ", table.UpdateKind: "update ", table.DeleteKind: "delete "}[w.Kind]
	kind, _, _ := strings.Cut(w.Key.PK, "#")
	of, _, more := strings.Cut(w.Key.SK, "#")
	if more {
		of += "#"
	}
	return name + kind + "# " + of[:min(len(of), 8)]
}

// play runs a scenario in a table of its own and returns its outcome and its
// writes.
func play(t *testing.T, sc scenario, lose int, refusal error) (outcome string, writes []string) {
	t.Helper()
	l, clock := &loser{lose: lose, refusal: refusal}, &calendar{}
	s := stores.New(hooks.New(storetest.Engine(t), hooks.Hooks{Before: l.before, After: l.after}),
		stores.WithClock(clock.now), stores.WithQuotas(quota.Limits{Sessions: 10, Runs: 5, Bytes: 1 << 30}),
		stores.WithRetention(func(string) int64 { return 3600 }))
	w := &world{t: t, s: s, loser: l, clock: clock}
	sc.play(w)
	l.end()
	return strings.Join(w.outcome, "\n"), l.writes
}

// Whichever write's answer is lost, the operation takes effect once and the caller
// gets the same answer.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var played atomic.Int64
	total, kinds, runs := 0, []string{}, storetest.Sample(t, 4)
	t.Run("of", func(t *testing.T) {
		for _, sc := range scenarios() {
			t.Run(sc.name, func(t *testing.T) {
				t.Parallel()
				want, writes := play(t, sc, -1, nil)
				t.Log(want)
				mu.Lock()
				total, kinds = total+len(writes), append(kinds, writes...)
				mu.Unlock()
				for i, name := range writes {
					for how, refusal := range refusals() {
						if refusal != nil && name != "transaction" && !storetest.InMemory() {
							continue // DynamoDB Local is slow: only where tokens matter
						}
						if !runs() {
							continue
						}
						played.Add(1)
						t.Run(fmt.Sprintf("%d %s %s", i, name, how), func(t *testing.T) {
							if got, _ := play(t, sc, i, refusal); got != want {
								t.Errorf("got\n%s\nwant\n%s", got, want)
							}
						})
					}
				}
			})
		}
	})
	slices.Sort(kinds)
	t.Logf("%d writes in %d scenarios, %d cases: %s", total, len(scenarios()), played.Load(), strings.Join(slices.Compact(kinds), ", "))
	least := map[bool]int64{true: 2 * lostAnswers, false: lostAnswers / 4}[storetest.InMemory()]
	if total < lostAnswers || played.Load() < least {
		t.Errorf("%d writes, want %d; %d cases, want %d", total, lostAnswers, played.Load(), least)
	}
}
