package play

import (
	"context"
	"errors"

	"github.com/rethread/rethread/infra/bench/meter"
)

// saver is a program whose library stores in a local system, through HTTP.
type saver struct {
	*program

	system *system
}

// startSaver starts LangGraph with RethreadSaver, and a system for it.
func startSaver(key string, args ...string) func(context.Context, Bench) (Peer, error) {
	return func(ctx context.Context, b Bench) (Peer, error) {
		s, err := startSystem(ctx, b, key)
		if err != nil {
			return nil, err
		}
		env := []string{"RETHREAD_URL=" + s.url, "RETHREAD_TOKEN=" + s.token}
		args := append([]string{"rethread_saver.py"}, args...)
		p, err := startProgram(ctx, b, key, "python", env, interpreter(b, shared), args...)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return saver{p, s}, nil
	}
}

// Usage counts what the system's functions requested.
func (s saver) Usage(ctx context.Context) (meter.Usage, error) { return s.system.Usage(ctx) }

// Close ends the program and its system.
func (s saver) Close() error { return errors.Join(s.program.Close(), s.system.Close()) }
