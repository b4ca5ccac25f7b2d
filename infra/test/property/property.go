// Package property checks properties with random cases that are the same in every
// run, so that a test which passes today does not fail tomorrow on another seed.
// `make hunt` draws other seeds.
package property

import (
	"flag"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"

	"pgregory.net/rapid"
)

// Variable is the environment variable that sets the seed of all random tests, a
// number from 1 to 2^64-1. The flag -rapid.seed takes precedence: rapid prints it
// for a case that failed.
const Variable = "PROPERTY_SEED"

// DefaultSeed is the seed if neither Variable nor -rapid.seed is set.
const DefaultSeed = 1

// Check checks a property with as many random cases as -rapid.checks says, 100 by
// default. It prints the number of cases and the seed, and fails if there were
// fewer, as happens when the test binary's time is almost over.
func Check(t rapid.TB, property func(*rapid.T)) {
	t.Helper()
	CheckN(t, checks(t), property)
}

// CheckN is Check with n cases.
func CheckN(t rapid.TB, n int, property func(*rapid.T)) {
	t.Helper()
	cases := 0
	check(t, n, func(r *rapid.T) {
		property(r)
		cases++
	})
	report(t, cases, n)
}

// Rand returns a generator of random numbers for a test that does not use rapid.
// Each stream has other numbers.
func Rand(t rapid.TB, stream int) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), uint64(stream))) //nolint:gosec // a test
}

// Seed returns the seed of this run. An invalid one fails the test.
func Seed(t rapid.TB) uint64 {
	t.Helper()
	flags.Lock()
	defer flags.Unlock()
	return seed(t)
}

func report(t rapid.TB, cases, least int) {
	t.Helper()
	t.Logf("%d cases, %s=%d", cases, Variable, Seed(t))
	if cases < least {
		t.Errorf("only %d cases, want %d", cases, least)
	}
}

const (
	seedFlag   = "rapid.seed"
	checksFlag = "rapid.checks"
)

// flags is locked while rapid's flags are read or changed.
//
//nolint:gochecknoglobals // guards flags, which are global
var flags sync.Mutex

// check has rapid check n cases from this run's seed. Rapid reads its flags before
// the first case, so that tests in parallel can have different numbers of cases.
func check(t rapid.TB, n int, property func(*rapid.T)) {
	t.Helper()
	flags.Lock()
	before := flag.Lookup(checksFlag).Value.String()
	restore := sync.OnceFunc(func() {
		defer flags.Unlock()
		set(t, checksFlag, before)
	})
	defer restore()
	set(t, seedFlag, strconv.FormatUint(seed(t), 10))
	set(t, checksFlag, strconv.Itoa(n))
	rapid.Check(t, func(r *rapid.T) {
		restore()
		property(r)
	})
}

func set(t rapid.TB, name, value string) {
	t.Helper()
	if err := flag.Set(name, value); err != nil {
		t.Fatalf("the flag %s: %v", name, err)
	}
}

func checks(t rapid.TB) int {
	t.Helper()
	flags.Lock()
	defer flags.Unlock()
	n, err := strconv.Atoi(flag.Lookup(checksFlag).Value.String())
	if err != nil {
		t.Fatalf("the flag %s: %v", checksFlag, err)
	}
	return n
}

// seed is called with flags locked.
func seed(t rapid.TB) uint64 {
	t.Helper()
	from, value := "-"+seedFlag, flag.Lookup(seedFlag).Value.String()
	if value == "0" {
		if from, value = Variable, os.Getenv(Variable); value == "" {
			return DefaultSeed
		}
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n == 0 {
		t.Fatalf("%s: %q is no seed, want a number from 1 to 2^64-1", from, value)
	}
	return n
}
