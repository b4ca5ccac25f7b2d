package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// together is how many stories run at once: they wait more than they work.
	together = 3
	// storyTime ends a story that hangs; the busiest machine needs far less.
	storyTime = 15 * time.Minute
)

// story is a program that uses the system as a client. It finds the system at
// RETHREAD_URL, prints "checks: N" at its end, and fails with a status other
// than 0.
type story struct {
	name   string
	folder string   // below infra/test/clients
	run    []string // the program, relative to the folder, and its arguments
	checks int      // the least number that it must make
}

// stories returns all stories. Makefile installs what they need.
func stories() []story {
	return []story{
		{"a2a-sdk 1.x (Python)", "python", []string{".venv/bin/python", "a2a_v1.py"}, 150},
		{"a2a-sdk 0.3 (Python)", "python", []string{".venv-0.3/bin/python", "a2a_v03.py"}, 40},
		{"google-adk", "python", []string{".venv/bin/python", "adk.py"}, 110},
		{"a2a-go and adk-go", "golang", []string{"go", "run", "."}, 150},
		{"@a2a-js/sdk 1.x", "js", []string{"node", "a2a_v1.mjs"}, 60},
		{"@a2a-js/sdk 0.3", "js", []string{"node", "a2a_v03.mjs"}, 20},
		{"rethread (npm)", "js", []string{"node", "rethread.mjs"}, 54},
		{"AG-UI servers (Python)", "python", []string{".venv/bin/python", "agui.py"}, 88},
		{"@ag-ui/client 1.x", "js", []string{"node", "agui.mjs", "@ag-ui/client"}, 30},
		{"@ag-ui/client 0.0", "js", []string{"node", "agui.mjs", "ag-ui-client-0.0"}, 30},
		{"@ai-sdk/react", "js", []string{"node", "aisdk.mjs"}, 35},
		{"rethread/ai-sdk", "js", []string{"node", "rethread_aisdk.mjs"}, 30},
		{"rethread/ag-ui", "js", []string{"node", "rethread_agui.mjs"}, 20},
		{"openai (npm)", "js", []string{"node", "openai.mjs"}, 72},
		{"openai (Python)", "python", []string{".venv/bin/python", "openai_sdk.py"}, 203},
		{"openai-agents", "python", []string{".venv/bin/python", "openai_agents_sdk.py"}, 18},
		{"mcp (Python)", "python", []string{".venv/bin/python", "mcp_client.py"}, 70},
		{"ag-ui-validate", "python", []string{".venv/bin/python", "agui_front.py"}, 32},
		{"adk api_server", "python", []string{".venv/bin/python", "adk_called.py"}, 57},
		{documentedStory, "python", []string{".venv/bin/python", "frameworks.py"}, 63},
		{"A2A servers", "python", []string{".venv/bin/python", "a2a_called.py"}, 190},
	}
}

var errFailed = errors.New("failed")

// play runs stories and prints one line for each, and the output of those that
// fail.
func play(ctx context.Context, root, url string, out io.Writer, all []story) error {
	var playing sync.WaitGroup
	var printing sync.Mutex
	var failures []error
	slots := semaphore.NewWeighted(together)
	for _, s := range all {
		playing.Go(func() {
			if slots.Acquire(ctx, 1) != nil {
				return
			}
			defer slots.Release(1)
			begun := time.Now()
			output, checks, err := s.play(ctx, root, url)
			line := fmt.Sprintf("ok   %s: %d checks in %.1f s\n", s.name, checks, time.Since(begun).Seconds())
			if err != nil {
				line, err = fmt.Sprintf("FAIL %s: %v\n%s\n", s.name, err, output), fmt.Errorf("%s: %w", s.name, errFailed)
			}
			printing.Lock()
			defer printing.Unlock()
			_, unprinted := io.WriteString(out, line)
			failures = append(failures, err, unprinted)
		})
	}
	playing.Wait()
	return errors.Join(append(failures, context.Cause(ctx))...)
}

// counted matches the line in which a story says how many checks it made.
var counted = regexp.MustCompile(`(?m)^checks: (\d+)$`)

func (s story) play(ctx context.Context, root, url string) (output []byte, checks int, err error) {
	ctx, cancel := context.WithTimeout(ctx, storyTime)
	defer cancel()
	folder := filepath.Join(root, "infra", "test", "clients", s.folder)
	program := s.run[0]
	if filepath.Base(program) != program {
		program = filepath.Join(folder, program)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, s.run[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, io.Writer(&said), io.Writer(&said)
	cmd.Env = append(os.Environ(), "RETHREAD_URL="+url, "PYTHONDONTWRITEBYTECODE=1")
	if err := cmd.Run(); err != nil {
		return said.Bytes(), 0, fmt.Errorf("run %s: %w", s.run[0], err)
	}
	if found := counted.FindSubmatch(said.Bytes()); found != nil {
		checks, _ = strconv.Atoi(string(found[1])) // digits only
	}
	if checks < s.checks {
		return said.Bytes(), checks, fmt.Errorf("it made %d checks, fewer than %d", checks, s.checks)
	}
	return said.Bytes(), checks, nil
}
