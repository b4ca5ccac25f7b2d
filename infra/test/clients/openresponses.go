package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rethread/rethread/infra/test/e2e/host"
)

// runOpenResponses runs the compliance suite of a folder of openresponses/openresponses
// with each model, by the bun that is installed in the folder.
func runOpenResponses(ctx context.Context, folder, system string, extra []string) error {
	token, err := host.Token(ctx, system, "open-responses")
	if err != nil {
		return err
	}
	var failures []error
	for _, agent := range []string{"model-chat", "model-responses"} {
		arguments := []string{"run", "bin/compliance-test.ts", "--base-url", system + "/v1", "--api-key", token, "--model", agent}
		cmd := exec.CommandContext(ctx, filepath.Join(folder, "node_modules", ".bin", "bun"), append(arguments, extra...)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = folder, os.Stdout, os.Stderr
		_, err := fmt.Fprintf(os.Stdout, "Agent %s:\n", agent)
		if err := errors.Join(err, cmd.Run()); err != nil {
			failures = append(failures, fmt.Errorf("the suite with agent %s: %w", agent, err))
		}
	}
	return errors.Join(failures...)
}
