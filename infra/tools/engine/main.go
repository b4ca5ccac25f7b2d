// Command engine runs a command beside DynamoDB Local, for all tests that it starts:
// each package would start an engine of its own, which takes seconds of the
// processor until it is warm. They find it as dynamotest does.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"time"

	dynamodblocal "github.com/rethread/rethread/infra/local/dynamodb-local"
	"github.com/rethread/rethread/infra/test/dynamotest"
)

// grace is how long the command may take to end when it is interrupted.
const grace = 20 * time.Second

var errUsage = errors.New("usage: engine command argument…")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		os.Exit(max(1, ended.ExitCode())) // it has said what is wrong
	case err != nil:
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command []string) error {
	if len(command) == 0 {
		return errUsage
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	engine, err := dynamodblocal.Start(ctx, dynamodblocal.Options{Separate: true, Log: log})
	if err != nil {
		return err
	}
	defer engine.Stop()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), dynamotest.EndpointVariable+"="+engine.Endpoint())
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	return cmd.Run()
}
