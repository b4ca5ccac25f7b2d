package play_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rethread/rethread/infra/tools/steps/play"
)

// scripted is a Run of steps that last, and of which some fail.
type scripted struct {
	mu     sync.Mutex
	lasts  map[string]time.Duration
	says   map[string]string
	fails  map[string]bool
	events []string
}

var errScripted = errors.New("scripted")

func (s *scripted) run(_ context.Context, step play.Step, out io.Writer) (time.Duration, error) {
	s.tell("+" + step.Name)
	time.Sleep(s.lasts[step.Name])
	s.tell("-" + step.Name)
	_, err := io.WriteString(out, s.says[step.Name])
	if s.fails[step.Name] {
		err = errScripted
	}
	return 2 * s.lasts[step.Name], err
}

func (s *scripted) tell(event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event)
}

func steps() []play.Step {
	return []play.Step{
		{Name: "format", Kind: play.First, CPU: 10},
		{Name: "browser", Kind: play.Waits, CPU: 100, Cases: 3},
		{Name: "unit", Kind: play.First, CPU: 10},
		{Name: "lint", Kind: play.Computes, CPU: 50},
		{Name: "build", Kind: play.Computes, CPU: 50},
	}
}

func newScript() *scripted {
	return &scripted{
		lasts: map[string]time.Duration{"format": time.Second, "unit": 2 * time.Second, "browser": 40 * time.Second, "lint": 25 * time.Second, "build": 31 * time.Second},
		says:  map[string]string{"browser": "  3 passed (40.0s)\n"},
		fails: map[string]bool{},
	}
}

func TestAll(t *testing.T) {
	t.Parallel()
	t.Run("first steps are alone, and a waiting one runs beside those that compute", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s, out := newScript(), bytes.Buffer{}
			if err := play.All(t.Context(), steps(), s.run, &out); err != nil {
				t.Fatal(err)
			}
			want := [][]string{{"+format"}, {"-format"}, {"+unit"}, {"-unit"}, {"+browser", "+lint"}, {"-lint"}, {"+build"}, {"-browser"}, {"-build"}}
			got := s.events
			for _, atOnce := range want {
				n := min(len(atOnce), len(got))
				if now := slices.Sorted(slices.Values(got[:n])); !slices.Equal(now, atOnce) {
					t.Errorf("%v instead of %v in %v", now, atOnce, s.events)
				}
				got = got[n:]
			}
			wantTable := `step             CPU s budget wall s    cases
browser             80    100     40        3
build               62     50     31        0
lint                50     50     25        0
unit                 4     10      2        0
format               2     10      1        0
5 of 5 steps       198    220     59        3
over its budget: build took 62 s of the processor instead of 50
`
			if !strings.HasSuffix(out.String(), wantTable) {
				t.Errorf("the output ends not with\n%s\nbut:\n%s", wantTable, out.String())
			}
		})
	})
	t.Run("a failure of a first step ends the run", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s, out := newScript(), bytes.Buffer{}
			s.fails["format"] = true
			err := play.All(t.Context(), steps(), s.run, &out)
			if err == nil || err.Error() != "steps failed: format" || !slices.Equal(s.events, []string{"+format", "-format"}) {
				t.Errorf("%v: %v", err, s.events)
			}
			if !strings.Contains(out.String(), "== format: FAILED, scripted after 1 s\n") || !strings.Contains(out.String(), "not run\n1 of 5 steps") {
				t.Errorf("the output is:\n%s", out.String())
			}
		})
	})
	t.Run("a step fails below its number of cases", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s, out := newScript(), bytes.Buffer{}
			s.says["browser"] = "  2 passed (40.0s)\n  1 skipped\n"
			err := play.All(t.Context(), steps(), s.run, &out)
			if err == nil || err.Error() != "steps failed: browser" || !strings.Contains(out.String(), "== browser: FAILED, too few cases: 2 of 3 after 40 s\n") {
				t.Errorf("%v:\n%s", err, out.String())
			}
		})
	})
	t.Run("an unchanged step neither runs nor counts", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s, out, all := newScript(), bytes.Buffer{}, steps()
			all[1].Unchanged = "abc"
			if err := play.All(t.Context(), all, s.run, &out); err != nil || slices.Contains(s.events, "+browser") {
				t.Errorf("%v: %v", err, s.events)
			}
			if got := out.String(); !strings.Contains(got, "unchanged since abc\n4 of 5 steps") || strings.Contains(got, "== browser") {
				t.Errorf("the output is:\n%s", got)
			}
		})
	})
	t.Run("an interrupt starts no further step", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			defer cancel()
			s, out := newScript(), bytes.Buffer{}
			err := play.All(ctx, steps(), s.run, &out)
			if !errors.Is(err, context.DeadlineExceeded) || slices.Contains(s.events, "+lint") {
				t.Errorf("%v: %v", err, s.events)
			}
		})
	})
}

func TestCases(t *testing.T) {
	t.Parallel()
	outputs := map[string]int{
		"DONE 12 tests in 3.4s\n∅ x\nDONE 30 tests, 2 skipped in 1.0s\n": 40,
		"DONE 1 test in 0.1s\n": 1,
		" Test Files  3 passed (3)\n      Tests  40 passed (40)\n":                                                      40,
		" \x1b[2m     Tests \x1b[22m \x1b[1m\x1b[32m7 passed\x1b[39m (7)\n":                                             7,
		"      Tests  1 failed | 6 passed (7)\n":                                                                        6,
		"....\n133 passed in 9.1s\n":                                                                                    133,
		"133 passed, 4 warnings in 9.1s\n":                                                                              133,
		"===== 5 passed, 1 skipped in 70.10s (0:01:10) =====\n":                                                         5,
		"  2 flaky\n    a.spec.ts:3\n  417 passed (31.2m)\n":                                                            417,
		"# tests 9\n# pass 8\n# fail 0\n# skipped 1\n":                                                                  8,
		"ℹ tests 9\nℹ pass 9\n":                                                                                         9,
		"Test cases:\n  4321 generated, 4000 passed, 321 skipped\n":                                                     4321,
		"ok   google-adk: 110 checks in 3.1 s\nok   openai: 7 checks in 1.0 s\n":                                        117,
		"7 generated clients told the story, 12 steps each\n":                                                           7,
		"1 rounds: 9 requests, 1 with an unknown outcome; 3 sessions, 850 checks: 0 violations\n":                       850,
		"LangChain: 10 turns 20 W 3 R; rewind 1, fork 2, streamed answer 3; in 2s\nStrands: 10 turns 2 W 3 R; rewind\n": 20,
		"fuzz: 8 targets ran 100000 inputs and found no fault\n":                                                        8,
		"cases: 3\n":            3,
		"it has 12 tests\n":     0,
		"FAIL x: 3 checks in 1": 0,
	}
	for output, want := range outputs {
		if got := play.Cases([]byte(output)); got != want {
			t.Errorf("%d instead of %d in %q", got, want, output)
		}
	}
	if t.Logf("%d outputs", len(outputs)); len(outputs) < 20 {
		t.Errorf("only %d outputs", len(outputs))
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	run := func(ctx context.Context, script string) (time.Duration, string, error) {
		var out bytes.Buffer
		cpu, err := play.Command("sh", "-c", script, "sh")(ctx, play.Step{Name: "named"}, &out)
		return cpu, out.String(), err
	}
	t.Run("gives the step's name and keeps both outputs", func(t *testing.T) {
		t.Parallel()
		if _, got, err := run(t.Context(), "echo $1; echo why >&2; exit 3"); err == nil || got != "named\nwhy\n" {
			t.Errorf("%v: %q", err, got)
		}
	})
	t.Run("counts the time of descendants", func(t *testing.T) {
		t.Parallel()
		loop := "i=0; while [ $i -lt %d ]; do i=$((i+1)); done"
		idle, _, errIdle := run(t.Context(), "sh -c 'sh -c :'")
		busy, _, err := run(t.Context(), "sh -c 'sh -c \""+strings.ReplaceAll(fmt.Sprintf(loop, 300000), "$", "\\$")+"\"'")
		if err != nil || errIdle != nil || busy <= idle {
			t.Errorf("%v, %v: %v is not more than %v", err, errIdle, busy, idle)
		}
	})
	t.Run("fails if the command is missing", func(t *testing.T) {
		t.Parallel()
		if _, err := play.Command("/nowhere/x")(t.Context(), play.Step{}, io.Discard); err == nil {
			t.Error("passed")
		}
	})
	t.Run("interrupts what runs", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		started, out := io.Pipe()
		go func() {
			_, _ = io.ReadFull(started, make([]byte, 1))
			cancel()
			_, _ = io.Copy(io.Discard, started)
		}()
		_, err := play.Command("sh", "-c", "trap 'exit 7' INT; echo started; while :; do :; done", "sh")(ctx, play.Step{}, out)
		if err == nil || !strings.Contains(err.Error(), "exit status 7") {
			t.Errorf("it ended with %v", err)
		}
	})
}
