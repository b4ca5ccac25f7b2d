package modeltest_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/infra/test/storetest"
)

// sequences is how many sequences of operations each machine plays.
func sequences() number { return number{all: 100, few: 3} }

// number is the minimum number of cases of a proof: all in memory, few on DynamoDB
// Local, which is slow, and in `make check`.
type number struct {
	all, few int
	// every selects one of that many cases where few are played.
	every int
}

func (n number) least() int {
	if storetest.Few() {
		return n.few
	}
	return n.all
}

// tell prints how many cases a proof played, and fails below its number.
func (n number) tell(t *testing.T, played int, what string) {
	t.Helper()
	t.Logf("%d %s, at least %d; %s=%d", played, what, n.least(), property.Variable, property.Seed(t))
	if played < n.least() && !t.Failed() {
		t.Errorf("%d %s, want %d at least", played, what, n.least())
	}
}

// set is the cases at each of an operation's requests, from the first one on. play
// returns false if the operation makes fewer requests, which is not a case.
type set struct {
	of    string // sets with the same name play one after the other
	first int
	play  func(t *testing.T, at int) bool
}

// mostRequests is more than any operation makes here.
const mostRequests = 500

// play plays sets whole, or a fixed part of each where few cases are played, and counts.
func (n number) play(t *testing.T, sets []set) {
	t.Helper()
	var played atomic.Int64
	groups, order := map[string][]set{}, []string{}
	for _, s := range sets {
		if groups[s.of] == nil {
			order = append(order, s.of)
		}
		groups[s.of] = append(groups[s.of], s)
	}
	t.Run("cases", func(t *testing.T) {
		for g, of := range order {
			t.Run(of, func(t *testing.T) {
				if storetest.InMemory() { // each case has a table of its own
					t.Parallel()
				}
				for i, s := range groups[of] {
					played.Add(int64(n.places(t, g+i, s)))
				}
			})
		}
	})
	n.tell(t, int(played.Load()), fmt.Sprintf("cases of %d sets", len(sets)))
}

// places plays the i-th set, and returns how many cases it had.
func (n number) places(t *testing.T, i int, s set) (played int) {
	t.Helper()
	at, step := s.first, 1
	if storetest.Few() {
		at, step = s.first+i%n.every, n.every
	}
	for {
		var reached bool
		unhurried(t, func(t *testing.T) { t.Helper(); reached = s.play(t, at) })
		if !reached {
			return played
		}
		if played++; at > mostRequests {
			t.Fatalf("%s: more than %d requests", s.of, mostRequests)
		}
		if t.Failed() {
			return played
		}
		at += step
	}
}

// unhurried plays a case without real waiting if everything is in memory.
func unhurried(t *testing.T, play func(*testing.T)) {
	t.Helper()
	if storetest.InMemory() {
		synctest.Test(t, play)
		return
	}
	play(t)
}

// times plays a case by its number, as often as the number says.
func (n number) times(t *testing.T, play func(t *testing.T, i int)) {
	t.Helper()
	const lanes = 8
	var played atomic.Int64
	t.Run("cases", func(t *testing.T) {
		for lane := range lanes {
			t.Run(fmt.Sprint(lane), func(t *testing.T) {
				if storetest.InMemory() {
					t.Parallel()
				}
				for i := lane; i < n.least() && !t.Failed(); i += lanes {
					unhurried(t, func(t *testing.T) { t.Helper(); play(t, i) })
					played.Add(1)
				}
			})
		}
	})
	n.tell(t, int(played.Load()), "cases")
}
