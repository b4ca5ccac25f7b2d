package play_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/tools/steps/play"
)

func sh(name, script string) play.Step {
	return play.Step{Name: name, Command: []string{"sh", "-c", script}}
}

func TestAll(t *testing.T) {
	t.Parallel()
	t.Run("runs steps side by side and keeps their output together", func(t *testing.T) {
		t.Parallel()
		pipe := filepath.Join(t.TempDir(), "pipe")
		var out bytes.Buffer
		err := play.All(t.Context(), []play.Step{ // each waits for the other
			sh("first", fmt.Sprintf("echo one; mkfifo %[1]s && echo ready > %[1]s; echo two >&2", pipe)),
			sh("second", fmt.Sprintf("echo three; until test -p %[1]s; do :; done; cat %[1]s", pipe)),
		}, 2, &out)
		got := out.String()
		if err != nil || !strings.Contains(got, "s\none\ntwo\n") || !strings.Contains(got, "s\nthree\nready\n") ||
			!strings.Contains(got, "== first: passed after ") {
			t.Errorf("%v:\n%s", err, got)
		}
	})
	t.Run("names the step that failed and starts no other", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "file")
		var out bytes.Buffer
		err := play.All(t.Context(), []play.Step{sh("bad", "echo why; exit 3"), sh("late", "touch "+file)}, 1, &out)
		if err == nil || !strings.Contains(err.Error(), "bad") || !strings.Contains(out.String(), "== bad: FAILED, exit status 3 after 0 s\nwhy\n") {
			t.Errorf("%v:\n%s", err, out.String())
		}
		if _, err := os.Stat(file); err == nil || strings.Contains(out.String(), "late") {
			t.Errorf("a step was started after a failure:\n%s", out.String())
		}
	})
	t.Run("fails if a command is missing", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		if err := play.All(t.Context(), []play.Step{{Name: "x", Command: []string{"/nowhere/x"}}}, 1, &out); err == nil {
			t.Errorf("passed:\n%s", out.String())
		}
	})
	t.Run("interrupts what runs", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		started := filepath.Join(t.TempDir(), "started")
		go func() {
			for {
				if _, err := os.Stat(started); err == nil || ctx.Err() != nil {
					cancel()
					return
				}
			}
		}()
		var out bytes.Buffer
		err := play.All(ctx, []play.Step{sh("long", "trap 'echo ended; exit 1' INT; touch "+started+"; while :; do :; done")}, 1, &out)
		if err == nil || !strings.Contains(out.String(), "ended\n") {
			t.Errorf("%v:\n%s", err, out.String())
		}
	})
}
