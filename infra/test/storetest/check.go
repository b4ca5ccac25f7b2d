package storetest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// seed is the seed of rapid's draws, which rapid would choose itself and print
// only on failure.
//
//nolint:gochecknoglobals // a flag of the test binary, which is set once
var seed = sync.OnceValues(func() (string, error) {
	value := flag.Lookup("rapid.seed").Value
	if value.String() == "0" {
		if err := value.Set(strconv.FormatUint(rand.Uint64()|1, 10)); err != nil { //nolint:gosec // a test
			return "", err
		}
	}
	return value.String(), nil
})

// Check checks a property with rapid's number of cases, prints the number of cases
// and the seed, and fails if there were fewer. On DynamoDB Local, which is slow,
// it ends with the first case after patience, but not before the least number of
// cases.
//
// Tests that call rapid.Check themselves must not run in parallel with it: it sets
// the seed.
func Check(t *testing.T, patience time.Duration, least int, property func(*rapid.T)) {
	t.Helper()
	used, err := seed()
	if err != nil {
		t.Fatalf("seed: %v", err)
	}
	whole, cases, deadline := InMemory(), 0, time.Now().Add(patience)
	if whole {
		least = checks(t)
	}
	rapid.Check(t, func(r *rapid.T) {
		if !whole && cases >= least && time.Now().After(deadline) {
			return
		}
		cases++
		property(r)
	})
	t.Logf("%d cases, -rapid.seed=%s", cases, used)
	if cases < least {
		t.Errorf("only %d cases, want %d", cases, least)
	}
}

// checks is rapid's number of cases.
func checks(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(fmt.Sprint(flag.Lookup("rapid.checks").Value))
	if err != nil {
		t.Fatalf("the flag rapid.checks: %v", err)
	}
	return n
}
