package play

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

var (
	errOther = errors.New("other texts than were stored")
	// ErrFailed is an error that a peer's program has reported.
	ErrFailed = errors.New("the peer failed")
)

// longestReason is how much of an error is recorded.
const longestReason = 300

// reason returns the first line of a peer's error.
func reason(err error) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), ErrFailed.Error()+": "), "\n")
	return text[:min(len(text), longestReason)]
}

// program is a peer in a process of its own. It gets a command a line and answers each.
type program struct {
	process *exec.Cmd
	log     *os.File
	in      io.WriteCloser
	out     *bufio.Reader
}

// startProgram starts a program with variables added to its environment. Its folder is
// relative to the benchmark's.
func startProgram(ctx context.Context, b Bench, key, folder string, env []string, interpreter string, args ...string) (_ *program, err error) {
	p := &program{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	p.log, err = os.Create(filepath.Join(b.Root, "build", "peer-"+key+".log")) //nolint:gosec // named by our own keys
	if err != nil {
		return nil, fmt.Errorf("make a file for the peer's log: %w", err)
	}
	p.process = exec.CommandContext(ctx, interpreter, args...) //nolint:gosec // the benchmark's own programs
	p.process.Dir, p.process.Stderr = filepath.Join(b.Root, Folder, folder), p.log
	p.process.Env = append(append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "MASTRA_TELEMETRY_DISABLED=1", "LANGSMITH_TRACING=false",
		"OTEL_SDK_DISABLED=true"), env...)
	if p.in, err = p.process.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start the peer: %w", err)
	}
	out, err := p.process.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the peer: %w", err)
	}
	p.out = bufio.NewReader(out)
	if err := p.process.Start(); err != nil {
		p.process = nil
		return nil, fmt.Errorf("start the peer (is it installed? run `make bench-peers`): %w", err)
	}
	return p, nil
}

// Folder is the benchmark's, relative to the repository's.
const Folder = "infra/bench/peers"

// Close ends the program.
func (p *program) Close() error {
	var err error
	if p.process != nil {
		err = errors.Join(p.in.Close(), p.process.Wait())
	}
	if p.log != nil {
		err = errors.Join(err, p.log.Close())
	}
	return err
}

// do has the program carry out a command.
func (p *program) do(command map[string]any) ([]string, error) {
	line, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("command the peer (log: %s): %w", p.log.Name(), err)
	}
	line, err = p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("read the peer's answer (log: %s): %w", p.log.Name(), err)
	}
	var answer struct {
		Texts []string
		Error string
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, fmt.Errorf("read the peer's answer %q: %w", line, err)
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("%w: %s", ErrFailed, answer.Error)
	}
	return answer.Texts, nil
}

func (p *program) Turn(_ context.Context, thread, question, answer string) error {
	_, err := p.do(map[string]any{"do": "turn", "thread": thread, "question": question, "answer": answer})
	return err
}

func (p *program) Load(_ context.Context, thread string) ([]string, error) {
	return p.do(map[string]any{"do": "load", "thread": thread})
}

func (p *program) Rewind(_ context.Context, thread string) error {
	_, err := p.do(map[string]any{"do": "rewind", "thread": thread})
	return err
}

func (p *program) Fork(_ context.Context, thread, into string) error {
	_, err := p.do(map[string]any{"do": "fork", "thread": thread, "into": into})
	return err
}

// Stream stores what comes in each LossWindow. Units do not depend on time, so the program
// waits for none.
func (p *program) Stream(_ context.Context, thread, question string, tokens []string) error {
	_, err := p.do(map[string]any{"do": "stream", "thread": thread, "question": question, "parts": parts(tokens)})
	return err
}

// parts joins the tokens of each LossWindow.
func parts(tokens []string) []string {
	windows := max(1, int(time.Duration(len(tokens))*time.Second/TokensPerSecond/LossWindow))
	out := make([]string, windows)
	for n := range out {
		out[n] = strings.Join(tokens[n*len(tokens)/windows:(n+1)*len(tokens)/windows], "")
	}
	return out
}
