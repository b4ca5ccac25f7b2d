package property_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
)

// drawn checks a property with n cases, and returns what it drew.
func drawn(t *testing.T, n int) (all []uint64) {
	t.Helper()
	property.CheckN(t, n, func(r *rapid.T) { all = append(all, rapid.Uint64().Draw(r, "n")) })
	return all
}

func TestCheckN(t *testing.T) {
	t.Parallel()
	t.Run("draws the same cases each time", func(t *testing.T) {
		t.Parallel()
		if d := cmp.Diff(drawn(t, 20), drawn(t, 20)); d != "" {
			t.Errorf("the second check differs (-first +second):\n%s", d)
		}
	})
	t.Run("has as many different cases as it is told, beside checks with other numbers", func(t *testing.T) {
		t.Parallel()
		for _, n := range []int{1, 7, 100, 700} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				all := drawn(t, n)
				if slices.Sort(all); len(all) != n || len(slices.Compact(all)) < n/2 {
					t.Errorf("%d cases, %d of them different", len(all), len(slices.Compact(all)))
				}
			})
		}
	})
}

func TestRand(t *testing.T) {
	t.Parallel()
	first, again, other := property.Rand(t, 1), property.Rand(t, 1), property.Rand(t, 2)
	if a, b, c := first.Uint64(), again.Uint64(), other.Uint64(); a != b || a == c {
		t.Errorf("stream 1 begins with %d and %d, stream 2 with %d", a, b, c)
	}
}

// child is the environment variable that selects what this test binary does when it
// is run by a test.
const child = "PROPERTY_TEST_CHILD"

// TestChild is the part of the tests that runs in a process of its own, since flags
// and environment belong to the process.
func TestChild(t *testing.T) {
	switch os.Getenv(child) {
	case "":
		mustRun(t, []string{child + "=draw"})
	case "draw":
		t.Log("drew ", drawn(t, 3))
	case "fail":
		property.Check(t, func(r *rapid.T) {
			if n := rapid.Uint64().Draw(r, "n"); n > 1<<40 {
				r.Fatalf("drew %d", n)
			}
		})
	case "slow": // rapid ends early when the time is almost over
		end, _ := t.Deadline()
		property.Check(t, func(*rapid.T) { <-time.After(time.Until(end) / 2) })
	}
}

// mustRun runs TestChild in a process of its own, which must pass.
func mustRun(t *testing.T, env []string, flags ...string) string {
	t.Helper()
	out, err := run(t, env, flags...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

func run(t *testing.T, env []string, flags ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-test.run=^TestChild$", "-test.v", "-rapid.nofailfile"}, flags...)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// line returns the part of an output's line behind a word, "" if there is none.
func line(out, word string) string {
	_, rest, _ := strings.Cut(out, word)
	text, _, _ := strings.Cut(rest, "\n")
	return text
}

func TestSeed(t *testing.T) {
	t.Parallel()
	seed := func(s string) []string { return []string{child + "=draw", property.Variable + "=" + s} }
	usual := mustRun(t, seed(""))
	t.Run("is printed, and the usual one unless set", func(t *testing.T) {
		t.Parallel()
		if got := line(usual, "3 cases, "); got != fmt.Sprintf("%s=%d", property.Variable, property.DefaultSeed) {
			t.Errorf("printed %q:\n%s", got, usual)
		}
		if got := line(mustRun(t, seed("1")), "drew "); got == "" || got != line(usual, "drew ") {
			t.Errorf("drew %s, want %s", got, line(usual, "drew "))
		}
	})
	t.Run("of the environment changes what is drawn", func(t *testing.T) {
		t.Parallel()
		out := mustRun(t, seed("77"))
		if line(out, "drew ") == line(usual, "drew ") || !strings.Contains(out, property.Variable+"=77\n") {
			t.Errorf("seed 77 drew what seed 1 did:\n%s", out)
		}
	})
	t.Run("of the flag takes precedence", func(t *testing.T) {
		t.Parallel()
		want, got := mustRun(t, seed("77")), mustRun(t, seed("5"), "-rapid.seed=77")
		if line(got, "drew ") != line(want, "drew ") {
			t.Errorf("seed 77 drew %s as flag, %s in the environment", line(got, "drew "), line(want, "drew "))
		}
	})
	for _, bad := range []string{"0", "-1", "one"} {
		t.Run("cannot be "+bad, func(t *testing.T) {
			t.Parallel()
			if out, err := run(t, seed(bad)); err == nil || !strings.Contains(out, "is no seed") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	t.Run("fails with the seed of the case that failed", func(t *testing.T) {
		t.Parallel()
		env := []string{child + "=fail"}
		out, err := run(t, env)
		flag := "-rapid.seed=" + line(out, "-rapid.seed=")
		if again, also := run(t, env, flag); err == nil || also == nil || !strings.Contains(again, "failed after 0 tests") {
			t.Errorf("%v with %q: %s\nat first: %v, %s", also, flag, again, err, out)
		}
	})
	t.Run("fails below its number of cases", func(t *testing.T) {
		t.Parallel()
		out, err := run(t, []string{child + "=slow"}, "-test.timeout=1s")
		if err == nil || !strings.Contains(out, "cases, want 100") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
