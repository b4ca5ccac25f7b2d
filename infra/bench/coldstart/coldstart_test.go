package coldstart_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/bench/coldstart"
	"github.com/rethread/rethread/infra/local/repo"
)

func TestRun(t *testing.T) {
	t.Parallel()
	bare := mustBuild(t, "./bare")
	info, err := os.Stat(bare.ARM64)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("measures each program", func(t *testing.T) {
		t.Parallel()
		other := bare
		other.Name, other.Function.MemoryMB = "other", 128
		got, err := coldstart.Run(t.Context(), 1, []coldstart.Program{bare, other})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 2 || got[0].Name != coldstart.Bare || got[1].Name != "other" {
			t.Fatalf("got %+v", got)
		}
		for _, m := range got {
			if int64(m.Bytes) != info.Size() || m.Zipped <= 0 || m.Zipped >= m.Bytes || m.StartMS <= 0 || m.Resident <= 1<<20 {
				t.Errorf("got %+v of %d bytes", m, info.Size())
			}
		}
		if got[0].Relative != 1 || math.Abs(got[1].Relative-got[1].StartMS/got[0].StartMS) > 0.01 || got[1].MemoryMB != 128 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a program that exits fails the run with its output", func(t *testing.T) {
		t.Parallel()
		broken := filepath.Join(t.TempDir(), "broken")
		if err := os.WriteFile(broken, []byte("#!/bin/sh\necho no table\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := coldstart.Run(t.Context(), 1, []coldstart.Program{{Name: "broken", ARM64: broken, Native: broken}})
		if !errors.Is(err, coldstart.ErrExited) || !strings.Contains(err.Error(), "broken") || !strings.Contains(err.Error(), "no table") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a program that sends a request first fails the run", func(t *testing.T) {
		t.Parallel()
		_, err := coldstart.Run(t.Context(), 1, []coldstart.Program{mustBuild(t, "./testdata/asks")})
		if !errors.Is(err, coldstart.ErrAsked) || !strings.Contains(err.Error(), "GET /parameters") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a program that was not built fails the run", func(t *testing.T) {
		t.Parallel()
		for _, p := range []coldstart.Program{{ARM64: "./none", Native: bare.Native}, {ARM64: bare.ARM64, Native: "./none"}} {
			if _, err := coldstart.Run(t.Context(), 1, []coldstart.Program{p}); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%+v: got %v", p, err)
			}
		}
	})
}

// mustBuild builds a program of this folder, for this machine only.
func mustBuild(t *testing.T, folder string) coldstart.Program {
	t.Helper()
	target := filepath.Join(t.TempDir(), "bootstrap")
	if err := repo.Build(t.Context(), "", target, folder); err != nil {
		t.Fatal(err)
	}
	return coldstart.Program{Name: filepath.Base(folder), ARM64: target, Native: target}
}

func TestPage(t *testing.T) {
	t.Parallel()
	const head, line = "| function | MB | zipped | memory, MB | resident, MB | start |\n", "|---|---:|---:|---:|---:|---:|\n"
	got, err := coldstart.Page("Before.\n\n"+head+line+"| old | 1 | 1 | 1 | 1 | 1 |\n\nAfter.\n", []coldstart.Measure{
		{Name: coldstart.Bare, Bytes: 5_060_000, Zipped: 1_940_000, StartMS: 8, Relative: 1},
		{Name: "events", Bytes: 11_700_000, Zipped: 4_300_000, MemoryMB: 128, StartMS: 12, Relative: 1.5, Resident: 14<<20 + 5},
	})
	want := "Before.\n\n" + head + line + "| bare | 5.1 | 1.9 |  |  | 1.0 |\n| events | 11.7 | 4.3 | 128 | 14 | 1.5 |\n\nAfter.\n"
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if _, err := coldstart.Page("# No table", nil); !errors.Is(err, coldstart.ErrNoTable) {
		t.Errorf("without a table: %v", err)
	}
}
